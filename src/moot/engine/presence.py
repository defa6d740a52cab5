"""Where this process is present: it says so again from time to time, for all places at once.

Of a process that is gone nothing is heard, and its places are free when their time is up.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4

from moot.core.shared_state import Commons, Place

LEASE_SECONDS = 45.0
"""Three times as long as it takes until it is said again (`web/streams.py`)."""


class Attendance:
    def __init__(self, commons: Commons) -> None:
        self._commons = commons
        self._places: set[Place] = set()

    @asynccontextmanager
    async def at(self, room: str, *, most: int | None = None) -> AsyncGenerator[bool]:
        """Be in a room; tells whether there was a place."""
        place = (room, uuid4().hex)
        try:
            let_in = await self._commons.enter(*place, most=most, seconds=LEASE_SECONDS)
            if let_in:
                self._places.add(place)
            yield let_in
        finally:
            # Also where nobody waited for the answer: the place may have been given.
            self._places.discard(place)
            await self._commons.leave(*place)

    async def renew(self) -> None:
        places = frozenset(self._places)
        await self._commons.stay(places, seconds=LEASE_SECONDS)
        # Who left meanwhile may have been put in again.
        for place in places - self._places:
            await self._commons.leave(*place)
