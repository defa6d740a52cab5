"""Debates run by the workers of several machines, who take them from a queue in PostgreSQL.

Whoever wants a debate to be run defers a job; a worker fetches it and runs the debate under the job's number
as its epoch. Workers say each second that they live. Of one that falls silent the others end the jobs and
defer new ones; should it wake up, its epoch is over, and it leaves quietly. A spare job does no harm: whoever
fetches it folds the debate, finds nothing to do, and ends it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from moot.cluster import nodes
from moot.cluster.background_tasks import AGAIN_SECONDS, cancel, either, for_ever, in_time
from moot.cluster.heartbeat import Heartbeat
from moot.cluster.outage import Outage
from moot.cluster.queue import COMMON, Queue, queue_of
from moot.cluster.takeover import Lookout
from moot.cluster.watchdog import Watchdog, heard_of
from moot.cluster.worker_jobs import Shifts
from moot.core.errors import StoreError
from moot.engine.placement import MakeRunner, Rhythm, Role, Waiting
from moot.store.contract import Store

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
TELL_SECONDS = 2.0
LEAVE_SECONDS = 4.0
"""How long all that is to be parked and handed over may take. Behind us the store closes, and wants its time
as well: together it must be less than a process that leaves is given."""
FAREWELL_SECONDS = 1.0
HASTE_SECONDS = 0.1
"""For what is in nobody's way if it is left undone."""
SHORTEST_SECONDS = 1.0
"""Less time for an answer than this is none, however short a stall is."""
LATE = 0.75
"""The part of a stall after which a heartbeat is late."""
AROUND_SECONDS = 5.0
COUNT_SECONDS = 5.0
FETCH = 8
"""So many debates are taken at a time."""


