"""Where this process is present: it says so again from time to time, for all places at once.

Of a process that is gone nothing is heard, and its places are free when their time is up.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4

from moot.core.shared_state import Membership, SharedState

LEASE_SECONDS = 45.0
"""Three times as long as it takes until it is said again (`web/streaming/sse_streams.py`)."""


class Presence:
    def __init__(self, commons: SharedState) -> None:
        self._shared_state = commons
        self._memberships: set[Membership] = set()

    @asynccontextmanager
    async def join(self, group: str, *, most: int | None = None) -> AsyncGenerator[bool]:
        """Be in a room; tells whether there was a place."""
        place = (group, uuid4().hex)
        try:
            joined = await self._shared_state.join(*place, limit=most, seconds=LEASE_SECONDS)
            if joined:
                self._memberships.add(place)
            yield joined
        finally:
            # Also where nobody waited for the answer: the place may have been given.
            self._memberships.discard(place)
            await self._shared_state.leave(*place)

    async def renew(self) -> None:
        places = frozenset(self._memberships)
        await self._shared_state.renew(places, seconds=LEASE_SECONDS)
        # Who left meanwhile may have been put in again.
        for place in places - self._memberships:
            await self._shared_state.leave(*place)
