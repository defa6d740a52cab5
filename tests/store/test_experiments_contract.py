"""What every store promises of experiments: legs are reserved once, within the budget, by one process."""

from __future__ import annotations

import asyncio

import pytest

from moot.core.errors import Fenced, Invalid
from moot.store.contract import Store


async def test_saving_takes_an_experiment_over_and_keeps_its_legs(store: Store) -> None:
    experiments = store.experiments
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
    experiments = store.experiments
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
    assert not await experiments.reserve_more("league", 1, "later", 1, 1000)
    assert await experiments.reserve_more("league", 1, "later", 500, 1500)
    assert sum(leg.reserved for leg in await experiments.legs("league")) == 1500
    settled = (await experiments.legs("league"))[0]
    assert (settled.reserved, settled.result) == (100, '{"status":"completed"}')


async def test_an_experiment_is_stopped_and_deleted_by_name(store: Store) -> None:
    experiments = store.experiments
    await experiments.save("league", "{}")
    assert await experiments.set_state("league", "stopping")
    assert not await experiments.set_state("other", "stopping")
    stopping = await experiments.experiment("league")
    assert stopping is not None
    assert stopping.state == "stopping"
    assert await experiments.delete("league")
    assert not await experiments.delete("league")
    assert await experiments.legs("league") == ()
