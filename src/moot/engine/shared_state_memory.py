"""What one process knows by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from limits.aio.storage import MemoryStorage

from moot.core.shared_state import Place

MOST_KEPT = 20_000
MANY_ROOMS = 1_000


class MemoryCommons:
    trouble = ""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, str, bytes]] = {}
        self._rooms: dict[str, dict[str, float]] = {}
        self._tidy_at = MANY_ROOMS
        self.storage = MemoryStorage()

    async def keep(self, key: str, value: bytes, seconds: float, *, word: str = "") -> bool:
        self._kept.pop(key, None)
        self._kept[key] = (self._clock() + seconds, word, value)
        self._sweep()
        return True

    async def recall(self, key: str, *, word: str = "") -> bytes | None:
        expires, known_by, value = self._kept.get(key, (0.0, "", b""))
        return value if self._clock() < expires and word == known_by else None

    async def take(self, key: str) -> bytes | None:
        value = await self.recall(key)
        self._kept.pop(key, None)
        return value

    async def enter(
        self, room: str, name: str, *, most: int | None = None, seconds: float, instead: str = ""
    ) -> bool:
        there = self._room(room)
        others = len(there) - (instead in there)
        if most is not None and name not in there and others >= most:
            return False
        there.pop(instead, None)
        there[name] = self._clock() + seconds
        if room not in self._rooms:
            self._rooms[room] = there
            self._tidy()
        return True

    async def stay(self, places: Iterable[Place], *, seconds: float) -> None:
        for room, name in places:
            await self.enter(room, name, seconds=seconds)

    async def leave(self, room: str, name: str) -> None:
        there = self._room(room)
        there.pop(name, None)
        if not there:
            self._rooms.pop(room, None)

    async def inside(self, room: str) -> tuple[str, ...]:
        return tuple(self._room(room))

    async def close(self) -> None:
        self._kept.clear()
        self._rooms.clear()

    def _room(self, room: str) -> dict[str, float]:
        """Without those whose time is up."""
        there, now = self._rooms.get(room, {}), self._clock()
        for name in [name for name, until in there.items() if until <= now]:
            del there[name]
        return there

    def _tidy(self) -> None:
        """Drop rooms that everybody has left without a word. Seldom: it looks at all of them."""
        if len(self._rooms) < self._tidy_at:
            return
        self._rooms = {room: there for room in tuple(self._rooms) if (there := self._room(room))}
        self._tidy_at = max(MANY_ROOMS, 2 * len(self._rooms))

    def _sweep(self) -> None:
        """Drop what has expired at the front, and the oldest of too many."""
        now = self._clock()
        while self._kept:
            oldest = next(iter(self._kept))
            if self._kept[oldest][0] > now and len(self._kept) <= MOST_KEPT:
                return
            del self._kept[oldest]
