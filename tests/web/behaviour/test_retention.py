"""A server tidies up by itself: what ended long ago goes, and what is new stays."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from moot.core.terms import Model
from moot.engine.arena import Arena
from moot.providers.scripted import ScriptedProvider
from moot.settings import Settings
from moot.store.sqlite.store import SqliteStore
from tests.client.serving import served


async def held(data: Path, days_ago: int) -> str:
    def then() -> datetime:
        return datetime.now(UTC) - timedelta(days=days_ago)

    settings = Settings(data=data)
    store = SqliteStore.open(settings.database, clock=then)
    async with Arena.open(settings, store=store, providers={"scripted": ScriptedProvider()}) as arena:
        records = arena.debate("Homework should be banned", model=Model("scripted", "demo"), turns=2)
        return {recorded.debate async for recorded in records}.pop()


async def test_debates_that_ended_long_ago_are_gone_when_a_server_has_started(tmp_path: Path) -> None:
    old, new = await held(tmp_path, 40), await held(tmp_path, 20)
    with served(tmp_path, 0, MOOT_TTL_DAYS="30") as server:
        async with httpx.AsyncClient(base_url=server.url) as http, asyncio.timeout(60):
            while True:
                listed = (await http.get("/api/v1/debates")).json()["debates"]
                if old not in (ids := [debate["id"] for debate in listed]):
                    break
                await asyncio.sleep(0.05)
        assert ids == [new]
