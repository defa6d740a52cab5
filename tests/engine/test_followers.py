"""Followers are cursors: late, slow, cut off or many, each reads the whole log once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import StoreError
from moot.core.events import CallDelta, Event, Recorded, RemarkInjected
from moot.engine.followers import PAGE, TAIL_SIZE, Followers, MemoryBus
from moot.store.contract import AppendStreamed, LogPosition
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore
from moot.testing.event_factories import call_started, opened, turn_started
from moot.testing.store_contract import append_streamed
from tests.support.until import until

DEBATE = "deb_1"


class Deaf(MemoryBus):
    """Loses every message."""

    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        pass


class Forgetful(Deaf):
    """Says that it delivers."""

    delivers = True


async def begun(store: MemoryStore | SqliteStore, bus: MemoryBus | None = None) -> Followers:
    bus = bus or MemoryBus()
    store.listen(bus.publish)
    await store.record(DEBATE, lambda _: (opened(), turn_started(), call_started()))
    return Followers(store, bus)


async def say(store: MemoryStore | SqliteStore, *texts: str) -> None:
    await append_streamed(store, DEBATE, [CallDelta(1, 0, "text", text) for text in texts], epoch=0)


async def collect(hub: Followers, upto: int, after: int = 0, pause: float = 0.0) -> list[int]:
    seqs: list[int] = []
    async for batch in hub.follow(DEBATE, after):
        seqs += [recorded.seq for recorded in batch]
        await asyncio.sleep(pause)
        if seqs[-1] >= upto:
            return seqs
    return seqs


async def test_a_late_follower_reads_the_log_and_then_the_tail() -> None:
    store = MemoryStore()
    hub = await begun(store)
    await say(store, "a", "b")
    following = asyncio.create_task(collect(hub, 7))
    await asyncio.sleep(0.01)
    await say(store, "c", "d")
    assert await following == [1, 2, 3, 4, 5, 6, 7]
    await hub.close()


async def test_a_slow_follower_loses_nothing_and_delays_nobody() -> None:
    store = MemoryStore()
    hub = await begun(store)
    total = 3 + TAIL_SIZE + 500
    slow = asyncio.create_task(collect(hub, total, pause=0.01))
    quick = asyncio.create_task(collect(hub, total))
    await asyncio.sleep(0.01)
    for _ in range((TAIL_SIZE + 500) // 4):
        await say(store, "a", "b", "c", "d")
    assert await quick == list(range(1, total + 1))
    assert not slow.done()
    assert await slow == list(range(1, total + 1))
    await hub.close()


@pytest.mark.parametrize("after", [0, 1, 3, 4, 700])
async def test_a_returning_follower_goes_on_where_it_was(after: int) -> None:
    store = MemoryStore()
    hub = await begun(store)
    await say(store, *["word"] * (PAGE * 2))
    assert await collect(hub, 3 + PAGE * 2, after) == list(range(after + 1, 3 + PAGE * 2 + 1))
    await hub.close()


async def test_lost_messages_only_cost_time() -> None:
    store = MemoryStore()
    hub = await begun(store, Deaf())
    following = asyncio.create_task(collect(hub, 5))
    await asyncio.sleep(0.01)
    await say(store, "a", "b")
    assert await asyncio.wait_for(following, 60) == [1, 2, 3, 4, 5]
    await hub.close()


async def test_words_do_not_wake_those_who_wait_for_turns() -> None:
    store = MemoryStore()
    hub = await begun(store)
    seen: list[Event] = []

    async def follow() -> None:
        async for batch in hub.follow(DEBATE, 3, turns_only=True):
            seen.extend(recorded.event for recorded in batch)

    following = asyncio.create_task(follow())
    await asyncio.sleep(0.01)
    await say(store, "a", "b")
    await asyncio.sleep(0.01)
    assert seen == []
    await store.record(DEBATE, lambda _: (RemarkInjected(1, "Louder!"),))
    await asyncio.sleep(0.01)
    assert seen == [RemarkInjected(1, "Louder!")]
    await hub.close()
    await asyncio.wait_for(following, 60)


async def test_deleting_ends_the_stream() -> None:
    store = MemoryStore()
    hub = await begun(store)
    following = asyncio.create_task(collect(hub, 1000))
    await asyncio.sleep(0.01)
    await store.delete(DEBATE)
    assert await asyncio.wait_for(following, 60) == [1, 2, 3]
    await hub.close()


async def test_commits_of_another_process_are_noticed(tmp_path: Path) -> None:
    ours, theirs = SqliteStore.open(tmp_path / "moot.db"), SqliteStore.open(tmp_path / "moot.db")
    hub = await begun(ours)
    following = asyncio.create_task(collect(hub, 5))
    await asyncio.sleep(0.05)
    await say(theirs, "a", "b")
    assert await asyncio.wait_for(following, 60) == [1, 2, 3, 4, 5]
    await hub.close()
    await ours.close()
    await theirs.close()


# --- news that come as they like ----------------------------------------------------------------------


class Whispering(MemoryBus):
    """Keeps what is published, until somebody tells it: in any order, twice, or never."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[Recorded, ...]] = []
        self.heeded: list[tuple[str, bool | None]] = []

    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        self.kept.append(records or ())

    def tell(self, *numbers: int) -> None:
        for number in numbers:
            super().publish(DEBATE, self.kept[number])

    def subscribe(self, debate_id: str, *, words: bool) -> None:
        self.heeded.append((debate_id, words))

    def unsubscribe(self, debate_id: str) -> None:
        self.heeded.append((debate_id, None))


