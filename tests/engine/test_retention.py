"""Debates that ended long ago are deleted, and nothing else is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from moot.core.events import DebateEnded, DebateFailed, DebateStarted, Event
from moot.engine.arena import Arena
from moot.engine.retention import delete_ended, run_retention
from moot.settings import ServerSettings, Settings
from moot.store.contract import Store
from moot.store.sqlite.store import SqliteStore
from moot.testing import Clock
from moot.testing.event_factories import opened
from tests.store.sqlite.test_store import CANARY


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path, clock: Clock) -> AsyncIterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "moot.db", clock=clock)
    yield store
    await store.close()


def arena_on(store: Store, path: Path, **service: float | None):
    return Arena.open(Settings(data=path, service=ServerSettings(**service)), store=store)  # type: ignore[arg-type]


async def hold(store: Store, debate_id: str, *events: Event, motion: str = "Cats") -> None:
    await store.record(debate_id, lambda _: [opened(motion=motion), *events])


async def shelf(arena: Arena) -> set[str]:
    return {head.id for head in (await arena.list()).heads}


async def test_only_what_ended_long_ago_is_deleted(store: SqliteStore, tmp_path: Path, clock: Clock) -> None:
    await hold(store, "ended", DebateStarted(), DebateEnded("judged"), motion=CANARY)
    await hold(store, "failed", DebateStarted(), DebateFailed("internal"), motion=CANARY)
    await hold(store, "waiting")
    await hold(store, "running", DebateStarted())
    clock.move(days=31)
    await hold(store, "new", DebateStarted(), DebateEnded("judged"))
    async with arena_on(store, tmp_path) as arena:
        assert await delete_ended(arena, 32, clock.now) == 0
        assert await delete_ended(arena, 30, clock.now) == 2
        assert await delete_ended(arena, 30, clock.now) == 0
        assert await shelf(arena) == {"waiting", "running", "new"}
    for file in tmp_path.iterdir():
        assert file.is_dir() or CANARY.encode() not in file.read_bytes(), file


async def test_two_may_keep_house_at_once(store: SqliteStore, tmp_path: Path, clock: Clock) -> None:
    for i in range(20):
        await hold(store, f"d{i}", DebateStarted(), DebateEnded("judged"))
    async with arena_on(store, tmp_path) as arena:
        gone = await asyncio.gather(
            *(delete_ended(arena, 1, clock.now + timedelta(days=2)) for _ in range(2))
        )
        assert sum(gone) == 20
        assert await shelf(arena) == set()


async def test_the_house_is_kept_from_the_start(store: SqliteStore, tmp_path: Path, clock: Clock) -> None:
    clock.now = datetime.now(UTC) - timedelta(days=2)
    await hold(store, "old", DebateStarted(), DebateEnded("judged"))
    async with arena_on(store, tmp_path, ttl_days=1) as arena:
        keeper = asyncio.create_task(run_retention(arena), name="housekeeping")
        async with asyncio.timeout(60):
            while await shelf(arena):  # noqa: ASYNC110 - nobody tells of a deletion but the shelf
                await asyncio.sleep(0.01)
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)


async def test_without_a_limit_nothing_is_ever_deleted(store: SqliteStore, tmp_path: Path) -> None:
    async with arena_on(store, tmp_path, ttl_days=None) as arena:
        async with asyncio.timeout(60):
            await run_retention(arena)
