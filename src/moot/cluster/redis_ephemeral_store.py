"""What all processes share in Redis: kept values, groups and request counters. Without Redis each process
uses its own memory until Redis is back.

A group is a set ordered by the time at which each member leaves it unless it joins again, by Redis' own
clock. What has to be one step is a script, which Redis runs as one. Members from this process are kept in
memory too: while Redis is away their places are not given out a second time, and when it is back they are
put in again.
"""

from __future__ import annotations

import hashlib
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable

from cryptography.fernet import Fernet, InvalidToken
from limits.aio.storage import Storage
from msgspec import Struct
from msgspec.structs import replace

from moot.cluster.redis_client import OptionalRedis, RedisNoAnswer, RedisServer, RedisUnavailable, redis_key
from moot.core.ephemeral_store import Membership
from moot.engine.ephemeral_store import MemoryEphemeralStore

AT_ONCE = 500
"""Memberships that are renewed in one step: Redis does nothing else meanwhile."""

NOW_LUA = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
# A group expires with its last member: nothing is left of a process that is gone.
EXPIRE_LUA = """
local function close_behind_the_last(room)
    local last = redis.call('ZREVRANGE', room, 0, 0, 'WITHSCORES')
    redis.call('PEXPIRE', room, math.max(1, last[2] - now))
end
"""
JOIN_SCRIPT = f"""{NOW_LUA}{EXPIRE_LUA}
local room, name, seconds, most, instead = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
redis.call('ZREMRANGEBYSCORE', room, '-inf', now)
local others = redis.call('ZCARD', room)
if redis.call('ZSCORE', room, instead) then others = others - 1 end
if most >= 0 and others >= most and not redis.call('ZSCORE', room, name) then return 0 end
redis.call('ZREM', room, instead)
redis.call('ZADD', room, now + seconds, name)
close_behind_the_last(room)
return 1
"""
RENEW_SCRIPT = f"""{NOW_LUA}{EXPIRE_LUA}
for i, room in ipairs(KEYS) do
    redis.call('ZADD', room, now + ARGV[1], ARGV[i + 1])
    close_behind_the_last(room)
end
"""
MEMBERS_SCRIPT = f"""{NOW_LUA}
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')
"""


class RedisEphemeralStore:
    def __init__(self, server: RedisServer) -> None:
        self._redis = OptionalRedis(server)
        self._join_script = self._redis.script(JOIN_SCRIPT)
        self._renew_script = self._redis.script(RENEW_SCRIPT)
        self._members_script = self._redis.script(MEMBERS_SCRIPT)
        self._local = MemoryEphemeralStore()
        self.storage = RedisCounters(self._redis)

    @property
    def connection_error(self) -> str:
        return self._redis.connection_error

    async def put(self, key: str, value: bytes, seconds: float, *, secret: str = "") -> bool:
        written = _fernet(secret).encrypt(value) if secret else value
        try:
            await self._redis.execute("SET", redis_key("kept", key), written, "PX", _ms(seconds))
        except RedisUnavailable as error:
            await self._local.put(key, value, seconds, secret=secret)
            return not isinstance(error, RedisNoAnswer)
        await self._local.pop(key)
        return True

    async def get(self, key: str, *, secret: str = "") -> bytes | None:
        try:
            value: bytes | None = await self._redis.execute("GET", redis_key("kept", key))
        except RedisUnavailable:
            value = None
        if value is None:
            return await self._local.get(key, secret=secret)
        return _decrypt(value, secret) if secret else value

    async def pop(self, key: str) -> bytes | None:
        try:
            value: bytes | None = await self._redis.execute("GETDEL", redis_key("kept", key))
        except RedisUnavailable:
            value = None
        local = await self._local.pop(key)
        return local if value is None else value

    async def join(
        self, group: str, name: str, *, limit: int | None = None, seconds: float, replacing: str = ""
    ) -> bool:
        most = -1 if limit is None else limit
        try:
            joined = await self._join_script((redis_key("room", group),), name, _ms(seconds), most, replacing)
        except RedisUnavailable:
            return await self._local.join(group, name, limit=limit, seconds=seconds, replacing=replacing)
        if joined:
            await self._local.join(group, name, seconds=seconds, replacing=replacing)
        return bool(joined)

    async def renew(self, memberships: Iterable[Membership], *, seconds: float) -> None:
        all_memberships = tuple(memberships)
        for start in range(0, len(all_memberships), AT_ONCE):
            some = all_memberships[start : start + AT_ONCE]
            await self._local.renew(some, seconds=seconds)
            groups = [redis_key("room", group) for group, _ in some]
            try:
                await self._renew_script(groups, _ms(seconds), *(name for _, name in some))
            except RedisUnavailable:
                continue

    async def leave(self, group: str, name: str) -> None:
        await self._local.leave(group, name)
        try:
            await self._redis.execute("ZREM", redis_key("room", group), name)
        except RedisUnavailable:
            return

    async def members(self, group: str) -> tuple[str, ...]:
        """With those of this process, which a Redis that was restarted does not know."""
        local = await self._local.members(group)
        try:
            names: list[bytes] = await self._members_script((redis_key("room", group),))
        except RedisUnavailable:
            names = []
        return tuple(dict.fromkeys((*(name.decode() for name in names), *local)))

    async def close(self) -> None:
        await self._local.close()
        await self._redis.close()


