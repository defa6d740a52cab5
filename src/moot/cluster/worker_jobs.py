"""The debates that a worker runs, each from the job that it fetched to the end of that job.

A job ends when the debate needs no runner, when another worker has it, or when this worker stops, which hands
it over. A live worker must never leave a job unfinished: no other worker could get its debate.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from moot.cluster.background_tasks import AGAIN_SECONDS, Outage
from moot.cluster.queue import SHARED_QUEUE, DebateJob, Queue
from moot.core.errors import StoreError, UnknownDebate
from moot.engine.run_loop import MakeRunner, RunLoop
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


class WorkerJobs:
    def __init__(
        self,
        queue: Queue,
        store: Store,
        make_runner: MakeRunner,
        outage: Outage,
        *,
        name: Callable[[], str],
        over: Callable[[str, bool], None],
    ) -> None:
        """`name` returns the name of this worker for the heads of debates. `over` is called for each debate
        that ends here, with whether it has to be run again."""
        self._queue = queue
        self._store = store
        self._run_loop = RunLoop(store, make_runner)
        self._outage = outage
        self._name = name
        self._on_done = over
        self._running: dict[int, WorkerJob] = {}
        self._to_hand_over: set[DebateJob] = set()
        self._handing = asyncio.Lock()

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
        position = (await self._store.positions((job.debate,))).get(job.debate)
        if position is None:
            return None
        # An equal epoch is our own claim whose answer was lost, since no job is given out twice.
        if position.epoch > job.id:
            log.info("another worker has taken this debate over", extra={"debate": job.debate})
            return None
        if not wants_runner(await self._store.state(job.debate)):
            return None
        return await self._store.claim(job.debate, self._name(), seen_epoch=position.epoch, epoch=job.id)

    async def _finish(self, running: WorkerJob) -> None:
        while True:
            try:
                if self._run_loop.closed and (running.again or await self._wants(running.job.debate)):
                    await self._hand_over(running.job)
                else:
                    await self._queue.finish(running.job)
                return
            except StoreError as error:
                self._outage.note(error)
                await asyncio.sleep(AGAIN_SECONDS)

    async def _hand_over(self, job: DebateJob) -> None:
        """When all jobs stop at once, the first one hands over those that wait for the lock, too."""
        self._to_hand_over.add(job)
        async with self._handing:
            jobs, self._to_hand_over = self._to_hand_over, set()
            try:
                await self._queue.replace(list(jobs), SHARED_QUEUE)
            except BaseException:
                self._to_hand_over |= jobs
                raise

    async def _wants(self, debate_id: str) -> bool:
        try:
            return wants_runner(await self._store.state(debate_id))
        except UnknownDebate:
            return False
