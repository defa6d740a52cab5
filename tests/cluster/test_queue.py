"""Workers over one queue in a real PostgreSQL: each debate is run once, whoever dies, stops or wakes late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import psycopg
import pytest
from msgspec.structs import replace
from procrastinate.schema import SchemaManager

from moot.cluster import nodes, queue_placement
from moot.cluster.queue import SHARED_QUEUE, DebateJob, Queue, queue_of
from moot.cluster.queue_placement import QueuePlacement
from moot.core.errors import NewerSchema, StoreError
from moot.core.events import CallStarted, DebateEnded, Recorded, TurnInterrupted, TurnStarted
from moot.core.ids import new_id
from moot.core.state import Debate
from moot.core.terms import Judge, Model
from moot.engine.arena import Arena
from moot.models.registry import ProviderRegistry
from moot.providers.scripted import ScriptedProvider
from moot.rules.commands import JudgeAgain, NextRound, Open, decide
from moot.rules.debate_setup import opening_event
from moot.settings import ClusterSettings, Settings
from moot.store.memory import MemoryStore
from tests.engine.conftest import QUICK
from tests.support.postgres import away, postgres_url

__all__ = ["postgres_url"]

MOTION = "This house would ban homework."
Seen = TypeVar("Seen")
BREAK_ALL = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
BRISK = ClusterSettings(heartbeat_seconds=0.1, stall_seconds=0.8)
PATIENT = ClusterSettings(heartbeat_seconds=0.1, stall_seconds=10)
"""Where nobody is to be taken for dead, however busy the machine."""


class Worker:
    """An arena whose debates are placed by the queue."""

    def __init__(self, arena: Arena, placement: QueuePlacement, provider: ScriptedProvider) -> None:
        self.arena = arena
        self.placement = placement
        self.provider = provider

    async def begin(self, rounds: int = 1) -> str:
        setup = await self.arena.setup(MOTION, model=Model("scripted", "demo"), rounds=rounds)
        return (await self.arena.create(setup, start=True)).debate.id

    def fall_silent(self) -> None:
        """It goes on working, but nobody hears that it lives."""
        assert self.placement._heartbeat is not None
        self.placement._heartbeat._closed = True
        for task in self.placement._background:
            task.cancel()


OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]


@pytest.fixture
def url(postgres_url: str) -> str:
    """A database of one's own."""
    name = f"q{uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    head, _, tail = postgres_url.partition("?")
    return f"{head.rpartition('/')[0]}/{name}{'?' + tail if tail else ''}"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def open_worker(url: str, store: MemoryStore, tmp_path: Path) -> OpenWorker:
    @asynccontextmanager
    async def open_it(
        *, run: bool = True, recover: bool = True, pace: float = 0.0, cluster: ClusterSettings = BRISK
    ) -> AsyncGenerator[Worker]:
        provider = ScriptedProvider(pace=pace)
        arena = Arena(
            Settings(data=tmp_path, pace=QUICK),
            store,
            ProviderRegistry({"scripted": provider}, models=tmp_path, environ={}),
        )
        placement = QueuePlacement(url, store, arena._runner, cluster, run=run)
        arena._placement = placement
        try:
            await placement.open(recover=recover)
            yield Worker(arena, placement, provider)
        finally:
            await arena.followers.close()
            await placement.close()

    return open_it


async def until(look: Callable[[], Awaitable[Seen]], enough: Callable[[Seen], bool]) -> Seen:
    while True:
        if enough(seen := await look()):
            return seen
        await asyncio.sleep(0.01)


async def until_not(true: Callable[[], object]) -> None:
    while True:
        if not true():
            return
        await asyncio.sleep(0.01)


async def over(store: MemoryStore, debate_id: str) -> list[Recorded]:
    """Its whole log, once it has ended."""
    await until(lambda: store.state(debate_id), lambda debate: debate.final)
    return list(await store.read(debate_id))


async def speaking(store: MemoryStore, debate_id: str) -> Debate:
    return await until(lambda: store.state(debate_id), lambda debate: bool(debate.calls))


def starts(records: list[Recorded]) -> list[int]:
    return [recorded.event.turn for recorded in records if isinstance(recorded.event, TurnStarted)]


def once(records: list[Recorded]) -> bool:
    """Nobody started a turn twice, and nobody wrote after another had taken over."""
    turns, epochs = starts(records), [recorded.epoch for recorded in records if recorded.epoch]
    return len(turns) == len(set(turns)) and epochs == sorted(epochs)


