"""What every worker looks for while it works: debates whose worker fell silent, and those without a job.

Several look at the same time and may find the same. That does no harm: only one of them ends the old job, and
defers the new in the same statement. Should there be two new jobs after all, the second is refused while the
first waits, and a spare one where it runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from moot.cluster.queue import DebateJob, Queue
from moot.engine.placement import WorkerTimings
from moot.engine.unclaimed import UnclaimedSearch
from moot.store.contract import Store

log = logging.getLogger(__name__)

ASKER_GRACE = timedelta(seconds=2)
AT_ONCE = 100
"""So many are taken over in one statement: whoever waits for them can begin with the first."""


class Takeover:
    def __init__(self, queue: Queue, store: Store, rhythm: WorkerTimings, to: Callable[[], str]) -> None:
        """`to` names the queue into which we put what we find."""
        self._queue = queue
        self._stall = rhythm.stall_seconds
        self._queue_name = to
        self._search = UnclaimedSearch(store)
        self.local_debates: set[str] = set()
        """What somebody at this terminal has asked for, and what has not come to an end here."""

    async def take_over_stalled(self, ours: Sequence[DebateJob], *, everywhere: bool) -> None:
        """For those whose worker fell silent. `everywhere`: also for what nobody here has asked for."""
        stalled = [post for post in await self._queue.stalled(self._stall) if post not in ours]
        await self.take_over([post for post in stalled if everywhere or post.debate in self.local_debates])

    async def requeue_stranded(self, *, everywhere: bool) -> None:
        """For whatever waits and will not be fetched. It may take its time."""
        for post in await self._queue.stranded(self._stall):
            if everywhere or post.debate in self.local_debates:
                await self.move(post, self._queue_name())
        if everywhere:
            await self._queue_recently_unclaimed()
            await self._queue.prune_workers(self._stall)

    async def take_over(self, posts: Sequence[DebateJob]) -> None:
        """Never by giving the same job out again: whoever has it may still be alive, and would end it."""
        for start in range(0, len(posts), AT_ONCE):
            for debate_id in await self._queue.replace(posts[start : start + AT_ONCE], self._queue_name()):
                log.warning("nobody runs it any more, another takes it over", extra={"debate": debate_id})

    async def move(self, post: DebateJob, to: str) -> None:
        """To another queue, unless somebody has fetched it meanwhile."""
        if await self._queue.withdraw(post):
            await self._queue.defer(post.debate, to)

    async def queue_unclaimed(self) -> int:
        """Debates that want a runner and have no job: their asker died before it had deferred one."""
        busy = await self._queue.debates()
        return await self._search.scan_all(lambda one: one.id not in busy, self._defer)

    async def _queue_recently_unclaimed(self) -> int:
        """One that has just changed is left to its asker, who may be about to defer a job, and for a queue of
        its own. What is yet to happen was written by a clock that is ahead of ours: it is not waited for."""
        busy, now = await self._queue.debates(), datetime.now(UTC)
        return await self._search.scan_recent(
            lambda one: one.id not in busy and abs(now - one.updated_at) >= ASKER_GRACE, self._defer
        )

    async def _defer(self, debate_id: str) -> bool:
        return await self._queue.defer(debate_id, self._queue_name())
