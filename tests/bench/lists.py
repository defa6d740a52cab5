"""List and status of a large store, beside a small one: they use an index, so the cost must not grow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from moot.core.events import DebateStarted
from moot.store.contract import DebateFilter, Store
from moot.store.sqlite.store import SqliteStore
from moot.testing.event_factories import opened
from tests.bench.figures import Figure, figure
from tests.bench.measure import temporary_folder

SMALL, LARGE = 200, 20_000
REPEATS = 200


async def bench() -> AsyncIterator[Figure]:
    with temporary_folder() as data:
        small = await _costs(data / "small.db", SMALL)
        large = await _costs(data / "large.db", LARGE)
    for name, cost in large.items():
        yield figure(f"{name}, {LARGE:,} debates", cost, "µs", limit=(f"{SMALL} debates", small[name]))


async def _costs(path: Path, debates: int) -> dict[str, float]:
    """µs of wall clock of each query on a store with so many debates."""
    store = SqliteStore.open(path)
    for start in range(0, debates, 500):
        await asyncio.gather(*(_add(store, number) for number in range(start, min(start + 500, debates))))
    created = DebateFilter(statuses=("created",))
    costs = {
        "first page": await _timed(lambda: store.list(limit=20)),
        "first page of one status": await _timed(lambda: store.list(created, limit=20)),
        "page at offset 100": await _timed(lambda: store.list(limit=20, offset=100)),
        "status": await _timed(lambda: store.state(f"deb_{debates // 2}")),
    }
    await store.close()
    return costs


async def _add(store: Store, number: int) -> None:
    started = (DebateStarted(),) if number % 3 else ()
    await store.record(f"deb_{number}", lambda _: (opened(motion=f"Motion number {number}"), *started))


async def _timed(query: Callable[[], Awaitable[object]]) -> float:
    """The median of many repetitions in µs."""
    times: list[float] = []
    for _ in range(REPEATS):
        start = perf_counter()
        await query()
        times.append(perf_counter() - start)
    return median(times) * 1e6
