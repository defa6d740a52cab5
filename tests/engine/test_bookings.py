"""A debate of a series goes on only with its money reserved by the extension that keeps the budget; without
that extension it does not go on."""

from __future__ import annotations

import pytest

from moot.core.errors import OverBudget
from moot.core.statuses import Status
from moot.core.terms import Money, SeriesTag
from moot.engine.arena import Arena
from moot.engine.bookings import NoBookings, Reservation
from moot.extension import Extension, using
from moot.store.contract import Store
from tests.engine.conftest import OpenArena

MOTION = "Homework should be banned"


class Ledger:
    """Reserves what `purse` allows, and remembers what it was asked."""

    def __init__(self, store: Store, purse: Money) -> None:
        self.store = store
        self.purse = purse
        self.asked: list[tuple[str, Status]] = []
        self.settled: list[str] = []
        self.deleted: list[str] = []

    async def reserve(self, debate_id: str, status: Status, most: Money | None) -> Reservation:
        self.asked.append((debate_id, status))
        if most is None or most > self.purse:
            raise OverBudget("The purse is empty.", status)
        return Reservation(most)

    async def settle(self, debate_id: str) -> None:
        self.settled.append(debate_id)

    async def settle_deleted(self, debate_id: str) -> None:
        self.deleted.append(debate_id)


def keeper(purse: Money) -> Extension:
    return Extension("purse", bookings=lambda: lambda store: Ledger(store, purse))


async def held(arena: Arena, **more: object) -> str:
    options = {"model": "scripted/demo", "turns": 2, "cost_limit": 1, **more}
    [*log] = [recorded async for recorded in arena.debate(MOTION, **options)]
    return log[-1].debate


SERIES = {"experiment": SeriesTag("league", "m1")}


async def test_a_debate_that_is_judged_again_is_reserved_and_settled(open_arena: OpenArena) -> None:
    with using(keeper(Money(10))) as found:
        async with open_arena() as arena:
            assert isinstance(arena.bookings, Ledger)
            assert arena.bookings.store is arena.store
            debate_id = await held(arena, **SERIES)
            assert arena.bookings.asked == [], "it was not over"
            await arena.rejudge(debate_id, allowance=Money(1))
            async for _ in arena.watch(debate_id):
                pass
            assert len((await arena.state(debate_id)).verdicts) == 2
            assert arena.bookings.asked == [(debate_id, "completed")]
            await arena.delete(debate_id)
            assert arena.bookings.deleted == [debate_id]
    assert set(arena.bookings.settled) == {debate_id}
    assert found.failures == {}


async def test_what_the_purse_does_not_hold_is_refused(open_arena: OpenArena) -> None:
    with using(keeper(Money("0.1"))):
        async with open_arena() as arena:
            debate_id = await held(arena, **SERIES)
            before = await arena.state(debate_id)
            with pytest.raises(OverBudget, match="The purse is empty"):
                await arena.rejudge(debate_id, allowance=Money(1))
            assert await arena.state(debate_id) == before


async def test_without_the_extension_it_does_not_go_on(open_arena: OpenArena) -> None:
    async with open_arena() as arena:
        assert isinstance(arena.bookings, NoBookings)
        debate_id = await held(arena, **SERIES)
        with pytest.raises(OverBudget, match="the extension that keeps its budget is not loaded"):
            await arena.rejudge(debate_id, allowance=Money(1))


async def test_a_debate_on_its_own_is_reserved_by_nobody(open_arena: OpenArena) -> None:
    with using(keeper(Money(0))):
        async with open_arena() as arena:
            debate_id = await held(arena)
            await arena.rejudge(debate_id, allowance=Money(1))
            assert arena.bookings.asked == []  # type: ignore[attr-defined]


async def test_bookings_that_fail_cost_the_extension(open_arena: OpenArena) -> None:
    with using(Extension("purse", bookings=lambda: 1 / 0)) as found:  # type: ignore[arg-type, return-value]
        async with open_arena() as arena:
            assert isinstance(arena.bookings, NoBookings)
        assert found.failures == {"purse": "ZeroDivisionError: division by zero"}
