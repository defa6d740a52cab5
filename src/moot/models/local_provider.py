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
from moot.models.catalogue import Entry, Quirks
from moot.models.local_model_process import Engine
from moot.models.model_files import Manager, Report, silently
from moot.providers.contract import Chunk, Traits

MOST_THREADS = 8
SIGNS_OF_DEATH = {"disconnected", "unreachable"}
TRAITS = Traits(chaining=False, deadlines=False, prefill=True, small=False)
SMALL_TRAITS = Traits(chaining=False, deadlines=False, prefill=True, small=True)


class Local:
    """All local models, by the name the manager knows them by or by the path of a GGUF file."""

    def __init__(
        self,
        manager: Manager,
        *,
        children: int = 2,
        slots: int = 4,
        threads: int | None = None,
        idle_seconds: float = 600.0,
        progress: Report = silently,
    ) -> None:
        self._manager = manager
        self._children = children
        self._slots = slots
        self._threads = threads or _cores()
        self._idle_seconds = idle_seconds
        self._progress = progress
        self._engines: dict[str, Engine] = {}
        """In the order of their last use, the longest idle first."""
        self._door = asyncio.Lock()
        self._freed = asyncio.Event()
        self._clocks: dict[str, asyncio.TimerHandle] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    @property
    def traits(self) -> Traits:
        """Of the smallest we serve; `traits_of` knows better."""
        return SMALL_TRAITS

    def traits_of(self, model: str) -> Traits:
        entry = self._manager.catalogue.get(model)
        return SMALL_TRAITS if _is_small(entry, self._manager, model) else TRAITS

    def unheard(self, model: Model) -> None:
        pass

    def admit(self, model: Model) -> AbstractAsyncContextManager[object]:
        return nullcontext()

    async def prepare(self, model: Model) -> None:
        async with self._engine(model.name):
            pass

    async def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        async with self._engine(request.model.name) as engine:
            try:
                async with aclosing(engine.chat.stream(request)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except Fault as fault:
                if fault.kind in SIGNS_OF_DEATH and await engine.died():
                    raise Fault("crashed", billed=False, detail=engine.last_words()) from fault
                raise

    async def count(self, name: str, text: str) -> int:
        """How many tokens a text is to this model."""
        async with self._engine(name) as engine:
            return len((await engine.ask("/tokenize", content=text))["tokens"])

    async def close(self) -> None:
        for clock in self._clocks.values():
            clock.cancel()
        self._clocks.clear()
        engines = list(self._engines.values())
        self._engines.clear()
        await asyncio.gather(*(engine.stop() for engine in engines), *self._leaving)

    @asynccontextmanager
    async def _engine(self, name: str) -> AsyncGenerator[Engine]:
        """The engine of a model, kept from leaving for as long as it is used."""
        engine = self._running(name) or await self._started(name)
        engine.busy += 1
        self._stop_clock(name)
        try:
            yield engine
        finally:
            engine.busy -= 1
            if engine.busy == 0:
                self._freed.set()
                self._start_clock(name)

    def _running(self, name: str) -> Engine | None:
        engine = self._engines.pop(name, None)
        if engine is None:
            return None
        if not engine.alive:
            self._dismiss(engine)
            return None
        self._engines[name] = engine
        return engine

    async def _started(self, name: str) -> Engine:
        async with self._door:
            if running := self._running(name):
                return running
            path = await self._fetched(name)
            await self._make_room()
            entry = self._manager.catalogue.get(name)
            quirks = entry.quirks if entry else Quirks()
            engine = await Engine.start(
                path,
                traits=self.traits_of(name),
                tuning=partial(tuned, quirks),
                environ=self._manager.environ,
                slots=self._slots,
                context=quirks.context,
                threads=self._threads,
            )
            self._engines[name] = engine
            return engine

    async def _fetched(self, name: str) -> Path:
        try:
            return self._manager.path(name)
        except Unavailable:
            return await asyncio.to_thread(self._manager.install, name, self._progress)

    async def _make_room(self) -> None:
        while len(self._engines) >= self._children:
            idle = next((name for name, engine in self._engines.items() if not engine.busy), None)
            if idle is not None:
                self._stop_clock(idle)
                await self._engines.pop(idle).stop()
                continue
            self._freed.clear()
            await self._freed.wait()

    def _start_clock(self, name: str) -> None:
        loop = asyncio.get_running_loop()
        self._clocks[name] = loop.call_later(self._idle_seconds, self._retire, name)

    def _stop_clock(self, name: str) -> None:
        if clock := self._clocks.pop(name, None):
            clock.cancel()

    def _retire(self, name: str) -> None:
        self._clocks.pop(name, None)
        engine = self._engines.get(name)
        if engine is not None and not engine.busy:
            self._dismiss(self._engines.pop(name))

    def _dismiss(self, engine: Engine) -> None:
        leaving = asyncio.create_task(engine.stop(), name=f"local model {engine.pid} leaves")
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)


def tuned(quirks: Quirks, request: Request) -> Mapping[str, Any]:
    """Sampling for a speech, or for a reply that must be JSON."""
    return quirks.speech if request.schema is None else quirks.reply


def _is_small(entry: Entry | None, manager: Manager, name: str) -> bool:
    if entry is not None:
        return entry.small
    try:
        return manager.path(name).stat().st_size < SMALL_FILE
    except (Unavailable, OSError):
        return True


SMALL_FILE = 2_000_000_000
"""Three billion parameters at four to five bits each."""


def _cores() -> int:
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux can tell what share of the machine is ours
        cores = os.cpu_count() or 1
    return min(cores, MOST_THREADS)
