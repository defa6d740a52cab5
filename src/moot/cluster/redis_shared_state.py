"""What all processes know together, in Redis; and each by itself, for as long as Redis is away.

A room is a set ordered by the time at which each leaves it unless they enter again, by Redis' own clock. What
is to be one step is a script, which Redis runs as one. Whoever is in a room from here is known here too: when
Redis goes, places are not given out a second time, and when it comes back those who stay are put in again.
"""

from __future__ import annotations

from collections.abc import Iterable

from moot.cluster.encryption import opened, sealed
from moot.cluster.rate_counters import Counts
from moot.cluster.redis_client import Away, Line, Unheard
from moot.cluster.redis_keys import in_redis
from moot.cluster.redis_server import Reach
from moot.core.shared_state import Place
from moot.engine.shared_state_memory import MemoryCommons

AT_ONCE = 500
"""So many places are kept in one step: Redis does nothing else meanwhile."""

NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
# The room itself lasts as long as the last one in it: nothing stays behind of a process that is gone.
LAST = """
local function close_behind_the_last(room)
    local last = redis.call('ZREVRANGE', room, 0, 0, 'WITHSCORES')
    redis.call('PEXPIRE', room, math.max(1, last[2] - now))
end
"""
ENTER = f"""{NOW}{LAST}
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
STAY = f"""{NOW}{LAST}
for i, room in ipairs(KEYS) do
    redis.call('ZADD', room, now + ARGV[1], ARGV[i + 1])
    close_behind_the_last(room)
end
"""
INSIDE = f"""{NOW}
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')
"""


class RedisCommons:
    def __init__(self, reach: Reach) -> None:
        self._line = Line(reach)
        self._enter = self._line.script(ENTER)
        self._stay = self._line.script(STAY)
        self._inside = self._line.script(INSIDE)
        self._own = MemoryCommons()
        self.storage = Counts(self._line)

    @property
    def trouble(self) -> str:
        return self._line.trouble

    async def keep(self, key: str, value: bytes, seconds: float, *, word: str = "") -> bool:
        written = sealed(value, word) if word else value
        try:
            await self._line.do("SET", in_redis("kept", key), written, "PX", _ms(seconds))
        except Away as away:
            await self._own.keep(key, value, seconds, word=word)
            return not isinstance(away, Unheard)
        await self._own.take(key)
        return True

    async def recall(self, key: str, *, word: str = "") -> bytes | None:
        try:
            found: bytes | None = await self._line.do("GET", in_redis("kept", key))
        except Away:
            found = None
        if found is None:
            return await self._own.recall(key, word=word)
        return opened(found, word) if word else found

    async def take(self, key: str) -> bytes | None:
        try:
            found: bytes | None = await self._line.do("GETDEL", in_redis("kept", key))
        except Away:
            found = None
        own = await self._own.take(key)
        return own if found is None else found

    async def enter(
        self, room: str, name: str, *, most: int | None = None, seconds: float, instead: str = ""
    ) -> bool:
        places = -1 if most is None else most
        try:
            let_in = await self._enter((in_redis("room", room),), name, _ms(seconds), places, instead)
        except Away:
            return await self._own.enter(room, name, most=most, seconds=seconds, instead=instead)
        if let_in:
            await self._own.enter(room, name, seconds=seconds, instead=instead)
        return bool(let_in)

    async def stay(self, places: Iterable[Place], *, seconds: float) -> None:
        everywhere = tuple(places)
        for start in range(0, len(everywhere), AT_ONCE):
            some = everywhere[start : start + AT_ONCE]
            await self._own.stay(some, seconds=seconds)
            rooms = [in_redis("room", room) for room, _ in some]
            try:
                await self._stay(rooms, _ms(seconds), *(name for _, name in some))
            except Away:
                continue

    async def leave(self, room: str, name: str) -> None:
        await self._own.leave(room, name)
        try:
            await self._line.do("ZREM", in_redis("room", room), name)
        except Away:
            return

    async def inside(self, room: str) -> tuple[str, ...]:
        """With those of this process, of whom a Redis that was restarted knows nothing."""
        own = await self._own.inside(room)
        try:
            names: list[bytes] = await self._inside((in_redis("room", room),))
        except Away:
            names = []
        return tuple(dict.fromkeys((*(name.decode() for name in names), *own)))

    async def close(self) -> None:
        await self._own.close()
        await self._line.close()


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))
