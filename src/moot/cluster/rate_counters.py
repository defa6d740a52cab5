"""Requests counted by all processes together.

Each remembers how far the count had come when it last heard of it, and never falls behind that before the
window is over. So when Redis goes, or comes back empty, no process lets through more than the limit, and
nobody sees what is left to them rise.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from limits.aio.storage import Storage
from msgspec import Struct
from msgspec.structs import replace

from moot.cluster.redis_client import OptionalRedis, RedisUnavailable
from moot.cluster.redis_keys import redis_key

MAX_WINDOWS = 20_000

SAME_MS = 50

# When the window ends, by its own clock, is how one window is told from another.
COUNT_SCRIPT = """
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    left = tonumber(ARGV[2])
end
local time = redis.call('TIME')
return {count, left, time[1] * 1000 + math.floor(time[2] / 1000) + left}
"""


class CountWindow(Struct, frozen=True):
    count: int
    until: float
    """By our clock."""
    ends_ms: int = 0
    """By that of Redis."""

    def is_same(self, other: CountWindow) -> bool:
        return abs(self.ends_ms - other.ends_ms) <= SAME_MS


class RedisCounters(Storage):
    STORAGE_SCHEME = None

    def __init__(self, line: OptionalRedis, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._line = line
        self._clock = clock
        self._count = line.script(COUNT_SCRIPT)
        self._seen: dict[str, CountWindow] = {}

    @property
    def base_exceptions(self) -> type[Exception]:
        return RedisUnavailable

    async def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        try:
            count, left, ends = await self._count((redis_key("count", key),), amount, int(expiry * 1000))
        except RedisUnavailable:
            return self._count_locally(key, expiry, amount)
        now = self._clock()
        told, known = CountWindow(count, now + left / 1000, ends), self._known(key, now)
        if known is None or told.is_same(known):
            # Answers may come in another order than they were given.
            self._remember(key, max(told, known or told, key=_count))
            return count
        going_on = replace(known, count=known.count + amount)
        return self._remember(key, max(told, going_on, key=_count)).count

    def _count_locally(self, key: str, expiry: float, amount: int) -> int:
        now = self._clock()
        known = self._known(key, now) or CountWindow(0, now + expiry)
        return self._remember(key, replace(known, count=known.count + amount)).count

    async def get(self, key: str) -> int:
        known = self._known(key, self._clock())
        try:
            told = await self._line.execute("GET", redis_key("count", key))
        except RedisUnavailable:
            told = None
        return max(known.count if known else 0, int(told or 0))

    async def get_expiry(self, key: str) -> float:
        known = self._known(key, self._clock())
        if known is not None:
            return known.until
        try:
            left = await self._line.execute("PTTL", redis_key("count", key))
        except RedisUnavailable:
            left = 0
        return self._clock() + max(0, left) / 1000

    async def check(self) -> bool:
        return not self._line.connection_error

    async def reset(self) -> int | None:
        """What all count is not for one to forget."""
        return None

    async def clear(self, key: str) -> None:
        self._seen.pop(key, None)
        try:
            await self._line.execute("DEL", redis_key("count", key))
        except RedisUnavailable:
            return

    def _known(self, key: str, now: float) -> CountWindow | None:
        known = self._seen.get(key)
        return known if known and now < known.until else None

    def _remember(self, key: str, window: CountWindow) -> CountWindow:
        self._seen.pop(key, None)
        self._seen[key] = window
        if len(self._seen) > MAX_WINDOWS:
            del self._seen[next(iter(self._seen))]
        return window


def _count(window: CountWindow) -> int:
    return window.count
