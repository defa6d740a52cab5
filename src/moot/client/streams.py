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
from moot.client.connection import NO_CONTENT, Line
from moot.client.sse_reader import Message, Reader

RETRY_SECONDS = 1.0
LONGEST_WAIT = 15.0


class Patience(Struct, frozen=True):
    """In seconds: how long a server may be silent on an open stream, and how long it may be away."""

    silence: float = 60.0
    absence: float = 120.0


class Follower:
    def __init__(
        self, line: Line, path: str, query: Mapping[str, str | int], after: str | int, patience: Patience
    ) -> None:
        self._line = line
        self._path = path
        self._query = query
        self._last = str(after) if after else ""
        self._patience = patience
        self._retry = RETRY_SECONDS
        self._met = False
        self._fruitless = 0
        self._away_since: float | None = None

    async def messages(self) -> AsyncGenerator[Message]:
        """Up to the end, where the server says that there is one. Raises ApiError, or Unreachable."""
        while True:
            asked_to_wait, answered = 0.0, False
            try:
                async with self._line.listen(
                    self._path, self._query, self._last, self._patience.silence
                ) as response:
                    self._met = answered = True
                    self._line.away = False
                    if response.status == NO_CONTENT:
                        return
                    async for message in self._heard(response):
                        yield message
            except ApiError as error:
                if not error.passing or self._lost_patience():
                    raise
                asked_to_wait = error.retry_after or 0.0
            except (aiohttp.ClientError, TimeoutError) as error:
                if not self._met or self._lost_patience():
                    raise self._line.gone(error) from error
            self._line.away = not answered
            await self._wait(asked_to_wait)

    async def _heard(self, response: aiohttp.ClientResponse) -> AsyncGenerator[Message]:
        if response.content_type != "text/event-stream":
            raise Unreadable  # a page of something in between, which would come again and again
        reader = Reader()
        async for packet in response.content.iter_any():
            self._away_since = None
            for message in reader.feed(packet):
                if message.id and place(message.id) <= place(self._last):
                    continue
                self._last = message.id or self._last
                self._fruitless = 0
                yield message
            self._retry = reader.retry or self._retry

    def _lost_patience(self) -> bool:
        now = monotonic()
        if self._away_since is None:
            self._away_since = now
        return now - self._away_since > self._patience.absence

    async def _wait(self, asked_to_wait: float) -> None:
        """A little longer each time, and not all viewers at the same moment."""
        own = min(self._retry * 2**self._fruitless, max(LONGEST_WAIT, self._retry))
        self._fruitless = min(self._fruitless + 1, 10)
        await sleep(max(asked_to_wait, own) * random.uniform(1.0, 1.25))


def place(id: str) -> tuple[float, float]:
    """`7.1` and `7.2` come before `7`, which is the last of its event."""
    seq, _, part = id.partition(".")
    if not seq.isdigit():
        return (0, 0)
    return (int(seq), int(part) if part.isdigit() else inf)
