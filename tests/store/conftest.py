"""Every implementation of a contract, by name: a suite here runs once with each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec import Struct

from moot.store.contract import Store
from moot.store.memory import MemoryStore
from moot.store.postgres.store import PostgresStore
from moot.store.sqlite.store import SqliteStore
from moot.testing import Clock
from tests.support.postgres import empty_postgres, postgres_url

__all__ = ["empty_postgres", "postgres_url"]


class Ground(Struct, frozen=True):
    """What a store may stand on."""

    folder: Path
    clock: Clock
    request: pytest.FixtureRequest


async def _memory(ground: Ground) -> Store:
    return MemoryStore(ground.clock)


async def _sqlite(ground: Ground, states: int = 1024) -> Store:
    return SqliteStore.open(ground.folder / "moot.db", clock=ground.clock, states=states)


async def _postgres(ground: Ground, states: int = 1024) -> Store:
    # Only here, so that the other stores' tests start no server.
    url: str = ground.request.getfixturevalue("empty_postgres")
    return await PostgresStore.open(url, clock=ground.clock, states=states, pool=4)


STORES: dict[str, Callable[[Ground], Awaitable[Store]]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "sqlite-forgetful": partial(_sqlite, states=1),
    "postgres": _postgres,
    "postgres-forgetful": partial(_postgres, states=1),
}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> AsyncIterator[Store]:
    store = await STORES[request.param](Ground(tmp_path, clock, request))
    yield store
    await store.close()
