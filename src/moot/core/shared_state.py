"""What the processes of one arena know together, for a while: who has asked how much, who is where.

Nothing here is the truth of a debate: that is the log. So it may be lost, with a restart or with a Redis that
is away. Limits are then held by each process for itself, and nobody is told that something went wrong.
Keys and rooms may be named after clients and topics: they are written down by digest only. Values that are
not kept with a word, and names of those in a room, are written as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from limits.aio.storage import Storage

Membership = tuple[str, str]
"""A room, and a name in it."""


class SharedState(Protocol):
    @property
    def storage(self) -> Storage:
        """Where requests are counted."""
        ...

    @property
    def connection_error(self) -> str:
        """Why this process is by itself just now; empty where all is well."""
        ...

    async def put(self, key: str, value: bytes, seconds: float, *, secret: str = "") -> bool:
        """Remember something under this key, instead of what was there. With a `secret`, it is for those
        alone who know it.

        False where it may now be known in two places, so that two could take it.
        """
        ...

    async def get(self, key: str, *, secret: str = "") -> bytes | None:
        """None, too, where it was kept with another word."""
        ...

    async def pop(self, key: str) -> bytes | None:
        """Recall and forget: of all who ask at once, one gets it."""
        ...

    async def join(
        self, group: str, name: str, *, limit: int | None = None, seconds: float, replacing: str = ""
    ) -> bool:
        """Be in a room, unless `limit` others are. Who does not enter again in time has left it.

        With `replacing`, one goes and the other comes, and nobody slips in between.
        """
        ...

    async def renew(self, memberships: Iterable[Membership], *, seconds: float) -> None:
        """Enter them all again, at once."""
        ...

    async def leave(self, group: str, name: str) -> None: ...

    async def members(self, group: str) -> tuple[str, ...]:
        """Those who are there, whoever let them in."""
        ...

    async def close(self) -> None: ...
