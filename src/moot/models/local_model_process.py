"""One local model at work: the child process, its private folder, and the ways it starts and ends."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from moot.core.errors import Unavailable
from moot.models.local_server import LocalServerOptions
from moot.providers import transport
from moot.providers.client import ExtraFields, ProviderClient
from moot.providers.contract import Traits
from moot.providers.families import load_family

LOAD_SECONDS = 300.0
POLL_SECONDS = 0.03
STOP_SECONDS = 2.0
LOG_LINES = 5
SOCKET = "model.sock"
"""llama.cpp takes a host for a Unix socket by its ending."""
MAX_SOCKET_PATH = 100
SECRET_SUFFIXES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


class LocalModelProcess:
    """Started by `start`, used through `chat`; `busy` counts the requests under way."""

    def __init__(self, process: Process, folder: Path, traits: Traits, tuning: ExtraFields) -> None:
        socket = str(folder / SOCKET)
        self.busy = 0
        self.chat = ProviderClient(
            load_family("openai_chat"), socket=socket, traits=traits, tuning=tuning, disarm=True
        )
        self._process = process
        self._folder = folder
        self._session = transport.open_session(socket=socket)

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
        # -P: a folder that happens to be the current one must not lend us its modules.
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
                start_new_session=True,  # Ctrl-C is for us; we then end the child
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
        """Whether it is gone, or goes within a moment: the connection breaks just before the exit is seen."""
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

    async def post(self, path: str, **body: Any) -> Any:
        """One of the server's own endpoints, beside chat."""
        async with self._session.post(f"http://localhost{path}", json=body) as response:
            return msgspec.json.decode(await response.read())

    async def stop(self) -> None:
        await self.chat.close()
        await self._session.close()
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
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
                raise Unavailable(
                    f"The model {model.name} cannot be loaded: {self.log_tail() or 'no reason given'}",
                    fix="Check that the file is a GGUF model, whole, and that there is memory for it.",
                )
            await asyncio.sleep(POLL_SECONDS)

    async def _healthy(self) -> bool:
        try:
            async with self._session.get("http://localhost/health") as response:
                return response.status == 200
        except (aiohttp.ClientError, OSError):
            return False


def check_local_models() -> None:
    """Raises Unavailable, with what to do, where no local model can run."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise Unavailable("Local models need xllamacpp.", fix='pip install "moot[local]"')
    if sys.platform == "win32":
        raise Unavailable(
            "Local models do not run on Windows yet.", fix="Use Ollama or LM Studio, or run Moot inside WSL."
        )


def _make_folder() -> Path:
    """A folder of our own, mode 0700; a socket's path must be short."""
    folder = Path(tempfile.mkdtemp(prefix="moot-"))
    if len(str(folder / SOCKET)) < MAX_SOCKET_PATH:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="moot-", dir="/tmp"))
