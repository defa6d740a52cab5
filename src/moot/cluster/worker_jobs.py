"""The debates that a worker is at: one shift for each, from the job that it fetched to the end of that job.

A shift ends when the debate wants no runner, when another worker has it, or when this one leaves; then it is
handed over. While we live a job must not stay behind: nobody else could ever have its debate.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from moot.cluster.background_tasks import AGAIN_SECONDS, Outage
from moot.cluster.queue import SHARED_QUEUE, DebateJob, Queue
from moot.core.errors import StoreError, UnknownDebate
from moot.engine.placement import MakeRunner, wants_runner
from moot.engine.run_loop import RunLoop
from moot.store.contract import Store

log = logging.getLogger(__name__)


class WorkerJob:
    def __init__(self, post: DebateJob) -> None:
        self.job = post
        self.again = False
        """Somebody here has asked for something meanwhile."""
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
        """`name` is ours in the heads of the debates. `over` is told of each that ends, and whether there is
        more to do in it."""
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
        return [shift.job for shift in self._running.values()]

    def request_rerun(self, debate_id: str) -> bool:
        """Somebody asks for a debate that is being run here; False where it is not."""
        held = [shift for shift in self._running.values() if shift.job.debate == debate_id]
        for shift in held:
            shift.again = True
        return bool(held)

    def start(self, post: DebateJob) -> None:
        shift = self._running[post.id] = WorkerJob(post)
        shift.task = asyncio.create_task(self._run(shift), name=f"shift at {post.debate}")

    async def stop(self) -> None:
        """Park all turns and hand the debates over."""
        self._run_loop.closed = True
        for shift in self._running.values():
            if shift.runner_task is not None:
                shift.runner_task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        return [shift.task for shift in self._running.values() if shift.task is not None]

    async def _run(self, shift: WorkerJob) -> None:
        post = shift.job
        try:
            await self._stop_older(post)
            run = self._run_loop.run(post.debate, lambda: self._claim(shift))
            shift.runner_task = asyncio.create_task(run, name=f"runner of {post.debate}")
            await asyncio.wait([shift.runner_task])
            if not shift.runner_task.cancelled() and (error := shift.runner_task.exception()):
                log.error("the runner failed", exc_info=error, extra={"debate": post.debate})
                await asyncio.sleep(AGAIN_SECONDS)
            await self._finish(shift)
        finally:
            del self._running[post.id]
            self._on_done(post.debate, shift.again)

    async def _stop_older(self, post: DebateJob) -> None:
        """Where we lost this debate, and got it once more before we had noticed."""
        older = [s for s in self._running.values() if s.job.debate == post.debate and s.job.id < post.id]
        for shift in older:
            if shift.runner_task is not None:
                shift.runner_task.cancel()
        if wholes := [shift.task for shift in older if shift.task is not None]:
            await asyncio.wait(wholes)

    async def _claim(self, shift: WorkerJob) -> int | None:
        post = shift.job
        head = await self._store.head(post.debate)
        # The same number is ours, since no job is given out twice: a claim whose answer was lost has landed.
        if head.epoch > post.id:
            log.info("lost to another worker", extra={"debate": post.debate})
            return None
        if not wants_runner(await self._store.state(post.debate)):
            return None
        return await self._store.claim(post.debate, self._name(), seen_epoch=head.epoch, epoch=post.id)

    async def _finish(self, shift: WorkerJob) -> None:
        while True:
            try:
                if self._run_loop.closed and (shift.again or await self._wants(shift.job.debate)):
                    await self._hand_over(shift.job)
                else:
                    await self._queue.finish(shift.job)
                return
            except StoreError as error:
                self._outage.note(error)
                await asyncio.sleep(AGAIN_SECONDS)

    async def _hand_over(self, post: DebateJob) -> None:
        """All leave at the same time: whoever comes first takes along those who wait for him."""
        self._to_hand_over.add(post)
        async with self._handing:
            posts, self._to_hand_over = self._to_hand_over, set()
            try:
                await self._queue.replace(list(posts), SHARED_QUEUE)
            except BaseException:
                self._to_hand_over |= posts
                raise

    async def _wants(self, debate_id: str) -> bool:
        try:
            return wants_runner(await self._store.state(debate_id))
        except UnknownDebate:
            return False