class Queued:
    def __init__(self, url: str, store: Store, make_runner: MakeRunner, rhythm: Rhythm, *, run: bool) -> None:
        self._url = url
        self._store = store
        self._make_runner = make_runner
        self._rhythm = rhythm
        self._run = run
        self._node = nodes.new_name()
        self._role: Role = "terminal" if run else "api"
        self._streams: Callable[[], int] = lambda: 0
        self._time = time.monotonic
        self._worker = 0
        self._beaten = 0.0
        """When the database last heard that we live."""
        self._back = float("-inf")
        """When it heard of us again after a silence in which we might have been taken for dead."""
        self._common = True
        """Whether we take from the common queue, or only from our own."""
        self._opened = self._closed = False
        self._errands: set[asyncio.Task[None]] = set()
        self._standing: list[asyncio.Task[None]] = []
        self._fetching: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        """There may be a job for us."""
        self._changed = asyncio.Event()
        """There is something new to tell of us."""
        self._heart: Heartbeat | None = None
        self._struck_off = asyncio.Event()
        """The others do not know us any more."""
        self._watchdog: Watchdog | None = None
        self._unsure = False
        """A fetch has failed on the way: a job may be ours of which we do not know."""
        self._count_at = 0.0

    # --- coming ---------------------------------------------------------------------------------------

    async def open(self, *, recover: bool) -> None:
        # A heartbeat that waits longer for its answer would be late, and so would the next.
        limit = min(self._rhythm.statement_seconds, max(self._rhythm.stall_seconds / 2, SHORTEST_SECONDS))
        self._queue = queue = await Queue.open(self._url, seconds=limit)
        if self._run:
            self._heart = Heartbeat(
                self._url,
                every=self._rhythm.heartbeat_seconds,
                stall=self._rhythm.stall_seconds,
                within=limit,
                heard=self._heard,
            )
            try:
                await self._register()
            except BaseException:
                await in_time(queue.close(), FAREWELL_SECONDS)
                raise
        self._outage = Outage()
        self._lookout = Lookout(queue, self._store, self._rhythm, self._to)
        self._shifts = Shifts(
            queue, self._store, self._make_runner, self._outage, name=lambda: self._name, over=self._over
        )
        self._opened = True
        self._common = recover or not self._run
        if self._heart is not None:
            self._heart.start()
            self._stand(self._heart.turn, "turning of the loop")
            self._stand(self._coming_back, "coming back")
            self._stand(self._listening, "listening for jobs")
            self._stand(self._looking, "lookout")
            self._stand(self._looking_around, "looking around")
            self._fetching = asyncio.create_task(for_ever(self._fetch), name="fetching of jobs")
        self._stand(self._telling, "telling of us")

    def appear(self, role: Role, streams: Callable[[], int]) -> None:
        self._role = role
        self._streams = streams
        self._changed.set()
        if self._run:
            self._watchdog = Watchdog(
                self._rhythm.stall_seconds,
                is_heard=lambda: heard_of(self._url, self._worker, self._rhythm.stall_seconds),
            )
            self._watchdog.start()

    def _stand(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        self._standing.append(asyncio.create_task(for_ever(work), name=name))

    async def _register(self) -> None:
        began = self._time()
        self._worker = await self._queue.register()
        if self._heart is not None:
            self._heart.worker = self._worker
        self._heard(self._worker, True, began)

    def _heard(self, worker: int, known: bool, at: float) -> None:
        if worker != self._worker:
            return
        if not known:
            self._struck_off.set()
            return
        if self._beaten and at - self._beaten > self._rhythm.stall_seconds:
            self._back = at
        self._beaten = max(at, self._beaten)
        if self._watchdog is not None:
            self._watchdog.beat()

    @property
    def _steady(self) -> bool:
        """Where we could not say that we live nobody could: when that is over, all get a stall's time for it.
        Only a silence of ours counts. One question that failed says nothing, and on a busy machine there is
        always one: if that counted nobody would ever be looked after."""
        now, stall = self._time(), self._rhythm.stall_seconds
        return now - self._beaten <= stall <= now - self._back

    def _to(self) -> str:
        """The queue of whatever is wanted here."""
        return COMMON if self._common else queue_of(self._worker)

    @property
    def _name(self) -> str:
        return f"{self._node}#{self._worker}"

    async def waiting(self) -> Waiting:
        return await nodes.waiting(self._queue, self._rhythm.stall_seconds)

    async def is_attended(self, debate_id: str, runner: str) -> bool:
        number, stall = runner.rpartition("#")[2], self._rhythm.stall_seconds
        if number.isdecimal() and await self._queue.is_fresh(int(number), stall):
            return True
        return await nodes.is_expected(self._queue, debate_id, stall)

    @property
    def away(self) -> bool:
        return self._outage.lasts

    # --- wanting --------------------------------------------------------------------------------------

    def want(self, debate_id: str) -> None:
        if self._closed or self._shifts.note(debate_id):
            return
        task = asyncio.create_task(self._defer(debate_id), name=f"wish for {debate_id}")
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    async def recover(self) -> int:
        return await self._lookout.find_forgotten()

    async def _defer(self, debate_id: str) -> None:
        """Nobody waits for this: it is tried until the database is back."""
        if not self._common:
            self._lookout.wanted.add(debate_id)
        while True:
            try:
                if not await self._queue.defer(debate_id, self._to()) and not self._common:
                    # Perhaps nobody works: whoever asks at a terminal is served there.
                    await self._move(COMMON, self._to(), debate_id)
                break
            except StoreError as error:
                self._outage.note(error)
                await asyncio.sleep(AGAIN_SECONDS)
        self._news.set()

    async def _move(self, queue: str, to: str, debate_id: str | None = None) -> None:
        for post in await self._queue.waiting(queue, debate_id):
            await self._lookout.move(post, to)

    # --- what a worker does all the time --------------------------------------------------------------

    async def _coming_back(self) -> None:
        while True:
            await self._struck_off.wait()
            with self._outage.borne():
                await self._come_back()
            await asyncio.sleep(AGAIN_SECONDS)

    async def _come_back(self) -> None:
        log.warning("the others took this worker for dead; it comes back under another number")
        before = self._to()
        await self._register()
        self._struck_off.clear()
        if not self._common:
            # Perhaps nobody else works: what waits for the old number would wait for ever.
            await self._move(before, self._to())

    async def _telling(self) -> None:
        while True:
            self._changed.clear()
            with self._outage.borne():
                worker, streams = self._worker or None, self._streams()
                await nodes.tell(self._queue, self._node, self._role, worker, len(self._shifts), streams)
            await either(self._changed, TELL_SECONDS)

    async def _listening(self) -> None:
        await self._queue.listen(self._news.set, self._to())

    async def _looking(self) -> None:
        while True:
            if self._steady:
                with self._outage.borne():
                    await self._lookout.look(self._shifts.posts, everywhere=self._common)
            await asyncio.sleep(self._rhythm.heartbeat_seconds)

    async def _looking_around(self) -> None:
        while True:
            if self._steady:
                with self._outage.borne():
                    await self._lookout.look_around(everywhere=self._common)
            await asyncio.sleep(AROUND_SECONDS)

    async def _fetch(self) -> None:
        while not self._closed:
            self._news.clear()
            # Whoever is not heard of, or has just woken up, would be robbed of them again at once.
            if self._time() - self._beaten < LATE * self._rhythm.stall_seconds:
                with self._outage.borne():
                    await self._fill()
            await either(self._news, POLL_SECONDS)

    async def _fill(self) -> None:
        """Here and nowhere else jobs become ours."""
        if self._unsure or self._time() >= self._count_at:
            # Whatever the reason: what the queue says is ours, and we know nothing of, nobody else can have.
            taken = await self._queue.taken(self._worker)
            await self._lookout.take_over([post for post in taken if post not in self._shifts.posts])
            self._count_at = self._time() + COUNT_SECONDS
        self._unsure = True
        most = 1
        while (free := self._rhythm.debates - len(self._shifts)) > 0 and not self._closed:
            most = min(most, free)
            posts = await self._queue.fetch(self._worker, self._to(), most)
            for post in posts:
                self._shifts.begin(post)
            if len(posts) < most:
                break
            # Where there is one there may be more; but the others shall have some, too.
            most = FETCH
        self._unsure = False

    def _over(self, debate_id: str, again: bool) -> None:
        self._news.set()
        self._lookout.wanted.discard(debate_id)
        if again:
            self.want(debate_id)

    # --- leaving --------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Fetch nothing more, park what runs, leave it to the others, and only then be gone."""
        self._closed = True
        self._news.set()
        if not self._opened:
            return
        # Somebody waits at a terminal, and there is nothing to be had by patience.
        in_haste = self._outage.lasts and not self._common
        drained = False
        try:
            drained = await in_time(self._drain(), FAREWELL_SECONDS if in_haste else LEAVE_SECONDS)
            if not drained:
                log.warning("not everything could be handed over; others find it once we are gone")
        finally:
            await self._dismiss()
            if drained and not self._outage.lasts:
                await in_time(self._say_farewell(), FAREWELL_SECONDS)
            await in_time(self._queue.close(), FAREWELL_SECONDS if drained else HASTE_SECONDS)

    async def _drain(self) -> None:
        if self._fetching is not None:
            await asyncio.wait([self._fetching])
        await self._shifts.end()
        await asyncio.gather(*self._errands, return_exceptions=True)
        if not self._common:
            await self._move(self._to(), COMMON)

    async def _dismiss(self) -> None:
        tasks = (*self._standing, *self._errands, *self._shifts.tasks, *filter(None, [self._fetching]))
        threads = [thread.close() for thread in (self._heart, self._watchdog) if thread is not None]
        await asyncio.gather(cancel(*tasks, within=FAREWELL_SECONDS), *threads)

    async def _say_farewell(self) -> None:
        if self._worker:
            await self._queue.unregister(self._worker)
        await nodes.leave(self._queue, self._node)
