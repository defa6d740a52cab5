"""A crowd of viewers in a process of its own, each a socket that reads a stream of server-sent events."""

from __future__ import annotations

import asyncio
import multiprocessing
import re
from array import array
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from itertools import cycle
from multiprocessing.connection import Connection
from time import monotonic
from typing import cast

import uvloop
from msgspec import Struct

from tests.bench.servers import widen

AT_ONCE = 200
CHUNK = re.compile(rb'"chunk":"([0-9. ]+)"')
"""Of stamps and nothing else. A round's text is told again at its end, and that is not late."""


class Visit(Struct, frozen=True):
    """Where a crowd goes, spread over the ports; `cursor` is what each has seen already."""

    ports: Sequence[int]
    paths: Sequence[str]
    cursor: str = ""


class Heard(Struct, frozen=True):
    """What came of it. Lags are in ms, of every word at every viewer; waits in seconds, to the end."""

    viewers: int
    events: int
    """Of each viewer, on average."""
    words: int
    body: int
    lag: tuple[float, float]
    wait: tuple[float, float]
    ended: float
    alike: bool
    """Whether all viewers of a stream were told equally much."""


class Crowd:
    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    async def gather(self, visit: Visit) -> None:
        """Until everyone has a seat: the head of a reply."""
        self._pipe.send(visit)
        await asyncio.to_thread(self._pipe.recv)

    async def hear(self) -> Heard:
        """Until everyone has heard the end."""
        return await asyncio.to_thread(self._pipe.recv)


@asynccontextmanager
async def crowd() -> AsyncGenerator[Crowd]:
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_run, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    try:
        yield Crowd(ours)
    finally:
        with suppress(OSError):
            ours.send(None)
        await asyncio.to_thread(process.join)


def _run(pipe: Connection) -> None:
    widen()
    while (visit := pipe.recv()) is not None:
        uvloop.run(_visit(pipe, visit))


async def _visit(pipe: Connection, visit: Visit) -> None:
    lags = array("d")
    viewers = [Viewer(path, visit.cursor, lags) for path in visit.paths]
    doors = asyncio.Semaphore(AT_ONCE)
    await asyncio.gather(
        *(viewer.enter(port, doors) for viewer, port in zip(viewers, cycle(visit.ports), strict=False))
    )
    pipe.send(True)
    await asyncio.gather(*(viewer.over for viewer in viewers))
    pipe.send(_heard(viewers, lags))


def _heard(viewers: list[Viewer], lags: array[float]) -> Heard:
    told: dict[str, set[int]] = {}
    for viewer in viewers:
        told.setdefault(viewer.path, set()).add(viewer.events)
    return Heard(
        viewers=len(viewers),
        events=sum(viewer.events for viewer in viewers) // len(viewers),
        words=len(lags) // len(viewers),
        body=max(viewer.body for viewer in viewers),
        lag=_quantiles([lag * 1000 for lag in lags]),
        wait=_quantiles([viewer.over.result() - viewer.began for viewer in viewers]),
        ended=max(viewer.over.result() for viewer in viewers),
        alike=all(len(events) == 1 for events in told.values()),
    )


def _quantiles(figures: list[float]) -> tuple[float, float]:
    """The median and the 99th of a hundred."""
    if not figures:
        return 0.0, 0.0
    figures.sort()
    return figures[len(figures) // 2], figures[len(figures) * 99 // 100]


class Viewer(asyncio.Protocol):
    def __init__(self, path: str, cursor: str, lags: array[float]) -> None:
        self.path = path
        self.events = 0
        self.body = 0
        self.began = 0.0
        loop = asyncio.get_running_loop()
        self.over: asyncio.Future[float] = loop.create_future()
        self._seated: asyncio.Future[None] = loop.create_future()
        self._cursor = cursor
        self._lags = lags
        self._transport: asyncio.Transport | None = None

    async def enter(self, port: int, doors: asyncio.Semaphore) -> None:
        async with doors:
            self.began = monotonic()
            await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", port)
            await self._seated

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)
        seen = f"Last-Event-ID: {self._cursor}\r\n" if self._cursor else ""
        transport.write(f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{seen}\r\n".encode())

    def data_received(self, data: bytes) -> None:
        now = monotonic()
        if not self._seated.done():
            assert data.startswith(b"HTTP/1.1 200 "), data
            self._seated.set_result(None)
        self.body += len(data)
        events, stamps, last = _parsed(data)
        self.events += events
        for stamp in stamps:
            self._lags.append(now - stamp)
        if last and not self.over.done():
            self.over.set_result(now)
            if self._transport is not None:
                self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        for awaited in (self._seated, self.over):
            if not awaited.done():
                awaited.set_exception(exc or ConnectionResetError("cut off"))


@lru_cache(maxsize=64)
def _parsed(data: bytes) -> tuple[int, tuple[float, ...], bool]:
    """How many events, when their words were spoken, whether it is the end. Most viewers get the same."""
    stamps = tuple(float(stamp) for chunk in CHUNK.findall(data) for stamp in chunk.split())
    return data.count(b"\nid: "), stamps, data.endswith(b"0\r\n\r\n")