async def idle(worker: Worker) -> None:
    await until(worker.placement._queue.debates, lambda debates: not debates)


async def test_of_two_workers_one_runs_a_debate(open_worker: OpenWorker, store: MemoryStore):
    async with open_worker(cluster=PATIENT) as one, open_worker(cluster=PATIENT) as other:
        ids = [await worker.begin() for worker in (one, other) for _ in range(4)]
        logs = [await over(store, debate_id) for debate_id in ids]
        assert all(once(records) for records in logs)
        assert not any(isinstance(recorded.event, TurnInterrupted) for log in logs for recorded in log)
        calls = sum(isinstance(recorded.event, CallStarted) for log in logs for recorded in log)
        assert len(one.provider.calls) + len(other.provider.calls) == calls
        await idle(one)


async def test_a_process_that_runs_nothing_leaves_its_debates_to_the_workers(
    open_worker: OpenWorker, store: MemoryStore
):
    async with open_worker(run=False) as desk:
        waiting = await desk.begin()
        await until(lambda: desk.placement._queue.waiting(SHARED_QUEUE, waiting), bool)
        assert desk.placement._takeover.local_debates == set()
        async with open_worker() as worker:
            assert once(await over(store, waiting))
            assert once(await over(store, await desk.begin()))
            assert desk.provider.calls == []
            assert worker.provider.calls


async def test_what_waits_is_attended_where_somebody_works_for_all(open_worker: OpenWorker):
    """Whoever watches it must not take it for abandoned."""
    full = replace(PATIENT, debates=0)
    async with open_worker(run=False) as desk:
        debate_id = await desk.begin()
        await until(lambda: desk.placement._queue.waiting(SHARED_QUEUE, debate_id), bool)
        assert not await desk.arena.is_running(debate_id)
        async with open_worker(cluster=full) as worker:
            worker.placement._role = "worker"
            worker.placement._changed.set()
            await until(lambda: desk.arena.is_running(debate_id), bool)


async def test_what_is_held_at_a_terminal_runs_there(open_worker: OpenWorker, store: MemoryStore):
    async with (
        open_worker(cluster=PATIENT) as worker,
        open_worker(recover=False, cluster=PATIENT) as terminal,
    ):
        assert once(await over(store, await terminal.begin()))
        assert worker.provider.calls == []
        assert once(await over(store, await worker.begin()))
        assert worker.provider.calls


async def test_a_terminal_that_dies_leaves_its_debate_to_the_workers(
    open_worker: OpenWorker, store: MemoryStore
):
    async with open_worker(recover=False, pace=0.02) as terminal:
        running = await terminal.begin()
        await speaking(store, running)
        terminal.fall_silent()
        async with open_worker() as worker:
            assert once(await over(store, running))
            assert worker.provider.calls


@pytest.mark.parametrize("recover", [True, False], ids=["worker", "terminal"])
async def test_what_waits_for_a_terminal_that_died_is_found(
    open_worker: OpenWorker, store: MemoryStore, recover: bool
):
    async with open_worker(run=False) as desk:
        queue = desk.placement._queue
        gone = await queue.register()
        debate_id = await unheard(desk)
        await queue.defer(debate_id, queue_of(gone))
        await queue.unregister(gone)
        async with open_worker(recover=recover) as relief:
            relief.arena.run(debate_id)
            assert once(await over(store, debate_id))


async def test_who_asks_at_a_terminal_is_served_there_though_the_job_waits_for_a_worker(
    open_worker: OpenWorker, store: MemoryStore
):
    async with open_worker(run=False) as desk, open_worker(recover=False) as terminal:
        debate_id = await desk.begin()
        await until(lambda: desk.placement._queue.waiting(SHARED_QUEUE, debate_id), bool)
        terminal.arena.run(debate_id)
        assert once(await over(store, debate_id))
        assert terminal.provider.calls


async def test_a_worker_that_falls_silent_is_relieved_and_harmless(
    open_worker: OpenWorker, store: MemoryStore
):
    async with open_worker(pace=0.02) as silent:
        debate_id = await silent.begin()
        await speaking(store, debate_id)
        silent.fall_silent()
        async with open_worker() as other:
            records = await over(store, debate_id)
            assert once(records)
            assert other.provider.calls
            assert len({recorded.epoch for recorded in records if recorded.epoch}) == 2
            assert (silent.arena.takeovers, other.arena.takeovers) == (0, 1)
            assert sum(isinstance(recorded.event, DebateEnded) for recorded in records) == 1
            assert not await other.placement.is_running(debate_id, silent.placement._name)
            assert await other.placement.is_running(debate_id, other.placement._name)
            # It has noticed, and its end of the job has not ended the other's.
            await until_not(lambda: len(silent.placement._jobs))
            await idle(other)


