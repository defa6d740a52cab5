"""What every store promises of experiments: legs are reserved once, within the budget, by one process."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from moot import Arena, Settings
from moot.core.errors import Fenced, Invalid
from moot.extensions.experiments import sql_store
from moot.extensions.experiments import store as rows
from moot.extensions.experiments.store import LEASE, LegCounts
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.store.contract import Store


async def test_saving_takes_an_experiment_over_and_keeps_its_legs(store: Store) -> None:
    experiments = store.tables(EXPERIMENTS)
    first = await experiments.save("league", "{}")
    assert (first.state, first.epoch) == ("running", 1)
    assert await experiments.reserve("league", 1, "a.0", "deb_1", 300, None)
    second = await experiments.save("league", '{"more": true}')
    assert (second.epoch, second.created_at) == (2, first.created_at)
    assert await experiments.experiment("league") == second
    assert await experiments.experiments() == (second,)
    assert [leg.leg for leg in await experiments.legs("league")] == ["a.0"]
    with pytest.raises(Fenced):
        await experiments.reserve("league", 1, "a.1", "deb_2", 300, None)
    with pytest.raises(Invalid):
        await experiments.reserve("league", 2, "a.0", "deb_2", 300, None)


async def test_reservations_never_exceed_the_budget_however_many_come_at_once(store: Store) -> None:
    experiments = store.tables(EXPERIMENTS)
    await experiments.save("league", "{}")
    reserved = await asyncio.gather(
        *(
            experiments.reserve("league", 1, f"leg.{number}", f"deb_{number}", 300, 1000)
            for number in range(8)
        )
    )
    assert sum(reserved) == 3
    first = (await experiments.legs("league"))[0]
    await experiments.settle("league", first.leg, 100, '{"status":"completed"}')
    assert await experiments.reserve("league", 1, "later", "deb_later", 300, 1000)
    assert not await experiments.reserve("league", 1, "too late", "deb_too_late", 1, 1000)
    assert not await experiments.reserve_again("league", "later", 301, 1000)
    assert not await experiments.reserve_again("league", "nothing", 1, None)
    assert await experiments.reserve_again("league", "later", 800, 1500)
    assert await experiments.reserve_again("league", "later", 700, 1500), "more is reserved already"
    assert sum(leg.reserved for leg in await experiments.legs("league")) == 1500
    settled = (await experiments.legs("league"))[0]
    assert (settled.reserved, settled.result) == (100, '{"status":"completed"}')


async def test_legs_that_are_held_again_share_the_budget_however_many_come_at_once(store: Store) -> None:
    experiments = store.tables(EXPERIMENTS)
    await experiments.save("league", "{}")
    for number in range(8):
        assert await experiments.reserve("league", 1, f"leg.{number}", f"deb_{number}", 300, None)
        assert await experiments.settle("league", f"leg.{number}", 50, '{"status":"error"}', status="error")
    again = await asyncio.gather(
        *(experiments.reserve_again("league", f"leg.{number}", 300, 1000, held=4) for number in range(8))
    )
    assert sum(again) == 2, "400 are spent, and each needs another 250"
    held = await experiments.held_legs("league")
    assert [(leg.reserved, leg.held) for leg in held] == [(300, 4), (300, 4)]
    assert (await experiments.counts("league")).booked == 900


async def test_a_leg_that_may_still_go_on_is_not_settled(store: Store) -> None:
    experiments = store.tables(EXPERIMENTS)
    await experiments.save("league", "{}")
    await experiments.reserve("league", 1, "a.0", "deb_1", 300, None)
    assert await experiments.settle("league", "a.0", 50, '{"n":1}', seen=3)
    assert await experiments.reserve_again("league", "a.0", 300, None, held=3)
    assert await experiments.reserve_again("league", "a.0", 200, None, held=2), (
        "an older epoch changes nothing"
    )
    assert not await experiments.settle("league", "a.0", 60, '{"n":2}', seen=3)
    assert not await experiments.keep_result("league", "a.0", '{"n":3}', was='{"n":2}')
    assert await experiments.keep_result("league", "a.0", '{"n":3}', was='{"n":1}')
    found = await experiments.leg_of("deb_1")
    assert found is not None
    assert found.experiment == "league"
    assert (found.leg.reserved, found.leg.result, found.leg.held) == (300, '{"n":3}', 3)
    assert await experiments.settle("league", "a.0", 60, '{"n":4}', seen=4)
    leg = await experiments.leg("league", "a.0")
    assert leg is not None
    assert (leg.reserved, leg.result, leg.held) == (60, '{"n":4}', None)
    assert await experiments.leg("league", "a.1") is None
    assert await experiments.leg_of("deb_2") is None
    assert not await experiments.settle("league", "a.1", 1, "{}")


async def test_an_experiment_is_stopped_by_name(store: Store) -> None:
    experiments = store.tables(EXPERIMENTS)
    await experiments.save("league", "{}")
    assert await experiments.set_state("league", "stopping")
    assert not await experiments.set_state("other", "stopping")
    stopping = await experiments.experiment("league")
    assert stopping is not None
    assert stopping.state == "stopping"


async def test_progress_is_counted_and_legs_are_read_in_pages(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (rows, sql_store):
        monkeypatch.setattr(module, "LEG_PAGE", 3)
    experiments = store.tables(EXPERIMENTS)
    await experiments.save("league", "{}")
    await experiments.save("other", "{}")
    assert await experiments.counts("league") == LegCounts(0, 0, 0, 0, 0)
    for number in range(8):
        await experiments.reserve("league", 1, f"leg.{number}", f"deb_{number}", 300, None)
    await experiments.reserve("other", 1, "leg.0", "deb_other", 300, None)
    await experiments.settle("league", "leg.0", 100, "{}", pro_share=0.75)
    await experiments.settle("league", "leg.1", 20, '{"headline":"No key"}', status="error")
    assert await experiments.counts("league") == LegCounts(
        reserved=8, settled=2, failed=1, running=0, spent=120, booked=1920
    )
    assert await experiments.failed_results("league") == ('{"headline":"No key"}',)
    assert await experiments.side_shares() == (("leg.0", 0.75),)
    pages = [page async for page in experiments.leg_pages("league")]
    assert [len(page) for page in pages] == [3, 3, 2]
    assert tuple(leg for page in pages for leg in page) == await experiments.legs("league")


async def test_an_experiment_whose_process_is_silent_is_interrupted(store: Store) -> None:
    experiments = store.tables(EXPERIMENTS)
    saved = await experiments.save("league", "{}")
    assert saved.beat_at is not None
    assert saved.standing(saved.beat_at + LEASE / 2) == "running"
    assert saved.standing(saved.beat_at + LEASE) == "interrupted"
    await experiments.beat("league", saved.epoch)
    await experiments.beat("league", saved.epoch - 1)  # of a process that lost it: no sign of life
    known = await experiments.experiment("league")
    assert known is not None
    assert known.beat_at is not None
    assert known.beat_at >= saved.beat_at
    assert known.updated_at == saved.updated_at
    await experiments.set_state("league", "done")
    done = await experiments.experiment("league")
    assert done is not None
    assert done.standing(saved.beat_at + 2 * LEASE) == "done"


async def test_a_database_from_before_the_index_finds_held_legs_by_it(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    async with Arena.open(settings, run=False):
        pass
    with closing(sqlite3.connect(settings.database)) as connection, connection:
        connection.execute("DROP INDEX experiment_legs_held")
        connection.execute("UPDATE extension_schemas SET version = 3 WHERE name = 'experiments'")
    async with Arena.open(settings, run=False):
        pass
    with closing(sqlite3.connect(settings.database)) as connection:
        held = "SELECT leg FROM experiment_legs WHERE experiment = 'league' AND held IS NOT NULL"
        plan = connection.execute(f"EXPLAIN QUERY PLAN {held}").fetchall()
    assert any("experiment_legs_held" in step[3] for step in plan), plan
