"""What the processes of one deployment share for a while: request counts, small values, group memberships.

It may be lost with a restart or while Redis is down, because the truth of a debate is the log. Each process
then holds the limits for itself, without an error. Keys and groups may be named after clients and topics, so
they are stored as digests. Values without a secret and the names of members are stored as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from limits.aio.storage import Storage

Membership = tuple[str, str]
"""A group, and the name of a member."""


class EphemeralStore(Protocol):
    @property
    def storage(self) -> Storage:
        """Where requests are counted."""
        ...

    @property
    def connection_error(self) -> str:
        """Why this process does not reach the others at present; empty where it does."""
        ...

    async def put(self, key: str, value: bytes, seconds: float, *, secret: str = "") -> bool:
        """Store a value under this key. With a `secret`, only callers with the same secret get it.

        False where the value may now be stored in two places, so that two callers could `pop` it.
        """
        ...

    async def get(self, key: str, *, secret: str = "") -> bytes | None:
        """The value; None where there is none, or it was stored with another secret."""
        ...

    async def pop(self, key: str) -> bytes | None:
        """Take the value out: of several concurrent callers, one gets it."""
        ...

    async def join(
        self, group: str, name: str, *, limit: int | None = None, seconds: float, replacing: str = ""
    ) -> bool:
        """Become a member for so many seconds; False where the group has `limit` other members.

        With `replacing`, that member leaves in the same step, so that no third one takes its place.
        """
        ...

    async def renew(self, memberships: Iterable[Membership], *, seconds: float) -> None:
        """Extend all these memberships in one step."""
        ...

    async def leave(self, group: str, name: str) -> None: ...

    async def members(self, group: str) -> tuple[str, ...]:
        """The members, from all processes."""
        ...

    async def close(self) -> None: ...
