"""Streams that come back: one list of events over as many connections as it takes.

Each connection goes on from the id of the last whole event, so nothing is lost, and what was already seen is
passed over, so nothing is repeated. A server that was there once may be away for a while, as when it is
restarted; one that never was there, or says no, is an error at once.
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
from moot.core.sse import SseEvent, SseReader

RETRY_SECONDS = 1.0
MAX_WAIT = 15.0


class StreamTimeouts(Struct, frozen=True):
    """In seconds: how long a server may be silent on an open stream, and how long it may be away."""

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
        self._met = False
        self._fruitless = 0
        self._away_since: float | None = None

    async def messages(self) -> AsyncGenerator[SseEvent]:
        """Up to the end, where the server says that there is one. Raises ApiError, or Unreachable."""
        while True:
            asked_to_wait, answered = 0.0, False
            try:
                async with self._connection.open_stream(
                    self._path, self._query, self._last, self._timeouts.silence
                ) as response:
                    self._met = answered = True
                    self._connection.disconnected = False
                    if response.status == NO_CONTENT:
                        return
                    async for message in self._read_messages(response):
                        yield message
            except ApiError as error:
                if not error.transient or self._is_overdue():
                    raise
                asked_to_wait = error.retry_after or 0.0
            except (aiohttp.ClientError, TimeoutError) as error:
                if not self._met or self._is_overdue():
                    raise self._connection.unreachable(error) from error
            self._connection.disconnected = not answered
            await self._wait(asked_to_wait)

    async def _read_messages(self, response: aiohttp.ClientResponse) -> AsyncGenerator[SseEvent]:
        if response.content_type != "text/event-stream":
            raise Unreadable  # a page of something in between, which would come again and again
        reader = SseReader()
        async for packet in response.content.iter_any():
            self._away_since = None
            for message in reader.feed(packet):
                if message.id and cursor_position(message.id) <= cursor_position(self._last):
                    continue
                self._last = message.id or self._last
                self._fruitless = 0
                yield message
            self._retry = reader.retry or self._retry

    def _is_overdue(self) -> bool:
        now = monotonic()
        if self._away_since is None:
            self._away_since = now
        return now - self._away_since > self._timeouts.absence

    async def _wait(self, asked_to_wait: float) -> None:
        """A little longer each time, and not all viewers at the same moment."""
        own = min(self._retry * 2**self._fruitless, max(MAX_WAIT, self._retry))
        self._fruitless = min(self._fruitless + 1, 10)
        await sleep(max(asked_to_wait, own) * random.uniform(1.0, 1.25))


def cursor_position(id: str) -> tuple[float, float]:
    """`7.1` and `7.2` come before `7`, which is the last of its event."""
    seq, _, part = id.partition(".")
    if not seq.isdigit():
        return (0, 0)
    return (int(seq), int(part) if part.isdigit() else inf)
