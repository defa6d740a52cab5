"""A disk that fills up while debates are being held, and has room again later."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.errors import StoreError
from moot.core.evolve import fold
from moot.core.terms import Request
from moot.engine.arena import Arena
from moot.providers.scripted import SayCue, ScriptedProvider, improvise
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from moot.store.sqlite.connect import connect
from moot.store.sqlite.store import SqliteStore
from tests.store.sqlite.test_store import limit_pages

DEBATES = 10
ROOM = 1_000_000
PACE = RunnerTimings(retry_base=0.001, tick=0.001)


def at_length(request: Request) -> list[object]:
    """Speeches that need many pages; a judge says what a judge has to say."""
    said = improvise(request)
    return said if request.schema else [SayCue("And another thing is this. " * 400), *said]


async def begin(arena: Arena) -> list[str]:
    setup = await arena.setup("Cats are better than dogs", format="oxford", rounds=2, model="scripted/demo")
    ids = [(await arena.create(setup)).debate.id for _ in range(DEBATES)]
    for debate_id in ids:
        await arena.start(debate_id)
    return ids


async def until(condition: object, seconds: float = 30) -> None:
    assert callable(condition)
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for is a line in a log
            await asyncio.sleep(0.02)


async def test_debates_wait_out_a_full_disk_and_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = SqliteStore.open(tmp_path / "moot.db")
    provider = ScriptedProvider(at_length, pace=0.0002)
    async with Arena.open(
        Settings(data=tmp_path, pace=PACE), store=store, providers={"scripted": provider}
    ) as arena:
        ids = await begin(arena)
        limit_pages(store, 1)

        def waiting() -> set[str]:
            return {
                record.__dict__["debate"] for record in caplog.records if "Trying again" in record.message
            }

        await until(lambda: waiting() == set(ids))
        setup = await arena.setup("x" * 400, model="scripted/demo")
        with pytest.raises(StoreError, match="The disk is full"):
            await asyncio.gather(*(arena.create(setup) for _ in range(200)))
        for debate_id in ids:
            records = await store.read(debate_id, limit=100_000)
            assert await store.state(debate_id, records[-1].seq) == fold(records)
        assert (await arena.list(search="cats")).total == DEBATES
        limit_pages(store, ROOM)
        async with asyncio.timeout(60):
            for debate_id in ids:
                async for _ in arena.watch(debate_id):
                    pass
        ended = [await arena.state(debate_id) for debate_id in ids]
    assert [debate.status for debate in ended] == ["completed"] * DEBATES
    assert all(not debate.calls and not debate.live and debate.verdict for debate in ended)
    with closing(connect(tmp_path / "moot.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