class Unsteady(MemoryStore):
    """Away when it is told to be."""

    away = False
    asked = 0

    async def read(self, debate_id: str, after: int = 0, limit: int = 1000) -> tuple[Recorded, ...]:
        self.asked += 1
        if self.away:
            raise StoreError
        return await super().read(debate_id, after, limit)

    async def positions(self, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
        if self.away:
            raise StoreError
        return await super().positions(debate_ids)


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


Following = tuple[list[Recorded], asyncio.Task[None]]


def following(hub: Followers, after: int = 0, *, turns_only: bool = False) -> Following:
    seen: list[Recorded] = []

    async def follow() -> None:
        async for batch in hub.follow(DEBATE, after, turns_only=turns_only):
            seen.extend(batch)

    return seen, asyncio.create_task(follow())


async def written(store: MemoryStore, kinds: Sequence[bool]) -> None:
    """Turns and words, one commit each."""
    for turn in kinds:
        if turn:
            await store.record(DEBATE, lambda _: (RemarkInjected(1, "Louder!"),))
        else:
            await say(store, "word")


@settings(max_examples=60)
@given(
    kinds=st.lists(st.booleans(), min_size=1, max_size=12),
    after=st.integers(0, 6),
    turns_only=st.booleans(),
    data=st.data(),
)
def test_whatever_becomes_of_the_news_nothing_is_missed_or_seen_twice(
    kinds: list[bool], after: int, turns_only: bool, data: st.DataObject
) -> None:
    told = data.draw(st.lists(st.integers(1, len(kinds)), max_size=20))

    async def play() -> tuple[list[Recorded], list[Recorded]]:
        store, bus = MemoryStore(), Whispering()
        hub = await begun(store, bus)
        early = data.draw(st.integers(0, len(kinds)))
        await written(store, kinds[:early])
        seen, task = following(hub, after, turns_only=turns_only)
        if data.draw(st.booleans()):
            await settled()
        await written(store, kinds[early:])
        for number in told:
            bus.tell(number)
            if data.draw(st.booleans()):
                await settled()
        # In the end the heads are looked up, as once a second.
        bus.kept.append(())
        bus.tell(len(bus.kept) - 1)
        log = await store.read(DEBATE, after)
        shown = [r for r in log if not turns_only or not isinstance(r.event, CallDelta)]
        await until(lambda: len(seen) >= len(shown))
        await settled()
        await hub.close()
        await task
        return seen, shown

    seen, shown = asyncio.run(play())
    assert seen == shown


async def test_a_turn_that_was_lost_among_words_is_not_lost_on_those_who_wait_for_turns() -> None:
    """They hear only later words, and the head that is looked up is no further than those."""
    store, bus = MemoryStore(), Whispering()
    hub = await begun(store, bus)
    seen, task = following(hub, 3, turns_only=True)
    await settled()
    await written(store, [False, True, False])
    bus.tell(1, 3)
    await settled()
    assert [recorded.seq for recorded in seen] == [5]
    await hub.close()
    await task


async def test_a_cursor_beyond_the_end_misleads_nobody() -> None:
    store = MemoryStore()
    hub = await begun(store)
    far, first = following(hub, 1000)
    await settled()
    near, second = following(hub)
    await settled()
    await say(store, "a")
    await settled()
    assert ([r.seq for r in far], [r.seq for r in near]) == ([], [1, 2, 3, 4])
    await hub.close()
    await asyncio.gather(first, second)


async def test_followers_wait_for_a_store_that_is_away_and_go_on() -> None:
    store, bus = Unsteady(), Whispering()
    hub = await begun(store, bus)
    seen, task = following(hub)
    await settled()
    store.away = True
    await say(store, "a", "b", "c")
    bus.kept.append((bus.kept[-1][-1],))
    bus.tell(len(bus.kept) - 1)
    await settled()
    assert not task.done()
    asked = store.asked
    await asyncio.sleep(0.1)
    assert store.asked == asked
    store.away = False
    await until(lambda: len(seen) >= 6)
    assert [recorded.seq for recorded in seen] == [1, 2, 3, 4, 5, 6]
    await hub.close()
    await task


async def test_a_hub_that_closes_does_not_wait_for_a_store_that_is_away() -> None:
    store = Unsteady()
    hub = await begun(store)
    store.away = True
    seen, task = following(hub)
    await settled()
    await hub.close()
    await task
    assert seen == []


async def test_news_are_wanted_for_as_long_as_somebody_follows_and_words_while_somebody_reads_them() -> None:
    store, bus = MemoryStore(), Whispering()
    hub = await begun(store, bus)
    _, runner = following(hub, turns_only=True)
    await settled()
    tasks = [following(hub)[1] for _ in range(3)]
    await settled()
    for task in (*tasks, runner):
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [words for _, words in bus.heeded] == [False, True, False, None]
    await hub.close()


# --- receivers ----------------------------------------------------------------------------------------


class Jumbled(MemoryBus):
    """Delivers, drops and repeats messages as it is told."""

    def __init__(self, moves: Sequence[str]) -> None:
        super().__init__()
        self._moves = list(moves)
        self._kept: list[tuple[str, tuple[Recorded, ...] | None]] = []

    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        move = self._moves.pop(0) if self._moves else "deliver"
        if move == "lose":
            return
        if move == "later":
            self._kept.append((debate_id, records))
            return
        super().publish(debate_id, records)
        if move == "twice":
            super().publish(debate_id, records)
        for late in self._kept:
            super().publish(*late)
        self._kept.clear()


async def test_a_receiver_gets_a_commit_in_the_pass_of_the_loop_that_publishes_it() -> None:
    store = MemoryStore()
    hub = await begun(store)
    seqs: list[int] = []
    following = asyncio.create_task(
        hub.follow_into(DEBATE, 0, lambda records: seqs.extend(r.seq for r in records))
    )
    await asyncio.sleep(0.01)
    reply: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    store.append_streamed([AppendStreamed(reply, DEBATE, [CallDelta(1, 0, "text", "a")], 0)])
    assert seqs == [1, 2, 3, 4]
    await hub.close()
    await following


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["deliver", "lose", "later", "twice"]), max_size=12))
async def test_a_receiver_gets_every_event_once_and_in_order_whatever_the_bus_does(moves: list[str]) -> None:
    store = MemoryStore()
    bus = Jumbled(["deliver", *moves])
    hub = await begun(store, bus)
    seqs: list[int] = []
    following = asyncio.create_task(
        hub.follow_into(DEBATE, 0, lambda records: seqs.extend(r.seq for r in records))
    )
    for number in range(len(moves) + 1):
        await say(store, f"{number} ", "and ")
        await asyncio.sleep(0)
    last = (await store.state(DEBATE)).seq
    await until(lambda: seqs and seqs[-1] == last)
    assert seqs == list(range(1, last + 1))
    await hub.close()
    await following