def _decrypt(value: bytes, secret: str) -> bytes | None:
    """None where it was encrypted with another secret, or not at all."""
    try:
        return _fernet(secret).decrypt(value)
    except InvalidToken:
        return None


def _fernet(secret: str) -> Fernet:
    """The secret has to be hard to guess: a reader of Redis can try as many as they like."""
    return Fernet(urlsafe_b64encode(hashlib.sha256(f"moot {secret}".encode()).digest()))


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))


# --- counters -----------------------------------------------------------------------------------------

MAX_WINDOWS = 20_000
SAME_MS = 50

# A window is recognised by the time at which it ends, by Redis' clock.
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
    """By the clock of this process."""
    ends_ms: int = 0
    """By the clock of Redis."""

    def is_same(self, other: CountWindow) -> bool:
        return abs(self.ends_ms - other.ends_ms) <= SAME_MS


class RedisCounters(Storage):
    """Requests counted by all processes together.

    Each process remembers the last count that it saw, and never counts less before the window is over. So
    when Redis goes away, or comes back empty, no process lets through more than the limit.
    """

    STORAGE_SCHEME = None

    def __init__(self, redis: OptionalRedis, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._redis = redis
        self._clock = clock
        self._count = redis.script(COUNT_SCRIPT)
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
        window, known = CountWindow(count, now + left / 1000, ends), self._known(key, now)
        if known is None or window.is_same(known):
            # Answers may arrive in another order than they were sent.
            self._remember(key, max(window, known or window, key=_count))
            return count
        continued = replace(known, count=known.count + amount)
        return self._remember(key, max(window, continued, key=_count)).count

    def _count_locally(self, key: str, expiry: float, amount: int) -> int:
        now = self._clock()
        known = self._known(key, now) or CountWindow(0, now + expiry)
        return self._remember(key, replace(known, count=known.count + amount)).count

    async def get(self, key: str) -> int:
        known = self._known(key, self._clock())
        try:
            count = await self._redis.execute("GET", redis_key("count", key))
        except RedisUnavailable:
            count = None
        return max(known.count if known else 0, int(count or 0))

    async def get_expiry(self, key: str) -> float:
        known = self._known(key, self._clock())
        if known is not None:
            return known.until
        try:
            left = await self._redis.execute("PTTL", redis_key("count", key))
        except RedisUnavailable:
            left = 0
        return self._clock() + max(0, left) / 1000

    async def check(self) -> bool:
        return not self._redis.connection_error

    async def reset(self) -> int | None:
        """One process must not reset what all count."""
        return None

    async def clear(self, key: str) -> None:
        self._seen.pop(key, None)
        try:
            await self._redis.execute("DEL", redis_key("count", key))
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
