"""List and status on a large store: by index, so they cost the same as on a small one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

from moot.core.events import DebateStarted
from moot.store.contract import DebateFilter, Store
from moot.store.sqlite.store import SqliteStore
from tests.bench.tools import folder, report
from tests.support.event_factories import opened

SMALL, LARGE = 200, 20_000


async def main() -> None:
    with folder() as data:
        small = await _costs(data / "small.db", SMALL)
        large = await _costs(data / "large.db", LARGE)
    for name, few in small.items():
        many = large[name]
        report(f"{name}, {LARGE:,} debates", f"{many:.0f} µs", f"{many / few:.2f} times that of {SMALL}")


async def _costs(path: Path, debates: int) -> dict[str, float]:
    store = SqliteStore.open(path)
    for start in range(0, debates, 500):
        await asyncio.gather(*(_add(store, number) for number in range(start, min(start + 500, debates))))
    costs = {
        "first page": await _timed(lambda: store.list(limit=20)),
        "first page of one status": await _timed(
            lambda: store.list(DebateFilter(statuses=("created",)), limit=20)
        ),
        "page at offset 100": await _timed(lambda: store.list(limit=20, offset=100)),
        "status": await _timed(lambda: store.state(f"deb_{debates // 2}")),
    }
    await store.close()
    return costs


async def _add(store: Store, number: int) -> None:
    started = (DebateStarted(),) if number % 3 else ()
    await store.record(f"deb_{number}", lambda _: (opened(motion=f"Motion number {number}"), *started))


async def _timed(ask: Callable[[], Awaitable[object]]) -> float:
    await ask()
    start = perf_counter()
    for _ in range(200):
        await ask()
    return (perf_counter() - start) / 200 * 1e6
