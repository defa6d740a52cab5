"""Thousands of viewers in one process of their own: each reads server-sent events, or a WebSocket."""

from __future__ import annotations

import asyncio
import re
from array import array
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from itertools import cycle
from multiprocessing.connection import Connection
from time import monotonic
from typing import cast

import uvloop
from msgspec import Struct

from tests.bench.child_process import ChildProcess, allow_many_open_files, child_process

CONNECTING_AT_ONCE = 200
CHUNK = re.compile(rb'"chunk":"([0-9. ]+)"')
"""Due times and nothing else. The text of a round is sent again at its end, and that is not late."""


class ViewerGroup(Struct, frozen=True):
    """One viewer for each path, spread over the ports; `cursor` is the last event that each has seen."""

    ports: Sequence[int]
    paths: Sequence[str]
    cursor: str = ""
    websocket: bool = False


class ViewerReport(Struct, frozen=True):
    """What the viewers of a group received. Lags are in ms, waits in seconds, each as median and p99."""

    viewers: int
    events: int
    """Of each viewer, on average."""
    body: int
    """The most bytes that one of them received."""
    lag: tuple[float, float]
    """Of every word at every viewer."""
    first_lag: tuple[float, float]
    """Of the first word at every viewer."""
    wait: tuple[float, float]
    """From the connection to the last byte."""
    ended: float
    equal: bool
    """Whether all viewers of a stream received the same number of events."""


class Viewers:
    def __init__(self, process: ChildProcess) -> None:
        self._process = process

    async def connect(self, group: ViewerGroup) -> None:
        """Returns once every viewer has the head of its reply."""
        await self._process.command(group)

    async def wait_for_end(self) -> ViewerReport:
        """Returns once every viewer has received the end of its stream."""
        report: ViewerReport = await self._process.receive()
        if not report.equal:
            raise RuntimeError("Viewers of the same stream received different numbers of events.")
        return report


@asynccontextmanager
async def viewer_process() -> AsyncGenerator[Viewers]:
    async with child_process(_run) as process:
        yield Viewers(process)


def _run(pipe: Connection) -> None:
    allow_many_open_files()
    pipe.send(True)
    while (group := pipe.recv()) is not None:
        uvloop.run(_watch(pipe, group))


async def _watch(pipe: Connection, group: ViewerGroup) -> None:
    lags, first_lags = array("d"), array("d")
    kind = SocketViewer if group.websocket else SseViewer
    viewers = [kind(path, group.cursor, lags, first_lags) for path in group.paths]
    connecting = asyncio.Semaphore(CONNECTING_AT_ONCE)
    await asyncio.gather(
        *(viewer.connect(port, connecting) for viewer, port in zip(viewers, cycle(group.ports), strict=False))
    )
    pipe.send(True)
    await asyncio.gather(*(viewer.ended for viewer in viewers))
    pipe.send(_report(viewers, lags, first_lags))


def _report(viewers: Sequence[SseViewer], lags: array[float], first_lags: array[float]) -> ViewerReport:
    counts: dict[str, set[int]] = {}
    for viewer in viewers:
        counts.setdefault(viewer.path, set()).add(viewer.events)
    return ViewerReport(
        viewers=len(viewers),
        events=sum(viewer.events for viewer in viewers) // len(viewers),
        body=max(viewer.body for viewer in viewers),
        lag=_median_and_p99([lag * 1000 for lag in lags]),
        first_lag=_median_and_p99([lag * 1000 for lag in first_lags]),
        wait=_median_and_p99([viewer.ended.result() - viewer.began for viewer in viewers]),
        ended=max(viewer.ended.result() for viewer in viewers),
        equal=all(len(events) == 1 for events in counts.values()),
    )


def _median_and_p99(numbers: list[float]) -> tuple[float, float]:
    if not numbers:
        return 0.0, 0.0
    numbers.sort()
    return numbers[len(numbers) // 2], numbers[len(numbers) * 99 // 100]


class SseViewer(asyncio.Protocol):
    def __init__(self, path: str, cursor: str, lags: array[float], first_lags: array[float]) -> None:
        self.path = path
        self.events = 0
        self.body = 0
        self.began = 0.0
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[float] = loop.create_future()
        self._replied: asyncio.Future[None] = loop.create_future()
        self._cursor = cursor
        self._lags = lags
        self._first_lags = first_lags
        self._has_word = False
        self._transport: asyncio.Transport | None = None

    async def connect(self, port: int, connecting: asyncio.Semaphore) -> None:
        async with connecting:
            self.began = monotonic()
            await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", port)
            await self._replied

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)
        transport.write(f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{self._headers()}\r\n".encode())

    def _headers(self) -> str:
        return f"Last-Event-ID: {self._cursor}\r\n" if self._cursor else ""

    def data_received(self, data: bytes) -> None:
        now = monotonic()
        if not self._replied.done():
            assert data.startswith(b"HTTP/1.1 200 "), data
            self._replied.set_result(None)
        self.body += len(data)
        events, due_times, is_last = _parsed(data)
        self.events += events
        if due_times and not self._has_word:
            self._has_word = True
            self._first_lags.append(now - due_times[0])
        for due in due_times:
            self._lags.append(now - due)
        if is_last:
            self._end(now)

    def _end(self, now: float) -> None:
        if not self.ended.done():
            self.ended.set_result(now)
        if self._transport is not None:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        for future in (self._replied, self.ended):
            if not future.done():
                future.set_exception(exc or ConnectionResetError("The server closed the connection."))


@lru_cache(maxsize=64)
def _parsed(data: bytes) -> tuple[int, tuple[float, ...], bool]:
    """How many events, when their words were due, and whether the stream ends. Most viewers get the same."""
    due_times = tuple(float(word) for chunk in CHUNK.findall(data) for word in chunk.split())
    return data.count(b"\nid: "), due_times, data.endswith(b"0\r\n\r\n")


class SocketViewer(SseViewer):
    """Counts text frames until the debate is over: the page's socket stays open then, since a debate may be
    judged again. Lags are not measured."""

    TEXT = 1
    LAST_CHANGE = b'["put",["now","status"],"completed"]'

    def __init__(self, path: str, cursor: str, lags: array[float], first_lags: array[float]) -> None:
        super().__init__(path, cursor, lags, first_lags)
        self._unparsed = b""

    def _headers(self) -> str:
        return (
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        )

    def data_received(self, data: bytes) -> None:
        self.body += len(data)
        self._unparsed += data
        if not self._replied.done():
            head, separator, frames = self._unparsed.partition(b"\r\n\r\n")
            if not separator:
                return
            assert head.startswith(b"HTTP/1.1 101 "), head
            self._unparsed = frames
            self._replied.set_result(None)
        while (frame := self._next_frame()) is not None:
            opcode, payload = frame
            self.events += opcode == self.TEXT
            if self.LAST_CHANGE in payload:
                self._end(monotonic())

    def _next_frame(self) -> tuple[int, bytes] | None:
        """Opcode and payload of the next complete frame, which is consumed. A server does not mask frames."""
        data = self._unparsed
        if len(data) < 2:
            return None
        length, start = data[1] & 0x7F, 2
        if length >= 126:
            start = 4 if length == 126 else 10
            length = int.from_bytes(data[2:start], "big")
        if len(data) < start + length:
            return None
        self._unparsed = data[start + length :]
        return data[0] & 0x0F, data[start : start + length]