async def test_the_silent_are_relieved_though_there_is_always_something_that_fails(
    open_worker: OpenWorker, store: MemoryStore
):
    async with open_worker(pace=0.02) as silent, open_worker() as other:
        other.placement._queue.fetch, fetch = failing, other.placement._queue.fetch
        debate_id = await silent.begin()
        await speaking(store, debate_id)
        job = silent.placement._jobs.jobs
        silent.fall_silent()
        # Its job is ended and another waits, although whoever looks after it can fetch nothing.
        await until(lambda: other.placement._queue.waiting(SHARED_QUEUE, debate_id), bool)
        assert not (await other.placement._queue.finish(job[:1])).ended
        other.placement._queue.fetch = fetch
        assert once(await over(store, debate_id))


async def failing(*_asked: Any) -> list[DebateJob]:
    raise StoreError


async def test_a_worker_that_was_struck_off_comes_back_and_works(open_worker: OpenWorker, store: MemoryStore):
    async with open_worker() as worker:
        before = worker.placement._worker
        await worker.placement._queue.unregister(before)
        await until_not(lambda: worker.placement._worker == before)
        assert once(await over(store, await worker.begin()))


async def test_who_leaves_hands_over_at_once(open_worker: OpenWorker, store: MemoryStore):
    slow = ClusterSettings(heartbeat_seconds=1, stall_seconds=60)
    async with open_worker(run=False, cluster=slow) as desk:
        async with open_worker(pace=0.02, cluster=slow) as first:
            debate_id = await desk.begin(rounds=2)
            await speaking(store, debate_id)
            await until_not(lambda: not first.provider.calls)
            calls = len(first.provider.calls)
        head = await store.head(debate_id)
        assert head.runner == ""
        assert len(first.provider.calls) == calls
        async with open_worker(cluster=slow) as second:
            records = await over(store, debate_id)
            assert once(records)
            assert second.provider.calls
        assert await nodes.list_nodes(desk.placement._queue, 60) != []


async def test_who_leaves_leaves_no_trace(open_worker: OpenWorker, store: MemoryStore, url: str):
    async with open_worker() as worker:
        await over(store, await worker.begin())
        await idle(worker)
    queue = await Queue.open(url, seconds=5)
    try:
        assert await nodes.list_nodes(queue, 1) == []
        assert await queue.query("SELECT FROM procrastinate_workers") == []
        assert await queue.query("SELECT FROM procrastinate_jobs") == []
    finally:
        await queue.close()


async def unheard(worker: Worker) -> str:
    """A debate that begins, and whose asker died before it could defer a job."""
    setup = await worker.arena.setup(MOTION, model=Model("scripted", "demo"), rounds=1)
    debate_id = new_id()
    await worker.arena.store.record(
        debate_id, lambda debate: decide(debate, Open(opening_event(setup), True))
    )
    return debate_id


@pytest.fixture
def often_requeued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_placement, "REQUEUE_SECONDS", 0.1)


@pytest.mark.usefixtures("often_requeued")
@pytest.mark.parametrize("ahead", [timedelta(), timedelta(hours=1)])
async def test_a_debate_without_a_job_is_found(open_worker: OpenWorker, store: MemoryStore, ahead: timedelta):
    """Also where the clock of its asker was ahead of the worker's."""
    store._clock = lambda: datetime.now(UTC) + ahead
    async with open_worker(run=False) as desk:
        debate_id = await unheard(desk)
        async with open_worker():
            assert once(await over(store, debate_id))


@pytest.mark.usefixtures("often_requeued")
async def test_a_judging_again_without_a_job_is_found(open_worker: OpenWorker, store: MemoryStore):
    """Its asker died between writing it and deferring a job."""
    async with open_worker() as worker:
        debate_id = await worker.begin()
        await over(store, debate_id)
        await idle(worker)
    judge = Judge("judge_2", "Owl", Model("scripted", "demo"))
    await store.record(debate_id, lambda debate: decide(debate, JudgeAgain((judge,))))
    async with open_worker():
        await until(lambda: store.state(debate_id), lambda debate: not debate.being_judged)
    assert len((await store.state(debate_id)).verdicts) == 2


