"""Reads that many clients request at the same time, done once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """One read at a time for each key. Callers that come during a read share the next one.

    A read always begins after all of its callers have called, so that none of them gets an older result
    than it would get by itself: this is no cache.
    """

    def __init__(self, read: Callable[[str], Awaitable[T]]) -> None:
        self._read = read
        self._running: dict[str, asyncio.Task[T]] = {}
        self._next: dict[str, asyncio.Task[T]] = {}

    async def get(self, key: str) -> T:
        """Read now, together with all others who want the same. Raises what the read raises."""
        task = self._next.get(key)
        if task is None:
            task = self._next[key] = asyncio.create_task(self._run(key, self._running.get(key)))
            # All callers may have left when it fails.
            task.add_done_callback(_mark_retrieved)
        return await asyncio.shield(task)

    async def _run(self, key: str, previous: asyncio.Task[T] | None) -> T:
        if previous is not None:
            await asyncio.wait((previous,))
        self._running[key] = task = self._next.pop(key)
        try:
            return await self._read(key)
        finally:
            if self._running.get(key) is task:
                del self._running[key]


def _mark_retrieved(task: asyncio.Task[T]) -> None:
    if not task.cancelled():
        task.exception()
