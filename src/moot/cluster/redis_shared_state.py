"""What all processes know together, in Redis; and each by itself, for as long as Redis is away.

A room is a set ordered by the time at which each leaves it unless they enter again, by Redis' own clock. What
is to be one step is a script, which Redis runs as one. Whoever is in a room from here is known here too: when
Redis goes, places are not given out a second time, and when it comes back those who stay are put in again.
"""

from __future__ import annotations

from collections.abc import Iterable

from moot.cluster.encryption import decrypt, encrypt
from moot.cluster.rate_counters import RedisCounters
from moot.cluster.redis_client import OptionalRedis, RedisNoAnswer, RedisUnavailable
from moot.cluster.redis_keys import redis_key
from moot.cluster.redis_server import RedisServer
from moot.core.shared_state import Membership
from moot.engine.shared_state_memory import MemorySharedState

AT_ONCE = 500
"""So many places are kept in one step: Redis does nothing else meanwhile."""

NOW_LUA = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
# The room itself lasts as long as the last one in it: nothing stays behind of a process that is gone.
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


class RedisSharedState:
    def __init__(self, reach: RedisServer) -> None:
        self._redis = OptionalRedis(reach)
        self._join_script = self._redis.script(JOIN_SCRIPT)
        self._renew_script = self._redis.script(RENEW_SCRIPT)
        self._members_script = self._redis.script(MEMBERS_SCRIPT)
        self._local = MemorySharedState()
        self.storage = RedisCounters(self._redis)

    @property
    def connection_error(self) -> str:
        return self._redis.connection_error

    async def put(self, key: str, value: bytes, seconds: float, *, secret: str = "") -> bool:
        written = encrypt(value, secret) if secret else value
        try:
            await self._redis.execute("SET", redis_key("kept", key), written, "PX", _ms(seconds))
        except RedisUnavailable as away:
            await self._local.put(key, value, seconds, secret=secret)
            return not isinstance(away, RedisNoAnswer)
        await self._local.pop(key)
        return True

    async def get(self, key: str, *, secret: str = "") -> bytes | None:
        try:
            found: bytes | None = await self._redis.execute("GET", redis_key("kept", key))
        except RedisUnavailable:
            found = None
        if found is None:
            return await self._local.get(key, secret=secret)
        return decrypt(found, secret) if secret else found

    async def pop(self, key: str) -> bytes | None:
        try:
            found: bytes | None = await self._redis.execute("GETDEL", redis_key("kept", key))
        except RedisUnavailable:
            found = None
        own = await self._local.pop(key)
        return own if found is None else found

    async def join(
        self, group: str, name: str, *, limit: int | None = None, seconds: float, replacing: str = ""
    ) -> bool:
        places = -1 if limit is None else limit
        try:
            let_in = await self._join_script(
                (redis_key("room", group),), name, _ms(seconds), places, replacing
            )
        except RedisUnavailable:
            return await self._local.join(group, name, limit=limit, seconds=seconds, replacing=replacing)
        if let_in:
            await self._local.join(group, name, seconds=seconds, replacing=replacing)
        return bool(let_in)

    async def renew(self, memberships: Iterable[Membership], *, seconds: float) -> None:
        all_memberships = tuple(memberships)
        for start in range(0, len(all_memberships), AT_ONCE):
            some = all_memberships[start : start + AT_ONCE]
            await self._local.renew(some, seconds=seconds)
            rooms = [redis_key("room", room) for room, _ in some]
            try:
                await self._renew_script(rooms, _ms(seconds), *(name for _, name in some))
            except RedisUnavailable:
                continue

    async def leave(self, group: str, name: str) -> None:
        await self._local.leave(group, name)
        try:
            await self._redis.execute("ZREM", redis_key("room", group), name)
        except RedisUnavailable:
            return

    async def members(self, group: str) -> tuple[str, ...]:
        """With those of this process, of whom a Redis that was restarted knows nothing."""
        own = await self._local.members(group)
        try:
            names: list[bytes] = await self._members_script((redis_key("room", group),))
        except RedisUnavailable:
            names = []
        return tuple(dict.fromkeys((*(name.decode() for name in names), *own)))

    async def close(self) -> None:
        await self._local.close()
        await self._redis.close()


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))
