"""Events a second through record, hub and followers: one follower and two hundred."""

from __future__ import annotations

import asyncio

from moot.core.events import CallDelta
from moot.engine.followers import Followers, MemoryBus
from moot.store.sqlite.store import SqliteStore
from tests.bench.tools import folder, measured, report
from tests.support.event_factories import call_started, opened, turn_started
from tests.support.streamed import append_streamed

EVENTS = 20_000
BATCH = 20


async def main() -> None:
    """In writes of 20 events, and one by one: the dearest way there is, a commit and a wake-up for each."""
    for batch, events in ((BATCH, EVENTS), (1, EVENTS // 20)):
        await _compare(batch, events)


async def _compare(batch: int, events: int) -> None:
    wall, alone = await _run(0, events, batch)
    each = f"{alone / events * 1e6:.1f} µs CPU an event"
    report(f"record alone, {batch} in a write", f"{events / wall:,.0f} ev/s", each)
    for followers in (1, 200):
        wall, cpu = await _run(followers, events, batch)
        extra = max(0.0, cpu - alone) / (events * followers) * 1e6
        report(
            f"record, hub, {followers} follower(s), {batch} in a write",
            f"{events / wall:,.0f} ev/s",
            f"{extra:.1f} µs CPU for each event and follower",
        )


async def _run(followers: int, events: int, size: int) -> tuple[float, float]:
    """Wall and CPU seconds to write the events and have every follower read them all."""
    with folder() as data:
        store = SqliteStore.open(data / "moot.db")
        bus = MemoryBus()
        store.listen(bus.publish)
        hub = Followers(store, bus)
        await store.record("deb_1", lambda _: (opened(), turn_started(), call_started()))
        reading = [asyncio.create_task(_read(hub, 3 + events)) for _ in range(followers)]
        await asyncio.sleep(0.1)
        with measured() as spent:
            for start in range(0, events, size):
                words = [CallDelta(1, 0, "text", f"{start + n} words ") for n in range(size)]
                await append_streamed(store, "deb_1", words, epoch=0)
            await asyncio.gather(*reading)
        await hub.close()
        await store.close()
    return spent.wall, spent.cpu


async def _read(hub: Followers, upto: int) -> None:
    async for batch in hub.follow("deb_1"):
        if batch[-1].seq >= upto:
            return
