"""What the processes of one arena share for a while, where there is one process; and what builds on it.

`MemoryEphemeralStore` is the `EphemeralStore` of a single process; `cluster/redis_ephemeral_store.py` is the
one of several. `Presence` keeps this process's memberships alive; those of a process that died expire.
`KeyedMutex` lets one task at a time work on a key. Its lease expires if the holder dies, so it avoids
duplicate work but is no lock on which the log may rely.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from uuid import uuid4
from weakref import WeakValueDictionary

from limits.aio.storage import MemoryStorage

from moot.core.ephemeral_store import EphemeralStore, Membership

MAX_VALUES = 20_000
CLEANUP_GROUPS = 1_000
PRESENCE_LEASE_SECONDS = 45.0
"""Three times the interval at which memberships are renewed (`web/streaming/sse_streams.py`)."""
MUTEX_LEASE_SECONDS = 10.0
MUTEX_RETRY_SECONDS = 0.05


class MemoryEphemeralStore:
    connection_error = ""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._values: dict[str, tuple[float, str, bytes]] = {}
        self._groups: dict[str, dict[str, float]] = {}
        self._cleanup_at = CLEANUP_GROUPS
        self.storage = MemoryStorage()

    async def put(self, key: str, value: bytes, seconds: float, *, secret: str = "") -> bool:
        self._values.pop(key, None)
        self._values[key] = (self._clock() + seconds, secret, value)
        self._drop_expired()
        return True

    async def get(self, key: str, *, secret: str = "") -> bytes | None:
        expires, stored_secret, value = self._values.get(key, (0.0, "", b""))
        return value if self._clock() < expires and secret == stored_secret else None

    async def pop(self, key: str) -> bytes | None:
        value = await self.get(key)
        self._values.pop(key, None)
        return value

    async def join(
        self, group: str, name: str, *, limit: int | None = None, seconds: float, replacing: str = ""
    ) -> bool:
        members = self._members(group)
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
        for group, name in memberships:
            await self.join(group, name, seconds=seconds)

    async def leave(self, group: str, name: str) -> None:
        members = self._members(group)
        members.pop(name, None)
        if not members:
            self._groups.pop(group, None)

    async def members(self, group: str) -> tuple[str, ...]:
        return tuple(self._members(group))

    async def close(self) -> None:
        self._values.clear()
        self._groups.clear()

    def _members(self, group: str) -> dict[str, float]:
        """The members of a group and when their leases end, without those whose lease has ended."""
        members, now = self._groups.get(group, {}), self._clock()
        for name in [name for name, until in members.items() if until <= now]:
            del members[name]
        return members

    def _drop_empty_groups(self) -> None:
        """Drop groups in which all leases have ended. Rarely, because it looks at every group."""
        if len(self._groups) < self._cleanup_at:
            return
        self._groups = {group: members for group in tuple(self._groups) if (members := self._members(group))}
        self._cleanup_at = max(CLEANUP_GROUPS, 2 * len(self._groups))

    def _drop_expired(self) -> None:
        """Drop the oldest values while they have expired or there are too many."""
        now = self._clock()
        while self._values:
            oldest = next(iter(self._values))
            if self._values[oldest][0] > now and len(self._values) <= MAX_VALUES:
                return
            del self._values[oldest]


class Presence:
    """The groups that this process is a member of."""

    def __init__(self, ephemeral: EphemeralStore) -> None:
        self._ephemeral = ephemeral
        self._memberships: set[Membership] = set()

    @asynccontextmanager
    async def join(self, group: str, *, most: int | None = None) -> AsyncGenerator[bool]:
        """Be a member of a group inside the block; yields False where `most` others already are."""
        membership = (group, uuid4().hex)
        try:
            joined = await self._ephemeral.join(*membership, limit=most, seconds=PRESENCE_LEASE_SECONDS)
            if joined:
                self._memberships.add(membership)
            yield joined
        finally:
            # Also after a cancelled `join`: it may have succeeded all the same.
            self._memberships.discard(membership)
            await self._ephemeral.leave(*membership)

    async def renew(self) -> None:
        """Extend all leases."""
        memberships = frozenset(self._memberships)
        await self._ephemeral.renew(memberships, seconds=PRESENCE_LEASE_SECONDS)
        # A member that left meanwhile may have been renewed after leaving.
        for membership in memberships - self._memberships:
            await self._ephemeral.leave(*membership)


class KeyedMutex:
    def __init__(self, ephemeral: EphemeralStore) -> None:
        self._ephemeral = ephemeral
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def locked(self, key: str) -> AsyncGenerator[None]:
        """Within this process by a lock, among processes by a group that takes one member."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        group, name = f"alone with {key}", uuid4().hex
        async with lock:
            try:
                while not await self._ephemeral.join(  # noqa: ASYNC110 - nothing tells when others leave
                    group, name, limit=1, seconds=MUTEX_LEASE_SECONDS
                ):
                    await asyncio.sleep(MUTEX_RETRY_SECONDS)
                yield
            finally:
                await self._ephemeral.leave(group, name)
