"""Models on this machine, with no key and no server to start: each runs in a supervised child process.

A child starts when its model is first asked and serves everyone who asks for that model. At most a few run at
once; one that nobody needs is stopped to make room, or after a while by itself. One that dies breaks off its
requests with a passing fault, and the next request starts it anew. A model of the catalogue that is missing
is fetched at first use.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from moot.core.errors import Fault, Unavailable
from moot.core.terms import Model, Request
from moot.models.catalogue import CatalogueEntry, ModelTuning
from moot.models.local_model_process import LocalModelProcess
from moot.models.model_files import ModelFiles, OnInstallProgress, no_progress
from moot.providers.contract import Chunk, Traits

MAX_THREADS = 8
CRASH_FAULTS = {"disconnected", "unreachable"}
TRAITS = Traits(chaining=False, deadlines=False, prefill=True, small=False)
SMALL_TRAITS = Traits(chaining=False, deadlines=False, prefill=True, small=True)


class LocalProvider:
    """All local models, by the name the manager knows them by or by the path of a GGUF file."""

    def __init__(
        self,
        manager: ModelFiles,
        *,
        children: int = 2,
        slots: int = 4,
        threads: int | None = None,
        idle_seconds: float = 600.0,
        progress: OnInstallProgress = no_progress,
    ) -> None:
        self._manager = manager
        self._children = children
        self._slots = slots
        self._threads = threads or _thread_count()
        self._idle_seconds = idle_seconds
        self._progress = progress
        self._processes: dict[str, LocalModelProcess] = {}
        """In the order of their last use, the longest idle first."""
        self._start_lock = asyncio.Lock()
        self._freed = asyncio.Event()
        self._idle_timers: dict[str, asyncio.TimerHandle] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    @property
    def traits(self) -> Traits:
        """Of the smallest we serve; `traits_of` knows better."""
        return SMALL_TRAITS

    def traits_of(self, model: str) -> Traits:
        entry = self._manager.catalogue.get(model)
        return SMALL_TRAITS if _is_small(entry, self._manager, model) else TRAITS

    def report_timeout(self, model: Model) -> None:
        pass

    def admit(self, model: Model) -> AbstractAsyncContextManager[object]:
        return nullcontext()

    async def prepare(self, model: Model) -> None:
        async with self._process(model.name):
            pass

    async def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        async with self._process(request.model.name) as process:
            try:
                async with aclosing(process.chat.stream(request)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except Fault as fault:
                if fault.kind in CRASH_FAULTS and await process.died():
                    raise Fault("crashed", billed=False, detail=process.log_tail()) from fault
                raise

    async def count_tokens(self, name: str, text: str) -> int:
        """How many tokens a text is to this model."""
        async with self._process(name) as process:
            return len((await process.post("/tokenize", content=text))["tokens"])

    async def close(self) -> None:
        for timer in self._idle_timers.values():
            timer.cancel()
        self._idle_timers.clear()
        processes = list(self._processes.values())
        self._processes.clear()
        await asyncio.gather(*(engine.stop() for engine in processes), *self._stopping)

    @asynccontextmanager
    async def _process(self, name: str) -> AsyncGenerator[LocalModelProcess]:
        """The engine of a model, kept from leaving for as long as it is used."""
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
            await self._wait_for_capacity()
            entry = self._manager.catalogue.get(name)
            quirks = entry.quirks if entry else ModelTuning()
            process = await LocalModelProcess.start(
                path,
                traits=self.traits_of(name),
                tuning=partial(sampling_fields, quirks),
                environ=self._manager.environ,
                slots=self._slots,
                context=quirks.context,
                threads=self._threads,
            )
            self._processes[name] = process
            return process

    async def _ensure_file(self, name: str) -> Path:
        try:
            return self._manager.path(name)
        except Unavailable:
            return await asyncio.to_thread(self._manager.install, name, self._progress)

    async def _wait_for_capacity(self) -> None:
        while len(self._processes) >= self._children:
            idle = next((name for name, engine in self._processes.items() if not engine.busy), None)
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
        task = asyncio.create_task(process.stop(), name=f"local model {process.pid} leaves")
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)


def sampling_fields(quirks: ModelTuning, request: Request) -> Mapping[str, Any]:
    """Sampling for a speech, or for a reply that must be JSON."""
    return quirks.speech if request.schema is None else quirks.reply


def _is_small(entry: CatalogueEntry | None, manager: ModelFiles, name: str) -> bool:
    if entry is not None:
        return entry.small
    try:
        return manager.path(name).stat().st_size < SMALL_FILE
    except (Unavailable, OSError):
        return True


SMALL_FILE = 2_000_000_000
"""Three billion parameters at four to five bits each."""


def _thread_count() -> int:
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux can tell what share of the machine is ours
        cores = os.cpu_count() or 1
    return min(cores, MAX_THREADS)
