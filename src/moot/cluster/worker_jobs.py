"""The debates that a worker runs, each from the job that it fetched to the end of that job.

A job ends when the debate needs no runner, when another worker has it, or when this worker stops, which hands
it over. A live worker must never leave a job unfinished: no other worker could get its debate.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from moot.cluster.background_tasks import AGAIN_SECONDS, Outage
from moot.cluster.queue import SHARED_QUEUE, DebateJob, Queue
from moot.core.errors import Fenced, StoreError, UnknownDebate
from moot.core.state import Debate
from moot.engine.claim_loop import ClaimLoop, MakeRunner
from moot.rules.runner_decisions import wants_runner
from moot.store.contract import Store

log = logging.getLogger(__name__)


class WorkerJob:
    def __init__(self, job: DebateJob) -> None:
        self.job = job
        self.again = False
        """This process has asked for another run meanwhile."""
        self.runner_task: asyncio.Task[None] | None = None
        self.task: asyncio.Task[None] | None = None
        self.started_at: float | None = None
        """When the debate was claimed; None where it needs no runner."""


class JobBatch:
    """Does something with jobs in one statement for all that wait for it at the same time."""

    def __init__(self, work: Callable[[Sequence[DebateJob]], Awaitable[None]]) -> None:
        self._work = work
        self._waiting: set[DebateJob] = set()
        self._working = asyncio.Lock()

    async def add(self, job: DebateJob) -> None:
        """Returns when the work is done for this job. The first to get the lock does it for the others."""
        self._waiting.add(job)
        async with self._working:
            jobs, self._waiting = self._waiting, set()
            if job not in jobs:
                self._waiting |= jobs
                return
            try:
                await self._work(list(jobs))
            except BaseException:
                self._waiting |= jobs
                raise


class WorkerJobs:
    def __init__(
        self,
        queue: Queue,
        store: Store,
        make_runner: MakeRunner,
        outage: Outage,
        *,
        name: Callable[[], str],
        queue_name: Callable[[], str],
        over: Callable[[str, bool], None],
        others_wait: Callable[[], None],
    ) -> None:
        """`name` returns the name of this worker for the heads of debates, `queue_name` that of the queue
        from which it takes jobs. `over` is called for each debate that ends here, with whether it has to be
        run again; `others_wait` where jobs were waiting in the queue then."""
        self._queue = queue
        self._store = store
        self._run_loop = ClaimLoop(store, make_runner)
        self._outage = outage
        self._name = name
        self._queue_name = queue_name
        self._on_done = over
        self._others_wait = others_wait
        self._running: dict[int, WorkerJob] = {}
        self._hand_over = JobBatch(self._replace_jobs)
        self._end = JobBatch(self._end_jobs)

    def __len__(self) -> int:
        return len(self._running)

    @property
    def jobs(self) -> list[DebateJob]:
        return [running.job for running in self._running.values()]

    def request_rerun(self, debate_id: str) -> bool:
        """Ask for another run of a debate that is being run here; False where it is not."""
        held = [running for running in self._running.values() if running.job.debate == debate_id]
        for running in held:
            running.again = True
        return bool(held)

    def start(self, job: DebateJob) -> None:
        running = self._running[job.id] = WorkerJob(job)
        running.task = asyncio.create_task(self._run(running), name=f"job of {job.debate}")

    async def stop(self) -> None:
        """Park all turns and hand the debates over to other workers."""
        self._run_loop.closed = True
        for running in self._running.values():
            if running.runner_task is not None:
                running.runner_task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        return [running.task for running in self._running.values() if running.task is not None]

    async def _run(self, running: WorkerJob) -> None:
        job = running.job
        try:
            await self._stop_older(job)
            run = self._run_loop.run(job.debate, lambda: self._claim(running))
            running.runner_task = asyncio.create_task(run, name=f"runner of {job.debate}")
            await asyncio.wait([running.runner_task])
            if not running.runner_task.cancelled() and (error := running.runner_task.exception()):
                log.error("the runner of a debate failed", exc_info=error, extra={"debate": job.debate})
                await asyncio.sleep(AGAIN_SECONDS)
            await self._finish(running)
            await self._log_end(running)
        finally:
            del self._running[job.id]
            self._on_done(job.debate, running.again)

    async def _stop_older(self, job: DebateJob) -> None:
        """Stop earlier runs of this debate, which we lost and got again before we had noticed."""
        same_debate = [one for one in self._running.values() if one.job.debate == job.debate]
        older = [one for one in same_debate if one.job.id < job.id]
        for running in older:
            if running.runner_task is not None:
                running.runner_task.cancel()
        if tasks := [running.task for running in older if running.task is not None]:
            await asyncio.wait(tasks)

    async def _claim(self, running: WorkerJob) -> int | None:
        job = running.job
        if not wants_runner(debate := await self._store.state(job.debate)):
            return None
        try:
            # An equal epoch is our own claim whose answer was lost, since no job is given out twice.
            epoch = await self._store.claim(job.debate, self._name(), epoch=job.id)
            if running.started_at is None:
                running.started_at = time.monotonic()
                log.info("a debate starts here", extra=_log_fields(debate))
            return epoch
        except Fenced:
            log.info("another worker has taken this debate over", extra={"debate": job.debate})
            return None

    async def _log_end(self, running: WorkerJob) -> None:
        """Where the store cannot be read, nothing is logged: it reports that itself."""
        if running.started_at is None:
            return
        seconds = {"seconds": round(time.monotonic() - running.started_at, 1)}
        with suppress(StoreError, UnknownDebate):
            debate = await self._store.state(running.job.debate)
            if wants_runner(debate):
                words = "a debate is left to another worker"
            else:
                words = "a debate has ended" if debate.final else "a debate waits, and needs no worker"
            log.info(words, extra=_log_fields(debate) | seconds)

    async def _finish(self, running: WorkerJob) -> None:
        while True:
            try:
                if self._run_loop.closed and (running.again or await self._wants(running.job.debate)):
                    await self._hand_over.add(running.job)
                else:
                    await self._end.add(running.job)
                return
            except StoreError as error:
                self._outage.note(error)
                await asyncio.sleep(AGAIN_SECONDS)

    async def _replace_jobs(self, jobs: Sequence[DebateJob]) -> None:
        await self._queue.replace(jobs, SHARED_QUEUE)

    async def _end_jobs(self, jobs: Sequence[DebateJob]) -> None:
        if (await self._queue.finish(jobs, self._queue_name())).waiting:
            self._others_wait()

    async def _wants(self, debate_id: str) -> bool:
        try:
            return wants_runner(await self._store.state(debate_id))
        except UnknownDebate:
            return False


def _log_fields(debate: Debate) -> dict[str, str | float]:
    return {"debate": debate.id, "status": debate.status, "cost_usd": float(debate.cost_so_far)}
