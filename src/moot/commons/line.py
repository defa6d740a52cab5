"""The line to Redis, for those who can do without.

Whoever asks gets an answer soon or hears that it is away. Then it is left alone for a moment, and one tries
again for all. The log is told when it goes and when it is back, and nothing in between.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

TICKS, TICK_SECONDS = 5, 0.1
PAUSE = 1.0
MOST_LINES = 32

log = logging.getLogger(__name__)


class Away(Exception):
    """Redis does not answer."""


class Line:
    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        # Nothing is tried twice: what was counted, and only the answer lost, would be counted again.
        self._redis: Any = Redis.from_url(  # pyright: ignore[reportUnknownMemberType] - half typed
            url, socket_timeout=None, socket_connect_timeout=None, retry=Retry(NoBackoff(), 0)
        )
        self._clock = clock
        self._free = asyncio.Semaphore(MOST_LINES)
        self._again_at = float("-inf")
        self._closed = False
        self.trouble = ""

    async def do(self, *words: str | bytes | int) -> Any:
        """One command. Raises Away."""
        return await self._ask(lambda: self._redis.execute_command(*words))

    def script(self, text: str) -> Script:
        registered = self._redis.register_script(text)

        async def run(keys: Sequence[str], *given: str | bytes | int) -> Any:
            return await self._ask(lambda: registered(keys, given))

        return run

    async def close(self) -> None:
        self._closed = True
        with suppress(Exception):
            await _in_time(self._redis.aclose())

    async def _ask(self, question: Callable[[], Awaitable[Any]]) -> Any:
        async with self._free:
            now = self._clock()
            if self._closed or (self.trouble and now < self._again_at):
                raise Away
            # Meanwhile nobody else tries, if it was away.
            self._again_at = now + PAUSE
            try:
                answer = await _in_time(question())
            except Exception as error:
                # Of a broken line some loops tell by a RuntimeError, and the client by more than its own.
                self._is_away(error)
                raise Away from None
        self._is_back()
        return answer

    def _is_away(self, error: Exception) -> None:
        self._again_at = self._clock() + PAUSE
        if not self.trouble:
            log.warning("Redis does not answer (%s): each process counts by itself", type(error).__name__)
        self.trouble = f"Redis does not answer ({type(error).__name__})"

    def _is_back(self) -> None:
        if self.trouble:
            log.info("Redis answers again")
        self.trouble = ""


async def _in_time(question: Awaitable[Any]) -> Any:
    """Time is counted in ticks of this loop: if it was busy itself, that is no silence of Redis."""
    loop, left = asyncio.get_running_loop(), TICKS

    def tick() -> None:
        nonlocal left, timer
        left -= 1
        if left > 0:
            timer = loop.call_later(TICK_SECONDS, tick)
        else:
            limit.reschedule(loop.time())

    async with asyncio.timeout(None) as limit:
        timer = loop.call_later(TICK_SECONDS, tick)
        try:
            return await question
        finally:
            timer.cancel()


Script = Callable[..., Awaitable[Any]]
"""Its keys, and what else it is given. Raises Away."""
