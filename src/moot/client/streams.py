"""Streams that reconnect: one sequence of events over any number of connections.

Each connection continues after the id of the last complete event, and events seen before are skipped, so
nothing is lost or repeated. A server that has answered once may be unreachable for a while, as during a
restart; one that never answered, or refuses, is an error at once.
"""

from __future__ import annotations

import random
from asyncio import sleep
from collections.abc import AsyncGenerator, Mapping
from math import inf
from time import monotonic

import aiohttp
from msgspec import Struct

from moot.client.client_errors import ApiError, Unreadable
from moot.client.connection import NO_CONTENT, ServerConnection
from moot.core.sse_reader import SseEvent, SseReader

RETRY_SECONDS = 1.0
MAX_WAIT = 15.0


class StreamTimeouts(Struct, frozen=True):
    """In seconds: how long an open stream may be silent, and how long the server may be unreachable."""

    silence: float = 60.0
    absence: float = 120.0


class StreamFollower:
    def __init__(
        self,
        connection: ServerConnection,
        path: str,
        query: Mapping[str, str | int],
        after: str | int,
        timeouts: StreamTimeouts,
    ) -> None:
        self._connection = connection
        self._path = path
        self._query = query
        self._last = str(after) if after else ""
        self._timeouts = timeouts
        self._retry = RETRY_SECONDS
        self._was_connected = False
        self._failures = 0
        self._lost_since: float | None = None

    async def messages(self) -> AsyncGenerator[SseEvent]:
        """Events until the server says that there are no more. Raises ApiError or Unreachable."""
        while True:
            retry_after, answered = 0.0, False
            try:
                async with self._connection.open_stream(
                    self._path, self._query, self._last, self._timeouts.silence
                ) as response:
                    self._was_connected = answered = True
                    self._connection.disconnected = False
                    if response.status == NO_CONTENT:
                        return
                    async for message in self._read_messages(response):
                        yield message
            except ApiError as error:
                if not error.transient or self._is_overdue():
                    raise
                retry_after = error.retry_after or 0.0
            except (aiohttp.ClientError, TimeoutError) as error:
                if not self._was_connected or self._is_overdue():
                    raise self._connection.unreachable(error) from error
            self._connection.disconnected = not answered
            await self._wait(retry_after)

    async def _read_messages(self, response: aiohttp.ClientResponse) -> AsyncGenerator[SseEvent]:
        if response.content_type != "text/event-stream":
            raise Unreadable  # a page of a proxy: a reconnection would get it again
        reader = SseReader()
        async for packet in response.content.iter_any():
            self._lost_since = None
            for message in reader.feed(packet):
                if message.id and cursor_position(message.id) <= cursor_position(self._last):
                    continue
                self._last = message.id or self._last
                self._failures = 0
                yield message
            self._retry = reader.retry or self._retry

    def _is_overdue(self) -> bool:
        now = monotonic()
        if self._lost_since is None:
            self._lost_since = now
        return now - self._lost_since > self._timeouts.absence

    async def _wait(self, retry_after: float) -> None:
        """Longer after each failure, and at random, so that viewers do not all reconnect at once."""
        pause = min(self._retry * 2**self._failures, max(MAX_WAIT, self._retry))
        self._failures = min(self._failures + 1, 10)
        await sleep(max(retry_after, pause) * random.uniform(1.0, 1.25))


def cursor_position(id: str) -> tuple[float, float]:
    """The order of ids: `7.1` and `7.2` come before `7`, the last frame of its event."""
    seq, _, part = id.partition(".")
    if not seq.isdigit():
        return (0, 0)
    return (int(seq), int(part) if part.isdigit() else inf)
