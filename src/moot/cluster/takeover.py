"""What every worker looks for while it runs: debates whose worker fell silent, and debates without a job.

Several workers may find the same debate. That does no harm: only one of them ends the old job, and it defers
the new one in the same statement. A second new job is refused while the first waits, and ends at once where
the first runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from moot.cluster.heartbeat import QueueGlance
from moot.cluster.queue import DebateJob, Queue
from moot.engine.claim_loop import FULL_SCAN_SECONDS, UnclaimedSearch
from moot.engine.placement import WorkerTimings
from moot.store.contract import Store

log = logging.getLogger(__name__)

REQUESTER_GRACE = timedelta(seconds=2)
AT_ONCE = 100
"""Jobs taken over in one statement, so that the first can be fetched before the last is replaced."""


class Takeover:
    def __init__(self, queue: Queue, store: Store, timings: WorkerTimings, to: Callable[[], str]) -> None:
        """`to` names the queue for new jobs."""
        self._queue = queue
        self._stall = timings.stall_seconds
        self._queue_name = to
        self._search = UnclaimedSearch(store)
        self._clock = time.monotonic
        self._search_at = float("-inf")
        """When to search, whatever the heartbeats say."""
        self._may_be_unclaimed = False
        self.local_debates: set[str] = set()
        """Debates that were requested at this terminal and have not ended here."""
        self.count = 0
        """Debates that were taken over here."""

    def saw_unclaimed(self, may_be: bool) -> None:
        """Whether a heartbeat found debates without a job that may need a runner."""
        self._may_be_unclaimed = may_be

    async def take_over_stalled(self, ours: Sequence[DebateJob], *, everywhere: bool) -> None:
        """Take over from workers that fell silent. `everywhere`: also debates not requested here."""
        stalled = [job for job in await self._queue.stalled(self._stall) if job not in ours]
        await self.take_over([job for job in stalled if everywhere or job.debate in self.local_debates])

    async def requeue_stranded(self, glance: QueueGlance, *, everywhere: bool) -> None:
        """Move jobs that no worker will fetch to a queue of a live one."""
        if glance.waiting_elsewhere:
            for job in await self._queue.stranded(self._stall):
                if everywhere or job.debate in self.local_debates:
                    await self.move(job, self._queue_name())
        if everywhere:
            if self._may_be_unclaimed or self._clock() >= self._search_at:
                await self._queue_recently_unclaimed()
                self._search_at = self._clock() + FULL_SCAN_SECONDS
            if glance.stalled:
                await self._queue.prune_workers(self._stall)

    async def take_over(self, jobs: Sequence[DebateJob]) -> None:
        """With new jobs: the worker that has the old one may still be alive, and would end it."""
        for start in range(0, len(jobs), AT_ONCE):
            for debate_id in await self._queue.replace(jobs[start : start + AT_ONCE], self._queue_name()):
                self.count += 1
                log.warning(
                    "the worker of this debate is gone; another one takes it over",
                    extra={"debate": debate_id},
                )

    async def move(self, job: DebateJob, to: str) -> None:
        """To another queue, unless a worker has fetched it meanwhile."""
        if await self._queue.withdraw(job):
            await self._queue.defer(job.debate, to)

    async def queue_unclaimed(self) -> int:
        """Defer jobs for debates that need a runner and have none: a process died before it could."""
        busy = await self._queue.debates()
        return await self._search.scan_all(lambda one: one.id not in busy, self._defer)

    async def _queue_recently_unclaimed(self) -> int:
        """A debate that has just changed is left to the process that changed it, which may be about to defer
        a job to its own queue. A time in the future comes from a clock that is ahead; it counts as past."""
        busy, now = await self._queue.debates(), datetime.now(UTC)
        return await self._search.scan_recent(
            lambda one: one.id not in busy and abs(now - one.updated_at) >= REQUESTER_GRACE, self._defer
        )

    async def _defer(self, debate_id: str) -> bool:
        return await self._queue.defer(debate_id, self._queue_name())
