"""Followers are cursors: late, slow, cut off or many, each reads the whole log once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moot.bus import MemoryBus
from moot.events import CallDelta, Event, Recorded, RemarkInjected
from moot.hub import PAGE, WINDOW, Hub
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore
from tests.factories import call_started, opened, turn_started

DEBATE = "deb_1"


class Deaf(MemoryBus):
    """Loses every message."""

    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        pass


async def begun(store: MemoryStore | SqliteStore, bus: MemoryBus | None = None) -> Hub:
    bus = bus or MemoryBus()
    store.listen(bus.publish)
    await store.record(DEBATE, lambda _: (opened(), turn_started(), call_started()))
    return Hub(store, bus)


async def say(store: MemoryStore | SqliteStore, *texts: str) -> None:
    await store.narrate(DEBATE, [CallDelta(1, 0, "text", text) for text in texts], epoch=0)


async def collect(hub: Hub, upto: int, after: int = 0, pause: float = 0.0) -> list[int]:
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
    total = 3 + WINDOW + 500
    slow = asyncio.create_task(collect(hub, total, pause=0.01))
    quick = asyncio.create_task(collect(hub, total))
    await asyncio.sleep(0.01)
    for _ in range((WINDOW + 500) // 4):
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
    assert await asyncio.wait_for(following, 5) == [1, 2, 3, 4, 5]
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
    await asyncio.wait_for(following, 5)


async def test_deleting_ends_the_stream() -> None:
    store = MemoryStore()
    hub = await begun(store)
    following = asyncio.create_task(collect(hub, 1000))
    await asyncio.sleep(0.01)
    await store.delete(DEBATE)
    assert await asyncio.wait_for(following, 5) == [1, 2, 3]
    await hub.close()


async def test_commits_of_another_process_are_noticed(tmp_path: Path) -> None:
    ours, theirs = SqliteStore.open(tmp_path / "moot.db"), SqliteStore.open(tmp_path / "moot.db")
    hub = await begun(ours)
    following = asyncio.create_task(collect(hub, 5))
    await asyncio.sleep(0.05)
    await say(theirs, "a", "b")
    assert await asyncio.wait_for(following, 5) == [1, 2, 3, 4, 5]
    await hub.close()
    await ours.close()
    await theirs.close()
