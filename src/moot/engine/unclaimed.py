"""Debates that want a runner and have none: looked for again and again, and cheaply.

Mostly it is enough to look at those that somebody runs, and at those in which something has happened
lately. At first, and then once a minute, all that are under way are looked at: a job may be lost without a
trace in the log, and a clock may be wrong.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from moot.core.errors import StoreError, UnknownDebate
from moot.engine.placement import wants_runner
from moot.store.contract import ActiveDebate, Store

log = logging.getLogger(__name__)

ALL_SECONDS = 60.0
SCAN_DUTY_FACTOR = 20.0
"""The next time is so much later than it takes: where thousands of debates rest, the first takes a while."""
MARGIN = timedelta(seconds=60)
"""What has just happened is left to its asker at first; and machines do not agree on the time."""


class UnclaimedSearch:
    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._all_at = float("-inf")
        self._since: datetime | None = None
        self.idle_versions: dict[str, int] = {}
        """The versions at which debates were found to want nobody: they are not folded again."""

    async def scan_all(
        self, may: Callable[[ActiveDebate], bool], take: Callable[[str], Awaitable[bool]]
    ) -> int:
        """How many were taken, of those that may be and want a runner."""
        began, now = self._clock(), datetime.now(UTC)
        resting: dict[str, int] = {}
        taken = await self._scan(await self._store.active_debates(), resting, may, take)
        self.idle_versions, self._since = resting, now - MARGIN
        self._all_at = self._clock() + max(ALL_SECONDS, SCAN_DUTY_FACTOR * (self._clock() - began))
        return taken

    async def scan_recent(
        self, may: Callable[[ActiveDebate], bool], take: Callable[[str], Awaitable[bool]]
    ) -> int:
        """The same, of those that are worth a look by now."""
        if self._clock() >= self._all_at:
            return await self.scan_all(may, take)
        now = datetime.now(UTC)
        taken = await self._scan(await self._store.active_debates(self._since), self.idle_versions, may, take)
        self._since = now - MARGIN
        return taken

    async def _scan(
        self,
        under_way: tuple[ActiveDebate, ...],
        resting: dict[str, int],
        may: Callable[[ActiveDebate], bool],
        take: Callable[[str], Awaitable[bool]],
    ) -> int:
        taken = 0
        for one in {one.id: one for one in (*await self._store.claimed_debates(), *under_way)}.values():
            if not may(one):
                continue
            if await self._is_idle(one):
                resting[one.id] = one.version
            elif await take(one.id):
                taken += 1
        return taken

    async def _is_idle(self, one: ActiveDebate) -> bool:
        if self.idle_versions.get(one.id) == one.version:
            return True
        try:
            return not wants_runner(await self._store.state(one.id))
        except UnknownDebate:
            return True
        except StoreError:
            raise
        except Exception:
            # One that cannot be read must not keep the others from being found.
            log.exception("could not check whether a debate needs a runner", extra={"debate": one.id})
            return True
