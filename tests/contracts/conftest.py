"""Every implementation of a contract, by name: a suite here runs once with each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from moot.store.contract import Store
from moot.store.memory import MemoryStore
from moot.store.sqlite import SqliteStore


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


STORES: dict[str, Callable[[Path, Clock], Store]] = {
    "memory": lambda folder, clock: MemoryStore(clock),
    "sqlite": lambda folder, clock: SqliteStore.open(folder / "moot.db", clock=clock),
    "sqlite-forgetful": lambda folder, clock: SqliteStore.open(folder / "moot.db", clock=clock, states=1),
}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> AsyncIterator[Store]:
    store = STORES[request.param](tmp_path, clock)
    yield store
    await store.close()
