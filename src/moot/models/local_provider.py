"""Models on this machine, without a key: each runs in a supervised child process (`local_server.py`).

A child starts with the first call of its model and serves all calls of it. At most a few run at once; an idle
one is stopped to make room, or after a while. If one dies, its calls end with a transient fault, and the next
call starts it again. A model of the catalogue that is missing is downloaded at first use.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from msgspec.structs import replace

from moot.core.errors import Fault, Unavailable
from moot.core.terms import Model, Request
from moot.installation import install_command
from moot.models import openmp
from moot.models.catalogue import ModelTuning
from moot.models.local_server import LocalServerOptions
from moot.models.model_files import ModelFiles, OnInstallProgress, no_progress
from moot.providers import transport
from moot.providers.client import ExtraFields, ProviderClient
from moot.providers.contract import Chunk, Provider, Traits
from moot.providers.wire_formats import load_wire_format

MAX_THREADS = 8
CRASH_FAULTS = {"disconnected", "unreachable"}
TRAITS = Traits(deadlines=False, prefill=True)
SMALLEST_TRAITS = Traits(deadlines=False, prefill=True, small=True, answers="word")
SMALL_FILE_BYTES, WORD_FILE_BYTES = 2_000_000_000, 700_000_000
"""Three billion parameters at four to five bits each, and one billion."""
LISTED_TOKENS = 300
"""How many tokens are listed with their probabilities: enough for the less probable words too."""
LOAD_SECONDS = 300.0
POLL_SECONDS = 0.03
STOP_SECONDS = 2.0
LOG_LINES = 5
SOCKET = "model.sock"
"""llama.cpp takes a host with this ending for a Unix socket."""
MAX_SOCKET_PATH = 100
MISSING_LIBRARY = re.compile(r"(lib[\w.+-]+): cannot open shared object file")
SECRET_SUFFIXES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


EXACT_FIELDS: Mapping[str, Any] = {"cache_prompt": False, "id_slot": 0}
"""What a reply is made from besides the request: nothing that is left of earlier ones."""


class LocalProvider(Provider):
    """All local models, by their name in `ModelFiles` or by the path of a GGUF file."""

    def __init__(
        self,
        model_files: ModelFiles,
        *,
        children: int = 2,
        slots: int = 4,
        threads: int | None = None,
        idle_seconds: float = 600.0,
        progress: OnInstallProgress = no_progress,
    ) -> None:
        self._model_files = model_files
        self._children = children
        self._slots = slots
        self._threads = threads or _thread_count()
        self._idle_seconds = idle_seconds
        self._progress = progress
        self._processes: dict[str, LocalModelProcess] = {}
        """By their last use, the longest idle first."""
        self._start_lock = asyncio.Lock()
        self._freed = asyncio.Event()
        self._idle_timers: dict[str, asyncio.TimerHandle] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    @property
    def traits(self) -> Traits:
        """The traits of the smallest model; `traits_of` has those of each."""
        return SMALLEST_TRAITS

    def traits_of(self, model: str) -> Traits:
        if entry := self._model_files.catalogue.get(model):
            return replace(TRAITS, small=entry.small, answers=entry.answers)
        try:
            size = self._model_files.path(model).stat().st_size
        except (Unavailable, OSError):
            return SMALLEST_TRAITS
        small, tiny = size < SMALL_FILE_BYTES, size < WORD_FILE_BYTES
        return replace(TRAITS, small=small, answers="word" if tiny else "json")

    async def prepare(self, model: Model) -> None:
        async with self._process(model.name):
            pass

    async def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        async with self._process(request.model.name) as process, process.turn(request):
            try:
                async with aclosing(process.chat.stream(request)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except Fault as fault:
                if fault.kind in CRASH_FAULTS and await process.died():
                    raise Fault("crashed", billed=False, detail=process.log_tail()) from fault
                raise

    async def close(self) -> None:
        for timer in self._idle_timers.values():
            timer.cancel()
        self._idle_timers.clear()
        processes = list(self._processes.values())
        self._processes.clear()
        await asyncio.gather(*(process.stop() for process in processes), *self._stopping)

    @asynccontextmanager
    async def _process(self, name: str) -> AsyncGenerator[LocalModelProcess]:
        """The process of a model, which is not stopped while it is in use."""
        process = self._get_running(name) or await self._start_process(name)
        process.busy += 1
        self._stop_idle_timer(name)
        try:
            yield process
        finally:
            process.busy -= 1
            if process.busy == 0:
                self._freed.set()
                self._start_idle_timer(name)

    def _get_running(self, name: str) -> LocalModelProcess | None:
        process = self._processes.pop(name, None)
        if process is None:
            return None
        if not process.alive:
            self._stop_in_background(process)
            return None
        self._processes[name] = process
        return process

    async def _start_process(self, name: str) -> LocalModelProcess:
        async with self._start_lock:
            if running := self._get_running(name):
                return running
            path = await self._ensure_file(name)
            await asyncio.to_thread(openmp.install, self._model_files)
            await self._wait_for_capacity()
            entry = self._model_files.catalogue.get(name)
            tuning = entry.tuning if entry else ModelTuning()
            process = await LocalModelProcess.start(
                path,
                traits=self.traits_of(name),
                tuning=partial(sampling_fields, tuning),
                environ={**self._model_files.environ, **openmp.search_path(self._model_files)},
                slots=self._slots,
                context=tuning.context,
                threads=self._threads,
            )
            self._processes[name] = process
            return process

    async def _ensure_file(self, name: str) -> Path:
        try:
            return self._model_files.path(name)
        except Unavailable:
            return await asyncio.to_thread(self._model_files.install, name, self._progress)

    async def _wait_for_capacity(self) -> None:
        while len(self._processes) >= self._children:
            idle = next((name for name, process in self._processes.items() if not process.busy), None)
            if idle is not None:
                self._stop_idle_timer(idle)
                await self._processes.pop(idle).stop()
                continue
            self._freed.clear()
            await self._freed.wait()

    def _start_idle_timer(self, name: str) -> None:
        loop = asyncio.get_running_loop()
        self._idle_timers[name] = loop.call_later(self._idle_seconds, self._stop_idle, name)

    def _stop_idle_timer(self, name: str) -> None:
        if timer := self._idle_timers.pop(name, None):
            timer.cancel()

    def _stop_idle(self, name: str) -> None:
        self._idle_timers.pop(name, None)
        process = self._processes.get(name)
        if process is not None and not process.busy:
            self._stop_in_background(self._processes.pop(name))

    def _stop_in_background(self, process: LocalModelProcess) -> None:
        task = asyncio.create_task(process.stop(), name=f"stop local model {process.pid}")
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)


def sampling_fields(tuning: ModelTuning, request: Request) -> Mapping[str, Any]:
    """Sampling for a speech, for a reply that must be JSON, or for one of a few words."""
    if request.words:
        fields = _word_fields(request.words)
    else:
        fields = tuning.speech if request.schema is None else tuning.reply
    return fields if request.seed is None else {**fields, **EXACT_FIELDS}


def _word_fields(words: Sequence[str]) -> Mapping[str, Any]:
    """The most probable of the words, then at most one sentence. The probabilities are those that the model
    gave before the grammar left out everything else."""
    choices = " | ".join(msgspec.json.encode(word).decode() for word in words)
    grammar = f'root ::= ({choices}) " " [^.!?\\n]* [.!?]'  # the blank, or words run together
    return {"grammar": grammar, "temperature": 0, "logprobs": True, "top_logprobs": LISTED_TOKENS}


def _thread_count() -> int:
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux says how many cores this process may use
        cores = os.cpu_count() or 1
    return min(cores, MAX_THREADS)


# --- one process --------------------------------------------------------------------------------------


class LocalModelProcess:
    """One model at work: started by `start`, called through `chat`; `busy` counts its calls."""

    def __init__(self, process: Process, folder: Path, traits: Traits, tuning: ExtraFields) -> None:
        socket = str(folder / SOCKET)
        self.busy = 0
        self._alone = asyncio.Lock()
        self.chat = ProviderClient(
            load_wire_format("openai_chat"), socket=socket, traits=traits, tuning=tuning, disarm=True
        )
        self._process = process
        self._folder = folder
        self._session = transport.open_session(socket=socket)

    def turn(self, request: Request) -> AbstractAsyncContextManager[Any]:
        """Calls with a seed are made one by one: in a batch with others the last digits differ, and so may
        the words."""
        return nullcontext() if request.seed is None else self._alone

    @classmethod
    async def start(
        cls,
        model: Path,
        *,
        traits: Traits,
        tuning: ExtraFields,
        environ: Mapping[str, str],
        slots: int,
        context: int,
        threads: int,
    ) -> LocalModelProcess:
        check_local_models()
        folder = _make_folder()
        options = LocalServerOptions(
            model=str(model),
            socket=str(folder / SOCKET),
            parent=os.getpid(),
            slots=slots,
            context=context,
            threads=threads,
        )
        # -P: modules in the current folder must not be imported.
        command = (sys.executable, "-P", "-m", "moot.models.local_server", msgspec.json.encode(options))
        with (folder / "log").open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=log,
                env={
                    name: value
                    for name, value in environ.items()
                    if not name.upper().endswith(SECRET_SUFFIXES)
                },
                start_new_session=True,  # Ctrl-C reaches only us; we then stop the child
            )
        started = cls(process, folder, traits, tuning)
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                await started._wait_until_ready(model)
        except BaseException as error:
            await started.stop()
            if isinstance(error, TimeoutError):
                raise Unavailable(f"The model {model.name} did not load in {LOAD_SECONDS:.0f} s.") from error
            raise
        return started

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    async def died(self) -> bool:
        """Whether it has exited, or exits in a moment: the connection breaks just before the exit is seen."""
        try:
            await asyncio.wait_for(self._process.wait(), 0.5)
        except TimeoutError:
            return False
        return True

    def log_tail(self) -> str:
        try:
            lines = (self._folder / "log").read_text(errors="replace").strip().splitlines()
        except OSError:
            return ""
        return "\n".join(lines[-LOG_LINES:])

    async def stop(self) -> None:
        await self.chat.close()
        await self._session.close()
        assert self._process.stdin is not None  # noqa: S101 - it was started with a pipe
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _wait_until_ready(self, model: Path) -> None:
        while not await self._healthy():
            if not self.alive:
                raise load_error(model.name, self.log_tail())
            await asyncio.sleep(POLL_SECONDS)

    async def _healthy(self) -> bool:
        try:
            async with self._session.get("http://localhost/health") as response:
                return response.status == 200
        except (aiohttp.ClientError, OSError):
            return False


def load_error(model: str, log: str) -> Unavailable:
    """Why the process of a model ended before it could answer, by the last lines of its log."""
    if missing := MISSING_LIBRARY.search(log):
        return Unavailable(
            f"The local engine cannot start: this machine has no {missing[1]}.",
            fix=openmp.FIX if missing[1] == openmp.LIBRARY else f"Install the package that has {missing[1]}.",
        )
    return Unavailable(
        f"The model {model} cannot be loaded: {log or 'no reason given'}",
        fix="Check that the file is a GGUF model, whole, and that there is memory for it.",
    )


def check_local_models() -> None:
    """Raises Unavailable, with the remedy, if local models cannot run here."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise Unavailable("Local models need xllamacpp.", fix=install_command("local"))
    if sys.platform == "win32":
        raise Unavailable(
            "Local models do not run on Windows yet.", fix="Use Ollama or LM Studio, or run Moot inside WSL."
        )


def _make_folder() -> Path:
    """A private folder, mode 0700, with a short path: that of a socket is limited."""
    folder = Path(tempfile.mkdtemp(prefix="moot-"))
    if len(str(folder / SOCKET)) < MAX_SOCKET_PATH:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="moot-", dir="/tmp"))