async def test_a_debate_that_rests_is_not_folded_again_and_again(open_worker: OpenWorker, store: MemoryStore):
    async with open_worker(run=False) as desk:
        model = Model("scripted", "demo")
        setup = await desk.arena.setup(MOTION, model=model, rounds=2, auto=False)
        debate_id = (await desk.arena.create(setup, start=True)).debate.id
        async with open_worker() as worker:
            await until(lambda: store.state(debate_id), lambda debate: debate.status == "awaiting_arguments")
            await worker.arena.ask(debate_id, NextRound())
            await until(lambda: store.state(debate_id), lambda debate: debate.rounds_done == 1)
            lookout, version = worker.placement._takeover, (await store.head(debate_id)).version
            while lookout._search.idle_versions != {debate_id: version}:
                await idle(worker)
                assert await lookout.queue_unclaimed() == 0


async def test_a_job_that_was_lost_on_its_way_to_us_is_given_to_somebody(
    open_worker: OpenWorker, store: MemoryStore
):
    """The database has given it to us, and the line breaks before we hear of it."""
    async with open_worker() as worker:
        queue = worker.placement._queue
        fetch, lost = queue.fetch, list[DebateJob]()

        async def lose_the_first(*asked: Any) -> list[DebateJob]:
            posts = await fetch(*asked)
            if not posts or lost:
                return posts
            lost.extend(posts)
            raise StoreError

        queue.fetch = lose_the_first
        records = await over(store, await worker.begin())
        assert once(records)
        assert {recorded.epoch for recorded in records if recorded.epoch} != {lost[0].id}


async def test_a_job_that_is_ours_and_unknown_to_us_is_given_to_somebody(
    open_worker: OpenWorker, store: MemoryStore
):
    """As when a statement lands after it was given up."""
    async with open_worker() as worker:
        queue = worker.placement._queue
        fetch, lost = queue.fetch, list[DebateJob]()

        async def keep_the_first(*asked: Any) -> list[DebateJob]:
            posts = await fetch(*asked)
            if not posts or lost:
                return posts
            lost.extend(posts)
            return []

        queue.fetch = keep_the_first
        assert once(await over(store, await worker.begin()))


async def test_a_claim_whose_answer_was_lost_is_ours(open_worker: OpenWorker, store: MemoryStore):
    claim, lost = store.claim, list[str]()

    async def lose_the_first(debate_id: str, *asked: Any, **more: Any) -> int:
        epoch = await claim(debate_id, *asked, **more)
        if not lost:
            lost.append(debate_id)
            raise StoreError
        return epoch

    store.claim = lose_the_first
    async with open_worker() as worker:
        records = await over(store, await worker.begin())
    assert once(records)
    assert len({recorded.epoch for recorded in records if recorded.epoch}) == 1


async def test_many_debates_are_taken_over_at_once(url: str):
    queue = await Queue.open(url, seconds=10)
    try:
        names = [f"debate {number}" for number in range(10)]
        for name in names:
            await queue.defer(name)
        posts = await queue.fetch(await queue.register(), SHARED_QUEUE, most=20)
        assert sorted(post.debate for post in posts) == names
        assert await queue.fetch(await queue.register(), SHARED_QUEUE) == []
        # One is wanted again already, and another has been ended by somebody else.
        await queue.defer(names[0])
        await queue.finish(posts[1:2])
        assert sorted(await queue.replace(posts)) == sorted({*names} - {posts[1].debate})
        assert await queue.replace(posts) == []
        later = await queue.fetch(await queue.register(), SHARED_QUEUE, most=20)
        assert sorted(post.debate for post in later) == sorted({*names} - {posts[1].debate})
        assert min(post.id for post in later) > max(post.id for post in posts)
    finally:
        await queue.close()


async def test_a_spare_job_ends_by_itself(open_worker: OpenWorker, store: MemoryStore):
    async with open_worker() as worker:
        debate_id = await worker.begin()
        records = await over(store, debate_id)
        await worker.placement._queue.defer(debate_id)
        await idle(worker)
        assert await over(store, debate_id) == records


async def test_a_debate_that_is_deleted_leaves_its_job(open_worker: OpenWorker, store: MemoryStore):
    async with open_worker(pace=0.02) as worker:
        debate_id = await worker.begin()
        await speaking(store, debate_id)
        await store.delete(debate_id)
        await idle(worker)


