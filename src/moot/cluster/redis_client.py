"""The line to Redis, for those who can do without.

Whoever asks gets an answer soon or hears that it is away. Then it is left alone for a moment, and one tries
again for all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from moot.cluster.redis_server import RedisServer

TICKS, TICK_SECONDS = 5, 0.1
PAUSE = 1.0
MAX_CONNECTIONS = 32
ASKING = "asking"
PROBE_KEY = "moot:greeting"


class RedisUnavailable(Exception):
    """Redis does not answer."""


class RedisNoAnswer(RedisUnavailable):
    """It was asked, and may have done it."""


class OptionalRedis:
    def __init__(self, reach: RedisServer, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = reach
        self._redis = reach.client()
        self._clock = clock
        self._free = asyncio.Semaphore(MAX_CONNECTIONS)
        self._again_at = float("-inf")
        self._down = self._closed = False

    @property
    def connection_error(self) -> str:
        return self._server.connection_error

    async def execute(self, *words: str | bytes | int) -> Any:
        """One command. Raises Away."""
        return await self._run(lambda: self._redis.execute_command(*words))

    def script(self, text: str) -> Script:
        registered = self._redis.register_script(text)

        async def run(keys: Sequence[str], *given: str | bytes | int) -> Any:
            return await self._run(lambda: registered(keys, given))

        return run

    async def close(self) -> None:
        self._closed = True
        with suppress(Exception):
            await _in_time(self._redis.aclose())

    async def _run(self, question: Callable[[], Awaitable[Any]]) -> Any:
        async with self._free:
            now, trying = self._clock(), self._down
            if self._closed or (trying and now < self._again_at):
                raise RedisUnavailable
            # Meanwhile nobody else tries, if it was away.
            self._again_at = now + PAUSE
            try:
                if trying:
                    await _in_time(self._check_writable())
                answer = await _in_time(question())
            except Exception as error:
                # Of a broken line some loops tell by a RuntimeError, and the client by more than its own.
                self._down, self._again_at = True, self._clock() + PAUSE
                self._server.mark_down(ASKING, error)
                raise RedisNoAnswer from None
        # An answer to what was asked before it went is no news.
        if trying:
            self._down = False
            self._server.mark_up(ASKING)
        return answer

    async def _check_writable(self) -> None:
        """One that can be read and not written (it is full, or a replica) is not back."""
        await self._redis.execute_command("SET", PROBE_KEY, "", "PX", 1)


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
