"""A debate of an experiment goes on only within the experiment's budget: by its run, by a person, or by both
at once, in several processes, and after a kill at any point. The bill is what the service charged."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot import Arena
from moot.core.errors import Fenced, Invalid, OverBudget
from moot.core.events import TurnRetried
from moot.core.terms import Money
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.leg_results import read_result, result_of
from moot.extensions.experiments.measuring.planned_debates import planned_debate
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.store import MICRODOLLARS
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.rules.commands import Abort, JudgeNow, Retry
from moot.rules.reserved_costs import most_cost
from moot.store.postgres.store import PostgresStore
from tests.extensions.experiments.billed_league import (
    ALLOWANCE,
    LEAGUE,
    BilledLeague,
    failed_debates,
    retry_all,
)
from tests.support.postgres import empty_postgres, postgres_url
from tests.support.until import PATIENCE

__all__ = ["empty_postgres", "postgres_url"]

RICH = Money(100)


async def failed_league(league: BilledLeague, *, room: Money) -> ExperimentDefinition:
    """A league of which every debate has failed; its budget then has this many limits of a debate left."""
    league.break_down()
    async with Arena.open(league.settings, providers=league.providers) as arena:
        progress = await ExperimentRunner(arena, LEAGUE).run()
        assert (progress.finished, progress.failed) == (0, 10)
        limit = (await arena.state((await failed_debates(arena))[0])).limits.cost_limit
        assert limit is not None
        definition = replace(LEAGUE, budget=progress.spent + limit * room)
        await arena.store.tables(EXPERIMENTS).save("league", definition.to_json())
    league.mend()
    return definition


async def booked(arena: Arena) -> Money:
    """What is reserved and spent; once all is over, it is what the debates have cost."""
    return Money((await arena.store.tables(EXPERIMENTS).counts("league")).booked) / MICRODOLLARS


async def all_settled(arena: Arena) -> None:
    """Wait until the processes that ran the debates have settled them."""
    async with asyncio.timeout(PATIENCE):
        while await arena.store.tables(EXPERIMENTS).held_legs("league"):  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.005)


async def costs(arena: Arena) -> Money:
    legs = await arena.store.tables(EXPERIMENTS).legs("league")
    return sum([(await arena.state(leg.debate)).cost_so_far for leg in legs], Money(0))


async def test_failed_debates_are_tried_again_within_the_budget(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    definition = await failed_league(league, room=Money("1.5"))
    async with Arena.open(league.settings, providers=league.providers) as arena:
        progress = await ExperimentRunner(arena, definition).run(retry_failed=True)
        assert progress.stopped_by == "budget"
        assert progress.finished > 0
        assert progress.failed > 0
        assert progress.budget is not None
        assert league.billed <= progress.spent <= progress.budget
        assert await booked(arena) == progress.spent == await costs(arena)
        rich = await ExperimentRunner(arena, replace(definition, budget=RICH)).run(retry_failed=True)
        assert (rich.finished, rich.failed, rich.stopped_by) == (10, 0, "")
        assert league.billed <= rich.spent == await costs(arena)


async def test_a_retry_by_a_person_is_booked_to_the_experiment_or_refused(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    definition = await failed_league(league, room=Money("1.5"))
    async with Arena.open(league.settings, providers=league.providers) as arena:
        assert 0 < await retry_all(arena) < 10
        await all_settled(arena)
        assert definition.budget is not None
        assert league.billed <= await booked(arena) <= definition.budget
        assert await booked(arena) == await costs(arena)
        legs = await arena.store.tables(EXPERIMENTS).legs("league")
        results = [read_result(leg.result or "") for leg in legs]
        assert {leg.held for leg in legs} == {None}
        assert all(bool(result.judgments) == (result.status == "completed") for result in results)
        counts = await arena.store.tables(EXPERIMENTS).counts("league")
        assert 0 < counts.failed < 10
        with pytest.raises(OverBudget, match=r"experiment league. It may cost another \$.* left. Raise"):
            await arena.ask((await failed_debates(arena))[0], Retry())
        with pytest.raises(OverBudget):
            await arena.ask(next(r.debate for r in results if r.status == "error" and r.cost), JudgeNow())


async def test_judging_a_debate_of_an_experiment_again_is_booked_or_refused(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    async with Arena.open(league.settings, providers=league.providers) as arena:
        definition = replace(LEAGUE, motions=LEAGUE.motions[:1], budget=RICH)
        spent = (await ExperimentRunner(arena, definition).run()).spent
        definition = replace(definition, budget=spent + ALLOWANCE)
        await arena.store.tables(EXPERIMENTS).save("league", definition.to_json())
        [first, second] = [leg.debate for leg in await arena.store.tables(EXPERIMENTS).legs("league")]
        await arena.rejudge(first, allowance=ALLOWANCE)
        with pytest.raises(OverBudget, match="smaller cost limit"):
            await arena.rejudge(second, allowance=ALLOWANCE)
        async for _ in arena.watch(first):
            pass
        await arena.bookings.settle_held("league")
        assert spent < await booked(arena) == await costs(arena) <= spent + ALLOWANCE
        with pytest.raises(OverBudget):
            await arena.rejudge(second, allowance=ALLOWANCE)
        assert await ExperimentRunner(arena, definition).rejudge(["scripted/raven"], allowance=ALLOWANCE) == 0
        rich = replace(definition, budget=RICH)
        assert await ExperimentRunner(arena, rich).rejudge(["scripted/raven"], allowance=ALLOWANCE) == 2
        assert league.billed <= await booked(arena) == await costs(arena)
        rows = [
            row
            for leg in await arena.store.tables(EXPERIMENTS).legs("league")
            for row in read_result(leg.result or "").judgments
        ]
        assert len(rows) == 10, "two of each debate at first, two of one again, two of each by another judge"


async def test_judgings_wait_for_the_money_that_others_have_reserved(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    async with Arena.open(league.settings, providers=league.providers) as arena:
        spent = (await ExperimentRunner(arena, LEAGUE).run()).spent
        # Room for one judging at a time, until the money is spent.
        limited = replace(LEAGUE, budget=spent + ALLOWANCE * 2, concurrency=5)
        runner = ExperimentRunner(arena, limited)
        assert await runner.rejudge(["scripted/raven"], allowance=ALLOWANCE) >= 2
        assert runner.stopped_by == "budget"
        assert limited.budget is not None
        assert league.billed <= await booked(arena) == await costs(arena) <= limited.budget


POINTS = ("leg-reserved-again", "turn-started", "call-started", "judging", "leg-held", "leg-settled")


@pytest.mark.parametrize("action", ["resume", "retry"])
async def test_kills_while_debates_are_tried_again_overspend_nothing(tmp_path: Path, action: str) -> None:
    league = BilledLeague(tmp_path)
    definition = await failed_league(league, room=Money(5))
    league.bill_by_words()
    kills = 0
    for point in POINTS:
        done = subprocess.run(command(tmp_path, action), env=crashing_at(f"{point}:2"), check=False)
        kills += done.returncode == -signal.SIGKILL
    assert kills >= 3
    async with Arena.open(league.settings, providers=league.providers, recover=True) as arena:
        progress = await ExperimentRunner(arena, definition).run(retry_failed=True)
        assert progress.budget is not None
        assert league.billed <= progress.spent <= progress.budget
        assert await booked(arena) == progress.spent == await costs(arena)
        assert progress.finished > 0


async def test_a_kill_while_debates_are_judged_again_overspends_nothing(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    league.bill_by_words()
    async with Arena.open(league.settings, providers=league.providers) as arena:
        spent = (await ExperimentRunner(arena, LEAGUE).run()).spent
        definition = replace(LEAGUE, budget=spent + ALLOWANCE * 8)
        await arena.store.tables(EXPERIMENTS).save("league", definition.to_json())
    for point in ("leg-reserved-again", "judging", "call-started", "leg-held", "leg-settled"):
        subprocess.run(command(tmp_path, "rejudge"), env=crashing_at(f"{point}:2"), check=False)
    async with Arena.open(league.settings, providers=league.providers) as arena:
        runner = ExperimentRunner(arena, definition)
        await runner.rejudge(allowance=ALLOWANCE, repeats=2)
        assert definition.budget is not None
        assert league.billed <= await booked(arena) == await costs(arena) <= definition.budget
        for leg in await arena.store.tables(EXPERIMENTS).legs("league"):
            found = result_of(await arena.state(leg.debate), "league", planned_debate(leg.leg).group)
            assert read_result(leg.result or "") == found, "no ballot is missing in the results"


async def test_runs_and_people_in_several_processes_share_the_budget(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    definition = await failed_league(league, room=Money("2.5"))
    actions = ("retry", "resume", "retry")
    processes = [subprocess.Popen(command(tmp_path, action), stderr=subprocess.DEVNULL) for action in actions]
    for process in processes:
        process.wait()
    assert definition.budget is not None
    assert league.billed <= definition.budget
    async with Arena.open(league.settings, providers=league.providers, recover=True) as arena:
        progress = await ExperimentRunner(arena, definition).run(retry_failed=True)
        assert league.billed <= progress.spent <= definition.budget
        assert await booked(arena) == await costs(arena)


async def test_two_machines_on_one_database_share_the_budget(tmp_path: Path, empty_postgres: str) -> None:
    league = BilledLeague(tmp_path)
    stores = [await PostgresStore.open(empty_postgres, pool=4) for _ in range(2)]
    async with (
        Arena.open(league.settings, store=stores[0], providers=league.providers) as one,
        Arena.open(league.settings, store=stores[1], providers=league.providers) as other,
    ):
        league.break_down()
        failed = await ExperimentRunner(one, LEAGUE).run()
        league.mend()
        limit = (await one.state((await failed_debates(one))[0])).limits.cost_limit
        assert limit is not None
        budget = failed.spent + limit * Money("2.5")
        await one.store.tables(EXPERIMENTS).save("league", replace(LEAGUE, budget=budget).to_json())
        await asyncio.gather(retry_all(one), retry_all(other))
        await all_settled(one)
        assert failed.spent < league.billed <= budget
        assert league.billed <= await booked(one) == await costs(one) <= budget


async def test_a_process_that_ends_with_its_debate_has_settled_it(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    await failed_league(league, room=Money(20))
    subprocess.run(command(tmp_path, "retry"), check=True)
    async with Arena.open(league.settings, providers=league.providers) as arena:
        assert await arena.store.tables(EXPERIMENTS).held_legs("league") == ()
        counts = await arena.store.tables(EXPERIMENTS).counts("league")
        assert (counts.settled, counts.failed) == (10, 0)
        assert await booked(arena) == await costs(arena)


async def test_money_for_a_command_that_never_came_is_given_back(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    await failed_league(league, room=Money("1.5"))
    killed = subprocess.run(command(tmp_path, "retry"), env=crashing_at("leg-reserved-again:1"), check=False)
    assert killed.returncode == -signal.SIGKILL
    async with Arena.open(league.settings, providers=league.providers) as arena:
        [held] = await arena.store.tables(EXPERIMENTS).held_legs("league")
        assert await booked(arena) > await costs(arena)
        other = next(one for one in await failed_debates(arena) if one != held.debate)
        await arena.ask(other, Retry())  # there is room for one only
        assert await arena.store.tables(EXPERIMENTS).held_legs("league") != (held,)
        with pytest.raises(OverBudget):
            await arena.ask(held.debate, Retry())


async def test_a_command_whose_money_was_given_back_meanwhile_cannot_be_recorded(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    await failed_league(league, room=Money("1.5"))
    async with Arena.open(league.settings, providers=league.providers) as arena:
        debate = await arena.state((await failed_debates(arena))[0])
        reserved = await arena.bookings.reserve(debate.id, debate.status, most_cost(debate))
        await arena.bookings.settle_held("league")
        assert await booked(arena) == await costs(arena)
        with pytest.raises(Fenced):
            await arena.store.record(debate.id, lambda _: [TurnRetried(1)], epoch=reserved.epoch)
        await arena.ask(debate.id, Retry())
        [held] = await arena.store.tables(EXPERIMENTS).held_legs("league")
        assert held.debate == debate.id


async def test_a_debate_whose_judge_failed_is_judged_when_it_is_tried_again(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    league.break_down()
    async with Arena.open(league.settings, providers=league.providers) as arena:
        judged = replace(LEAGUE, models=("scripted/a", "scripted/c"), judges=("scripted/b",), budget=RICH)
        progress = await ExperimentRunner(arena, judged).run()
        assert (progress.finished, progress.failed) == (0, 10)
        league.mend()
        progress = await ExperimentRunner(arena, judged).run(retry_failed=True)
        assert (progress.finished, progress.failed) == (10, 0)
        assert league.billed <= progress.spent == await costs(arena)


async def test_a_debate_that_cannot_be_tried_again_does_not_stop_the_others(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    definition = await failed_league(league, room=Money(20))
    async with Arena.open(league.settings, providers=league.providers) as arena:
        ended = (await failed_debates(arena))[0]
        await arena.ask(ended, Abort())
        progress = await ExperimentRunner(arena, definition).run(retry_failed=True)
        assert (progress.finished, progress.failed) == (10, 0)
        assert (await arena.state(ended)).status == "aborted"


async def test_a_deleted_debate_is_not_held_again_with_money_that_was_spent(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    killed = subprocess.run(command(tmp_path, "resume"), env=crashing_at("judging:1"), check=False)
    assert killed.returncode == -signal.SIGKILL
    async with Arena.open(league.settings, providers=league.providers) as arena:
        begun = [leg.debate for leg in await arena.store.tables(EXPERIMENTS).legs("league")]
        for debate_id in begun:
            await arena.delete(debate_id)
        spent = await booked(arena)
        assert 0 < league.billed <= spent < RICH
        progress = await ExperimentRunner(arena, LEAGUE).run(retry_failed=True)
        assert (progress.finished, progress.held_now) == (10, 10 - len(begun))
        assert {head.id for head in (await arena.list()).heads}.isdisjoint(begun)
        assert league.billed <= progress.spent == await booked(arena)


async def test_a_debate_without_a_limit_stays_out_of_a_budget_that_came_later(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    league.break_down()
    async with Arena.open(league.settings, providers=league.providers) as arena:
        free = replace(LEAGUE, motions=LEAGUE.motions[:1], budget=None)
        await ExperimentRunner(arena, free).run()
        await arena.store.tables(EXPERIMENTS).save("league", replace(free, budget=RICH).to_json())
        with pytest.raises(OverBudget, match="no cost limit of its own"):
            await arena.ask((await failed_debates(arena))[0], Retry())
        await arena.store.tables(EXPERIMENTS).save("league", free.to_json())
        league.mend()
        assert await retry_all(arena) == 0
        await all_settled(arena)
        assert await booked(arena) == await costs(arena) > 0


async def test_a_budget_that_comes_later_needs_limits_of_what_is_under_way(tmp_path: Path) -> None:
    league = BilledLeague(tmp_path)
    free = replace(LEAGUE, motions=LEAGUE.motions[:1], budget=None)
    async with Arena.open(league.settings, providers=league.providers) as arena:
        await arena.store.tables(EXPERIMENTS).save("league", free.to_json())
    subprocess.run(command(tmp_path, "resume"), env=crashing_at("judging:1"), check=False)
    async with Arena.open(league.settings, providers=league.providers) as arena:
        with pytest.raises(Invalid, match="was begun before the experiment had a budget"):
            await ExperimentRunner(arena, replace(free, budget=RICH)).run()
        assert (await ExperimentRunner(arena, free).run()).finished == 2


def command(folder: Path, action: str) -> list[str]:
    return [sys.executable, "-m", "tests.extensions.experiments.billed_league", str(folder), action]


def crashing_at(point: str) -> dict[str, str]:
    return {**os.environ, "MOOT_CRASH_AT": point}
