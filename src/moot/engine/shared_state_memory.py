"""What one process knows by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from limits.aio.storage import MemoryStorage

from moot.core.shared_state import Membership

MAX_VALUES = 20_000
CLEANUP_GROUPS = 1_000


class MemorySharedState:
    connection_error = ""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._values: dict[str, tuple[float, str, bytes]] = {}
        self._groups: dict[str, dict[str, float]] = {}
        self._tidy_at = CLEANUP_GROUPS
        self.storage = MemoryStorage()

    async def put(self, key: str, value: bytes, seconds: float, *, secret: str = "") -> bool:
        self._values.pop(key, None)
        self._values[key] = (self._clock() + seconds, secret, value)
        self._drop_expired()
        return True

    async def get(self, key: str, *, secret: str = "") -> bytes | None:
        expires, known_by, value = self._values.get(key, (0.0, "", b""))
        return value if self._clock() < expires and secret == known_by else None

    async def pop(self, key: str) -> bytes | None:
        value = await self.get(key)
        self._values.pop(key, None)
        return value

    async def join(
        self, group: str, name: str, *, limit: int | None = None, seconds: float, replacing: str = ""
    ) -> bool:
        members = self._group(group)
        others = len(members) - (replacing in members)
        if limit is not None and name not in members and others >= limit:
            return False
        members.pop(replacing, None)
        members[name] = self._clock() + seconds
        if group not in self._groups:
            self._groups[group] = members
            self._drop_empty_groups()
        return True

    async def renew(self, memberships: Iterable[Membership], *, seconds: float) -> None:
        for room, name in memberships:
            await self.join(room, name, seconds=seconds)

    async def leave(self, group: str, name: str) -> None:
        there = self._group(group)
        there.pop(name, None)
        if not there:
            self._groups.pop(group, None)

    async def members(self, group: str) -> tuple[str, ...]:
        return tuple(self._group(group))

    async def close(self) -> None:
        self._values.clear()
        self._groups.clear()

    def _group(self, room: str) -> dict[str, float]:
        """Without those whose time is up."""
        there, now = self._groups.get(room, {}), self._clock()
        for name in [name for name, until in there.items() if until <= now]:
            del there[name]
        return there

    def _drop_empty_groups(self) -> None:
        """Drop rooms that everybody has left without a word. Seldom: it looks at all of them."""
        if len(self._groups) < self._tidy_at:
            return
        self._groups = {room: there for room in tuple(self._groups) if (there := self._group(room))}
        self._tidy_at = max(CLEANUP_GROUPS, 2 * len(self._groups))

    def _drop_expired(self) -> None:
        """Drop what has expired at the front, and the oldest of too many."""
        now = self._clock()
        while self._values:
            oldest = next(iter(self._values))
            if self._values[oldest][0] > now and len(self._values) <= MAX_VALUES:
                return
            del self._values[oldest]
