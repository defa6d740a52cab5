"""The debates that a worker is at: one shift for each, from the job that it fetched to the end of that job.

A shift ends when the debate wants no runner, when another worker has it, or when this one leaves; then it is
handed over. While we live a job must not stay behind: nobody else could ever have its debate.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from moot.cluster.background_tasks import AGAIN_SECONDS
from moot.cluster.outage import Outage
from moot.cluster.queue import COMMON, Post, Queue
from moot.core.errors import StoreError, UnknownDebate
from moot.engine.placement import MakeRunner, wants_runner
from moot.engine.run_loop import Holding
from moot.store.contract import Store

log = logging.getLogger(__name__)


class Shift:
    def __init__(self, post: Post) -> None:
        self.post = post
        self.again = False
        """Somebody here has asked for something meanwhile."""
        self.running: asyncio.Task[None] | None = None
        self.whole: asyncio.Task[None] | None = None


class Shifts:
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
        self._holding = Holding(store, make_runner)
        self._outage = outage
        self._name = name
        self._over = over
        self._shifts: dict[int, Shift] = {}
        self._leaving: set[Post] = set()
        self._handing = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._shifts)

    @property
    def posts(self) -> list[Post]:
        return [shift.post for shift in self._shifts.values()]

    def note(self, debate_id: str) -> bool:
        """Somebody asks for a debate that is being run here; False where it is not."""
        held = [shift for shift in self._shifts.values() if shift.post.debate == debate_id]
        for shift in held:
            shift.again = True
        return bool(held)

    def begin(self, post: Post) -> None:
        shift = self._shifts[post.id] = Shift(post)
        shift.whole = asyncio.create_task(self._work(shift), name=f"shift at {post.debate}")

    async def end(self) -> None:
        """Park all turns and hand the debates over."""
        self._holding.closed = True
        for shift in self._shifts.values():
            if shift.running is not None:
                shift.running.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        return [shift.whole for shift in self._shifts.values() if shift.whole is not None]

    async def _work(self, shift: Shift) -> None:
        post = shift.post
        try:
            await self._end_older(post)
            run = self._holding.run(post.debate, lambda: self._claim(shift))
            shift.running = asyncio.create_task(run, name=f"runner of {post.debate}")
            await asyncio.wait([shift.running])
            if not shift.running.cancelled() and (error := shift.running.exception()):
                log.error("the runner failed", exc_info=error, extra={"debate": post.debate})
                await asyncio.sleep(AGAIN_SECONDS)
            await self._finish(shift)
        finally:
            del self._shifts[post.id]
            self._over(post.debate, shift.again)

    async def _end_older(self, post: Post) -> None:
        """Where we lost this debate, and got it once more before we had noticed."""
        older = [s for s in self._shifts.values() if s.post.debate == post.debate and s.post.id < post.id]
        for shift in older:
            if shift.running is not None:
                shift.running.cancel()
        if wholes := [shift.whole for shift in older if shift.whole is not None]:
            await asyncio.wait(wholes)

    async def _claim(self, shift: Shift) -> int | None:
        post = shift.post
        head = await self._store.head(post.debate)
        # The same number is ours, since no job is given out twice: a claim whose answer was lost has landed.
        if head.epoch > post.id:
            log.info("lost to another worker", extra={"debate": post.debate})
            return None
        if not wants_runner(await self._store.state(post.debate)):
            return None
        return await self._store.claim(post.debate, self._name(), seen_epoch=head.epoch, epoch=post.id)

    async def _finish(self, shift: Shift) -> None:
        while True:
            try:
                if self._holding.closed and (shift.again or await self._wants(shift.post.debate)):
                    await self._hand_over(shift.post)
                else:
                    await self._queue.finish(shift.post)
                return
            except StoreError as error:
                self._outage.note(error)
                await asyncio.sleep(AGAIN_SECONDS)

    async def _hand_over(self, post: Post) -> None:
        """All leave at the same time: whoever comes first takes along those who wait for him."""
        self._leaving.add(post)
        async with self._handing:
            posts, self._leaving = self._leaving, set()
            try:
                await self._queue.replace(list(posts), COMMON)
            except BaseException:
                self._leaving |= posts
                raise

    async def _wants(self, debate_id: str) -> bool:
        try:
            return wants_runner(await self._store.state(debate_id))
        except UnknownDebate:
            return False