async def test_one_that_asks_while_the_queue_is_away_is_heard_later(
    open_worker: OpenWorker, store: MemoryStore, url: str
):
    async with open_worker() as worker:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER TABLE procrastinate_jobs RENAME TO jobs_away")
            debate_id = await worker.begin()
            await until_not(lambda: not worker.placement._outage.active)
            connection.execute("ALTER TABLE jobs_away RENAME TO procrastinate_jobs")
        assert once(await over(store, debate_id))


async def test_a_database_that_is_restarted_costs_nobody_a_debate(
    open_worker: OpenWorker, store: MemoryStore, url: str
):
    """Every line breaks, ours and those that the jobs came by; whoever runs a debate goes on with it."""
    async with (
        open_worker(pace=0.004, cluster=PATIENT) as one,
        open_worker(pace=0.004, cluster=PATIENT) as other,
    ):
        ids = [await one.begin() for _ in range(6)]
        for debate_id in ids:
            await speaking(store, debate_id)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(BREAK_ALL)
            ids.append(await other.begin())
            connection.execute(BREAK_ALL)
        logs = [await over(store, debate_id) for debate_id in ids]
        assert all(once(records) for records in logs)
        assert not any(isinstance(recorded.event, TurnInterrupted) for log in logs for recorded in log)
        await idle(one)


async def test_a_database_that_is_away_is_told_of_once(
    open_worker: OpenWorker, url: str, postgres_url: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO", "moot.cluster.background_tasks")
    async with open_worker() as worker:
        placement, clock = worker.placement, asyncio.get_running_loop()
        with away(url, postgres_url):
            caplog.clear()
            # Until the heartbeat is late: then nothing is fetched, and that is no answer.
            await until_not(lambda: clock.time() - placement._last_heartbeat < 3 * BRISK.stall_seconds)
            assert placement.unreachable
            assert caplog.text.count("The queue does not answer") <= 1
        await until_not(lambda: placement.unreachable)
        assert "answers again" in caplog.text


async def test_several_that_come_at_once_make_the_tables_once(url: str):
    queues = await asyncio.gather(*[Queue.open(url, seconds=10) for _ in range(4)])
    for queue in queues:
        await queue.close()


async def test_the_tables_of_an_old_queue_are_brought_up_to_date(url: str):
    first = min(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(first.read_bytes())
        connection.execute("CREATE TABLE queue_schema (migration text NOT NULL)")
        connection.execute("INSERT INTO queue_schema VALUES (%s)", [first.name])
    queue = await Queue.open(url, seconds=10)
    try:
        assert await queue.defer("a debate")
        assert not await queue.defer("a debate")
        (post,) = await queue.fetch(await queue.register(), SHARED_QUEUE)
        assert (await queue.finish([post])).ended
        assert not (await queue.finish([post])).ended
    finally:
        await queue.close()


async def test_a_queue_of_later_days_is_refused(url: str):
    await (await Queue.open(url, seconds=10)).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE queue_schema SET migration = '99'")
    with pytest.raises(NewerSchema):
        await Queue.open(url, seconds=10)


async def test_where_there_is_no_database_it_says_so(store: MemoryStore):
    placement = QueuePlacement(
        "postgresql:///none?host=/nowhere",
        store,
        lambda _id, _epoch: pytest.fail("run"),
        BRISK,
        run=True,
    )
    with pytest.raises(StoreError):
        await placement.open(recover=True)
    await placement.close()


async def test_more_callers_than_connections_leave_the_queue_usable(url: str) -> None:
    queue = await Queue.open(url, seconds=0.3)
    try:
        for _ in range(3):
            answers = await asyncio.gather(
                *(queue.query("SELECT pg_sleep(0.01)") for _ in range(300)), return_exceptions=True
            )
            assert any(isinstance(answer, StoreError) for answer in answers)
        assert await queue.query("SELECT 1 AS one") == [{"one": 1}]
    finally:
        await queue.close()


async def test_connections_that_break_while_many_wait_for_one_leave_the_queue_usable(url: str) -> None:
    queue = await Queue.open(url, seconds=5)
    broken = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep'"
    try:
        callers = asyncio.gather(
            *(queue.query("SELECT pg_sleep(0.002)") for _ in range(300)), return_exceptions=True
        )
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as other:
            for _ in range(5):
                await asyncio.sleep(0.02)
                await other.execute(broken)
        assert not any(isinstance(answer, Exception) for answer in await callers)
        assert await queue.query("SELECT 1 AS one") == [{"one": 1}]
    finally:
        await queue.close()
