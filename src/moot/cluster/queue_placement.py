"""Debates run by the workers of several machines, which take them from a queue in PostgreSQL.

A process that wants a debate to be run defers a job; a worker fetches it and runs the debate with the job's
number as its epoch. Workers send a heartbeat each second. The jobs of one that falls silent are ended by the
others, who defer new ones; should it wake up, its epoch is over and it writes nothing. A superfluous job does
no harm: the worker that fetches it folds the debate, finds nothing to do, and ends the job.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from moot.cluster import nodes
from moot.cluster.background_tasks import (
    AGAIN_SECONDS,
    Outage,
    cancel,
    finishes_within,
    restart_forever,
    wait_for_event,
)
from moot.cluster.heartbeat import Heartbeat, QueueGlance
from moot.cluster.queue import SHARED_QUEUE, Queue, queue_of
from moot.cluster.takeover import Takeover
from moot.cluster.watchdog import Watchdog, worker_is_known
from moot.cluster.worker_jobs import WorkerJobs
from moot.core.errors import StoreError
from moot.engine.claim_loop import MakeRunner
from moot.engine.placement import ProcessRole, QueueStats, WorkerTimings
from moot.store.contract import Store, StoreFigures

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
REPORT_SECONDS = 30.0
CHANGES_SECONDS = 2.0
"""Seconds after which a change of what is reported is reported, too."""
HAND_OVER_SECONDS = 4.0
"""Seconds to park and hand over all debates. The store is closed after that; together they must take less
than `SHUTDOWN_SECONDS`."""
CLOSE_SECONDS = 1.0
SHORT_CLOSE_SECONDS = 0.1
"""For what may be left undone."""
SHORTEST_SECONDS = 1.0
"""The least time for an answer, however short a stall is."""
LATE_HEARTBEAT = 0.75
"""The part of a stall after which a heartbeat is late."""
REQUEUE_SECONDS = 5.0
FETCH_AT_ONCE = 8
"""Debates fetched at a time."""
FETCH_PAUSE_SECONDS = 0.02
"""Between two fetches: jobs that are deferred one after the other are fetched together."""


class QueuePlacement:
    def __init__(
        self, url: str, store: Store, make_runner: MakeRunner, timings: WorkerTimings, *, run: bool
    ) -> None:
        self._url = url
        self._store = store
        self._make_runner = make_runner
        self._timings = timings
        self._run = run
        self._node = nodes.new_name()
        self._role: ProcessRole = "terminal" if run else "api"
        self._streams: Callable[[], int] = lambda: 0
        self._time = time.monotonic
        self._worker = 0
        self._last_heartbeat = 0.0
        """When the database last received our heartbeat."""
        self._back = float("-inf")
        """When it received one again after a silence in which we may have been taken for dead."""
        self._common = True
        """Whether we take from the shared queue, or only from our own."""
        self._opened = self._closed = False
        self._to_defer: dict[str, None] = {}
        """Debates for which a job has to be deferred, in the order in which they were requested."""
        self._deferring: asyncio.Task[None] | None = None
        self._background: list[asyncio.Task[None]] = []
        self._fetching: asyncio.Task[None] | None = None
        self._jobs_available = asyncio.Event()
        """There may be a job for this worker."""
        self._changed = asyncio.Event()
        """Our report in the table of nodes is out of date."""
        self._heartbeat: Heartbeat | None = None
        self._unregistered = asyncio.Event()
        """The database does not know this worker any more."""
        self._watchdog: Watchdog | None = None
        self._fetched = 0
        """Jobs that were fetched the last time."""
        self._unsure = True
        """A fetch has failed, or the queue says so: we may have been given jobs that we do not know of."""
        self._glance: QueueGlance | None = None
        """The queue at our last heartbeat."""
        self._stalled = asyncio.Event()
        """There may be jobs to take over."""

    # --- opening --------------------------------------------------------------------------------------

    async def open(self, *, recover: bool) -> None:
        # A heartbeat that waits longer for its answer would make the next one late, too.
        limit = min(self._timings.statement_seconds, max(self._timings.stall_seconds / 2, SHORTEST_SECONDS))
        self._queue = queue = await Queue.open(self._url, seconds=limit)
        if self._run:
            self._heartbeat = Heartbeat(
                self._url,
                every=self._timings.heartbeat_seconds,
                stall=self._timings.stall_seconds,
                within=limit,
                on_heartbeat=self._on_heartbeat,
            )
            try:
                await self._register()
            except BaseException:
                await finishes_within(queue.close(), CLOSE_SECONDS)
                raise
        self._outage = Outage()
        self._takeover = Takeover(queue, self._store, self._timings, self._queue_name)
        self._jobs = WorkerJobs(
            queue,
            self._store,
            self._make_runner,
            self._outage,
            name=lambda: self._name,
            queue_name=self._queue_name,
            over=self._job_done,
            others_wait=self._jobs_available.set,
        )
        self._opened = True
        self._common = recover or not self._run
        if self._heartbeat is not None:
            self._heartbeat.queue = self._queue_name()
            self._heartbeat.start()
            self._run_in_background(self._keep_registered, "registering again")
            self._run_in_background(self._listen_for_jobs, "listening for jobs")
            self._run_in_background(self._keep_taking_over, "takeover")
            self._run_in_background(self._keep_requeueing, "requeueing")
            self._fetching = asyncio.create_task(restart_forever(self._fetch), name="fetching of jobs")
        self._run_in_background(self._keep_reporting, "reporting")

    def announce(self, role: ProcessRole, streams: Callable[[], int]) -> None:
        self._role = role
        self._streams = streams
        self._changed.set()
        if self._run:
            self._watchdog = Watchdog(
                self._timings.stall_seconds,
                is_heard=lambda: worker_is_known(self._url, self._worker, self._timings.stall_seconds),
            )
            self._watchdog.start()

    def _run_in_background(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        self._background.append(asyncio.create_task(restart_forever(work), name=name))

    async def _register(self) -> None:
        began = self._time()
        self._worker = await self._queue.register()
        if self._heartbeat is not None:
            self._heartbeat.worker, self._heartbeat.queue = self._worker, self._queue_name()
        self._heard_at(began)

    def _on_heartbeat(self, worker: int, glance: QueueGlance | None, at: float) -> None:
        if worker != self._worker:
            return
        if glance is None:
            self._unregistered.set()
            return
        self._heard_at(at)
        self._glance = glance
        if glance.unclaimed is not None:
            self._takeover.saw_unclaimed(glance.unclaimed)
        self._unsure = self._unsure or glance.assigned > len(self._jobs)
        if glance.waiting or self._unsure:
            self._jobs_available.set()
        if glance.stalled:
            self._stalled.set()

    def _heard_at(self, at: float) -> None:
        if self._last_heartbeat and at - self._last_heartbeat > self._timings.stall_seconds:
            self._back = at
        self._last_heartbeat = max(at, self._last_heartbeat)
        if self._watchdog is not None:
            self._watchdog.beat()

    @property
    def _heartbeat_steady(self) -> bool:
        """If we could send no heartbeat, others could not either: afterwards all get the time of a stall to
        do so. Only a silence of our own counts, not a single query that failed: on a busy machine one always
        does, and then no worker would ever be taken over."""
        now, stall = self._time(), self._timings.stall_seconds
        return now - self._last_heartbeat <= stall <= now - self._back

    def _queue_name(self) -> str:
        """The queue for debates that are requested here."""
        return SHARED_QUEUE if self._common else queue_of(self._worker)

    @property
    def _name(self) -> str:
        return f"{self._node}#{self._worker}"

    async def figures(self) -> tuple[StoreFigures, QueueStats]:
        return await nodes.figures(self._queue, self._timings.stall_seconds)

    @property
    def takeovers(self) -> int:
        return self._takeover.count

    async def is_running(self, debate_id: str, runner: str) -> bool:
        number, stall = runner.rpartition("#")[2], self._timings.stall_seconds
        if number.isdecimal() and await self._queue.is_fresh(int(number), stall):
            return True
        return await nodes.has_pending_job(self._queue, debate_id, stall)

    @property
    def unreachable(self) -> bool:
        return self._outage.active

    # --- requests -------------------------------------------------------------------------------------

    def ensure_running(self, debate_id: str) -> None:
        if self._closed or self._jobs.request_rerun(debate_id):
            return
        self._to_defer[debate_id] = None
        if self._deferring is None or self._deferring.done():
            self._deferring = asyncio.create_task(self._defer(), name="deferring of jobs")

    async def recover(self) -> int:
        return await self._takeover.queue_unclaimed()

    async def _defer(self) -> None:
        """Nothing waits for this: it is tried until the database is back. What is requested meanwhile is
        deferred with the next statement."""
        while self._to_defer:
            debates, self._to_defer = self._to_defer, {}
            try:
                await self._defer_all(list(debates))
            except StoreError as error:
                self._to_defer = debates | self._to_defer
                self._outage.note(error)
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                self._jobs_available.set()

    async def _defer_all(self, debates: Sequence[str]) -> None:
        if not self._common:
            self._takeover.local_debates.update(debates)
        deferred = await self._queue.defer_all(debates, self._queue_name())
        if not self._common:
            # There may be no worker: what is requested at a terminal is run there.
            for debate_id in set(debates).difference(deferred):
                await self._move(SHARED_QUEUE, self._queue_name(), debate_id)

    async def _move(self, queue: str, to: str, debate_id: str | None = None) -> None:
        for job in await self._queue.waiting(queue, debate_id):
            await self._takeover.move(job, to)

    # --- what a worker does all the time --------------------------------------------------------------

    async def _keep_registered(self) -> None:
        while True:
            await self._unregistered.wait()
            with self._outage.tolerate():
                await self._register_again()
            await asyncio.sleep(AGAIN_SECONDS)

    async def _register_again(self) -> None:
        log.warning("this worker was taken for dead; it registers again under another number")
        before = self._queue_name()
        await self._register()
        self._unregistered.clear()
        if not self._common:
            # There may be no other worker: jobs for the old number would wait forever.
            await self._move(before, self._queue_name())

    async def _keep_reporting(self) -> None:
        reported, again_at = None, 0.0
        while True:
            self._changed.clear()
            report = (self._role, self._worker or None, len(self._jobs), self._streams())
            if report != reported or self._outage.active or self._time() >= again_at:
                with self._outage.tolerate():
                    await nodes.report_node(self._queue, self._node, *report)
                    reported, again_at = report, self._time() + REPORT_SECONDS
            await wait_for_event(self._changed, CHANGES_SECONDS)

    async def _listen_for_jobs(self) -> None:
        await self._queue.listen(self._jobs_available.set, self._queue_name())

    async def _keep_taking_over(self) -> None:
        while True:
            await self._stalled.wait()
            self._stalled.clear()
            if self._heartbeat_steady:
                with self._outage.tolerate():
                    await self._takeover.take_over_stalled(self._jobs.jobs, everywhere=self._common)

    async def _keep_requeueing(self) -> None:
        while True:
            if self._heartbeat_steady and self._glance is not None:
                with self._outage.tolerate():
                    await self._takeover.requeue_stranded(self._glance, everywhere=self._common)
                await asyncio.sleep(REQUEUE_SECONDS)
            else:
                await asyncio.sleep(min(REQUEUE_SECONDS, self._timings.heartbeat_seconds))

    async def _fetch(self) -> None:
        """Whenever there may be jobs: the queue notifies us of new ones, and each heartbeat says whether any
        are waiting. While heartbeats fail, the queue is asked, which shows whether it can be reached."""
        while not self._closed:
            self._jobs_available.clear()
            # Without a recent heartbeat, jobs would be taken over by others again at once.
            if self._time() - self._last_heartbeat < LATE_HEARTBEAT * self._timings.stall_seconds:
                with self._outage.tolerate():
                    await self._fetch_jobs()
            await asyncio.sleep(FETCH_PAUSE_SECONDS)
            while not self._jobs_available.is_set():
                await wait_for_event(self._jobs_available, max(self._late_in(), POLL_SECONDS))
                if self._late_in() < 0:
                    break

    def _late_in(self) -> float:
        """Seconds until the next heartbeat is late."""
        return self._last_heartbeat + self._timings.heartbeat_seconds + POLL_SECONDS - self._time()

    async def _fetch_jobs(self) -> None:
        """The only place where jobs are fetched."""
        if self._unsure:
            # Jobs assigned to us that we do not know of: no other worker could get them.
            taken = await self._queue.taken(self._worker)
            await self._takeover.take_over([job for job in taken if job not in self._jobs.jobs])
        self._unsure = True
        most, self._fetched = min(max(self._fetched, 1), FETCH_AT_ONCE), 0
        while (free := self._timings.debates - len(self._jobs)) > 0 and not self._closed:
            most = min(most, free)
            jobs = await self._queue.fetch(self._worker, self._queue_name(), most)
            for job in jobs:
                self._jobs.start(job)
            self._fetched += len(jobs)
            if len(jobs) < most:
                break
            # Where there is one there may be more; but some are left to the others.
            most = FETCH_AT_ONCE
        self._unsure = False

    def _job_done(self, debate_id: str, again: bool) -> None:
        self._takeover.local_debates.discard(debate_id)
        if again:
            self.ensure_running(debate_id)

    # --- closing --------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Fetch nothing more, park what runs, hand it over to the others, and only then unregister."""
        self._closed = True
        self._jobs_available.set()
        if not self._opened:
            return
        # A person waits at a terminal, and waiting longer would not help.
        in_haste = self._outage.active and not self._common
        drained = False
        try:
            drained = await finishes_within(self._drain(), CLOSE_SECONDS if in_haste else HAND_OVER_SECONDS)
            if not drained:
                log.warning("not all debates were handed over; other workers take them after MOOT_STALL_S")
        finally:
            await self._stop_tasks()
            if drained and not self._outage.active:
                await finishes_within(self._unregister(), CLOSE_SECONDS)
            await finishes_within(self._queue.close(), CLOSE_SECONDS if drained else SHORT_CLOSE_SECONDS)

    async def _drain(self) -> None:
        if self._fetching is not None:
            await asyncio.wait([self._fetching])
        await self._jobs.stop()
        if self._deferring is not None:
            await asyncio.wait([self._deferring])
        if not self._common:
            await self._move(self._queue_name(), SHARED_QUEUE)

    async def _stop_tasks(self) -> None:
        tasks = (*self._background, *self._jobs.tasks, *filter(None, [self._fetching, self._deferring]))
        threads = [thread.close() for thread in (self._heartbeat, self._watchdog) if thread is not None]
        await asyncio.gather(cancel(*tasks, within=CLOSE_SECONDS), *threads)

    async def _unregister(self) -> None:
        if self._worker:
            await self._queue.unregister(self._worker)
        await nodes.delete_node(self._queue, self._node)
