"""One at a time, of all who want the same: in this process by a lock, among processes by a room for one.

Whoever dies inside lets the next one in when the time is up. So it spares a second debate for the same wish;
it is no lock on which the log could rely.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4
from weakref import WeakValueDictionary

from moot.core.shared_state import SharedState

LEASE_SECONDS = 10.0
AGAIN_SECONDS = 0.05


class KeyedMutex:
    def __init__(self, commons: SharedState) -> None:
        self._shared_state = commons
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def locked(self, key: str) -> AsyncGenerator[None]:
        lock = self._locks.setdefault(key, asyncio.Lock())
        room, name = f"alone with {key}", uuid4().hex
        async with lock:
            try:
                while not await self._acquire(room, name):  # noqa: ASYNC110 - nobody tells who left elsewhere
                    await asyncio.sleep(AGAIN_SECONDS)
                yield
            finally:
                await self._shared_state.leave(room, name)

    async def _acquire(self, room: str, name: str) -> bool:
        return await self._shared_state.join(room, name, limit=1, seconds=LEASE_SECONDS)
