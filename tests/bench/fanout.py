"""What followers inside the process cost: store, hub and readers, beside a queue for each reader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from moot.core.events import CallDelta
from moot.engine.followers import Followers, MemoryBus
from moot.store.sqlite.store import SqliteStore
from moot.testing.event_factories import call_started, opened, turn_started
from moot.testing.store_contract import append_streamed
from tests.bench.figures import Figure, figure
from tests.bench.measure import measured, temporary_folder

EVENTS = 20_000
BATCH = 20
FOLLOWERS = 200
QUEUE = "an asyncio.Queue each"


async def bench() -> AsyncIterator[Figure]:
    """In writes of 20 events, and one by one: the dearest way, a commit and a wake-up for each event."""
    for batch, events in ((BATCH, EVENTS), (1, EVENTS // 20)):
        alone = await _followed(0, events, batch)
        followed = await _followed(FOLLOWERS, events, batch)
        queued = await _queued(FOLLOWERS, events, batch)
        per_reader = 1e6 / (events * FOLLOWERS)
        yield figure(
            f"an event to each of {FOLLOWERS} followers, {batch} in a write: CPU",
            max(0.0, followed - alone) * per_reader,
            "µs",
            limit=(QUEUE, queued * per_reader),
        )


async def _followed(followers: int, events: int, batch: int) -> float:
    """CPU seconds until the events are written and every follower has read all of them."""
    with temporary_folder() as data:
        store = SqliteStore.open(data / "moot.db")
        bus = MemoryBus()
        store.listen(bus.publish)
        hub = Followers(store, bus)
        await store.record("deb_1", lambda _: (opened(), turn_started(), call_started()))
        readers = [asyncio.create_task(_read_hub(hub, 3 + events)) for _ in range(followers)]
        await asyncio.sleep(0.1)
        with measured() as spent:
            for deltas in _batches(events, batch):
                await append_streamed(store, "deb_1", deltas, epoch=0)
            await asyncio.gather(*readers)
        await hub.close()
        await store.close()
    return spent.cpu


async def _read_hub(hub: Followers, last_seq: int) -> None:
    async for batch in hub.follow("deb_1"):
        if batch[-1].seq >= last_seq:
            return


async def _queued(followers: int, events: int, batch: int) -> float:
    """CPU seconds until every reader has taken all batches from its own queue. Nothing is stored."""
    queues = [asyncio.Queue[Sequence[CallDelta]]() for _ in range(followers)]
    readers = [asyncio.create_task(_read_queue(queue, events)) for queue in queues]
    await asyncio.sleep(0.1)
    with measured() as spent:
        for deltas in _batches(events, batch):
            for queue in queues:
                queue.put_nowait(deltas)
            await asyncio.sleep(0)
        await asyncio.gather(*readers)
    return spent.cpu


async def _read_queue(queue: asyncio.Queue[Sequence[CallDelta]], events: int) -> None:
    count = 0
    while count < events:
        count += len(await queue.get())


def _batches(events: int, size: int) -> list[list[CallDelta]]:
    return [
        [CallDelta(1, 0, "text", f"{start + number} words ") for number in range(size)]
        for start in range(0, events, size)
    ]