async def test_a_receiver_is_released_when_the_debate_is_deleted() -> None:
    store = MemoryStore()
    hub = await begun(store)
    following = asyncio.create_task(hub.follow_into(DEBATE, 0, lambda _records: None))
    await asyncio.sleep(0.01)
    await store.delete(DEBATE)
    await asyncio.wait_for(following, 60)
    await hub.close()


async def test_an_error_of_a_receiver_is_its_own() -> None:
    store = MemoryStore()
    hub = await begun(store)
    seqs: list[int] = []

    def fail(records: Sequence[Recorded]) -> None:
        if records[-1].seq > 3:
            raise ValueError("cannot be shown")

    failing = asyncio.create_task(hub.follow_into(DEBATE, 0, fail))
    following = asyncio.create_task(
        hub.follow_into(DEBATE, 0, lambda records: seqs.extend(r.seq for r in records))
    )
    await asyncio.sleep(0.01)
    await say(store, "a")
    with pytest.raises(ValueError, match="cannot be shown"):
        await failing
    assert seqs == [1, 2, 3, 4]
    await hub.close()
    await following


async def test_what_a_working_bus_lost_is_read_at_the_second_check() -> None:
    store = MemoryStore()
    hub = await begun(store, Forgetful())
    following = asyncio.create_task(collect(hub, 4))
    await until(lambda: bool(hub._tails) and hub._tails[DEBATE].head == 3)
    await say(store, "lost")
    await hub._check_heads([DEBATE], patient=True)
    assert hub._tails[DEBATE].head == 3
    await hub._check_heads([DEBATE], patient=True)
    assert await following == [1, 2, 3, 4]
    await hub.close()
