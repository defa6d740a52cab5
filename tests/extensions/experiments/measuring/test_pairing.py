"""Who meets whom: plans are balanced, repeatable and extensible; adaptive plans do not bias the ratings."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.experiments import (
    Judgment,
    Matchup,
    SimulatedJudge,
    adaptive_round,
    expected_team_widths,
    expected_widths,
    motion_balances,
    rate_models,
    rate_rankings,
    round_robin,
    rows_of,
    simulate,
    simulate_rankings,
    swiss_round,
)
from moot.extensions.experiments.measuring.leaderboard import SCALE
from moot.extensions.experiments.measuring.planned_debates import legs_of
from moot.extensions.experiments.measuring.simulation import SimulatedWorld
from tests.extensions.experiments.worlds import JUDGES, covered, strengths, world

MODELS = [f"model {number}" for number in range(7)]
MOTIONS = [f"motion {number}" for number in range(12)]


def held(truth: SimulatedWorld, units: tuple[Matchup, ...], seed: int) -> list[Judgment]:
    """The judgments of these matchups."""
    rows = rows_of(simulate(truth, [(unit.motion, unit.first, unit.second) for unit in units], seed))
    groups = {(unit.motion, frozenset((unit.first, unit.second))): unit.group for unit in units}
    found = [groups[row.motion, frozenset((row.pro, row.con))] for row in rows]
    return [
        replace(row, group=group, debate=f"{group} {row.pro}") for row, group in zip(rows, found, strict=True)
    ]


def pairs(units: tuple[Matchup, ...]) -> Counter[tuple[str, str]]:
    return Counter((unit.first, unit.second) for unit in units)


def test_every_pair_meets_on_every_motion_once() -> None:
    units = round_robin(MODELS, MOTIONS)
    assert len({unit.group for unit in units}) == len(units) == 21 * 12
    assert set(pairs(units).values()) == {12}
    assert units[0].debates()[0] == units[0].debates()[1][::-1]


def test_a_round_robin_that_is_cut_short_is_balanced() -> None:
    units = round_robin(MODELS, MOTIONS, seed=3)
    for layers in (1, 2, 5):
        assert set(pairs(units[: 21 * layers]).values()) == {layers}


def test_a_plan_is_repeatable_and_grows_with_models_and_motions() -> None:
    plan = round_robin(MODELS, MOTIONS, motions_per_pair=5)
    assert plan == round_robin(MODELS[::-1], MOTIONS[::-1], motions_per_pair=5)
    assert plan != round_robin(MODELS, MOTIONS, motions_per_pair=5, seed=1)
    assert set(plan) <= set(round_robin([*MODELS, "new"], MOTIONS, motions_per_pair=5))
    assert set(round_robin(MODELS, MOTIONS)) <= set(round_robin(MODELS, [*MOTIONS, "new"]))
    assert set(plan) <= set(round_robin(MODELS, MOTIONS, motions_per_pair=6, repeats=2))


def test_wrong_plans_are_refused() -> None:
    for models, motions in (([], ["m"]), (["a", "b"], []), (["a", "a"], ["m"])):
        with pytest.raises(Invalid):
            round_robin(models, motions)


def test_swiss_rounds_bring_no_pair_together_twice_and_find_the_strongest() -> None:
    truth = SimulatedWorld(strengths={model: 1.5 * n for n, model in enumerate(MODELS)})
    rows: list[Judgment] = []
    met: Counter[tuple[str, str]] = Counter()
    for number in range(5):
        units = swiss_round(MODELS, MOTIONS, rows, seed=4)
        assert len(units) == 3
        met += pairs(units)
        rows += held(truth, units, number)
    assert set(met.values()) == {1}
    rounds = Counter(model for pair in met for model in pair)
    assert max(rounds.values()) - min(rounds.values()) <= 1
    assert rate_models(rows).models[0].model in MODELS[-2:]


def test_swiss_goes_on_when_everybody_has_met() -> None:
    rows = [
        Judgment(group=f"{a}{b}", debate=f"{a}{b}", pro=a, con=b, judge="j", winner="pro", motion="motion 0")
        for a, b in combinations(MODELS[:4], 2)
    ]
    units = swiss_round(MODELS[:4], MOTIONS[:1], rows)
    assert len(units) == 2
    assert all(unit.repeat in (1, 2) for unit in units)


def test_adaptive_pairing_asks_where_least_is_known() -> None:
    models = dict.fromkeys(MODELS[:4], 0.0)
    rows = held(world(models), round_robin(list(models), MOTIONS), 1)
    units = adaptive_round([*models, "new"], MOTIONS, rows, count=6, explore=0.0)
    assert all("new" in (unit.first, unit.second) for unit in units)
    assert units == adaptive_round([*models, "new"], MOTIONS, rows, count=6, explore=0.0)
    assert len({unit.group for unit in units}) == 6


def test_ratings_of_adaptive_plans_hold_the_truth() -> None:
    shares: list[float] = []
    for run in range(12):
        models = strengths(6, run)
        truth = world(models, judges=JUDGES[:2])
        rows: list[Judgment] = []
        for step in range(6):
            rows += held(
                truth, adaptive_round(list(models), MOTIONS, rows, count=12, seed=run), 100 * run + step
            )
        board = rate_models(rows)
        shares.append(
            covered(
                [(row.low, row.high) for row in board.models],
                [1500 + SCALE * models[row.model] for row in board.models],
            )
        )
    assert np.mean(shares) > 0.88


def test_the_expected_width_is_the_width_that_comes_out() -> None:
    models = strengths(6, seed=2)
    plan = round_robin(list(models), MOTIONS)
    judges = tuple(SimulatedJudge(name=f"judge {number}") for number in range(3))
    truth = world(models, judges=judges)
    rows = [held(truth, plan, seed) for seed in range(4)]
    widths = [row.high - row.low for one in rows for row in rate_models(one).models if row.high and row.low]
    # The correlations of this world: both judges must take the shared draw.
    told = expected_widths(
        plan, judges=3, strengths=models, judge_correlation=0.13, group_correlation=0.04, motion_sd=0.0
    )
    assert told.rating_width == pytest.approx(np.mean(widths), rel=0.12)
    assert told.debates == 2 * len(plan)
    with pytest.raises(Invalid):
        expected_widths([])


def test_the_forecast_for_four_teams_is_near_what_such_rankings_show() -> None:
    truth = {f"model {number}": (number - 3.5) * 0.3 for number in range(8)}
    rows = simulate_rankings(truth, {"OG": 0.2, "OO": 0.0, "CG": 0.0, "CO": -0.1}, groups=120, seed=3)
    board = rate_rankings(rows)
    found = sum((each.high or 0) - (each.low or 0) for each in board.models) / len(board.models)
    groups = list({row.group: row.models for row in rows}.values())
    told = expected_team_widths(groups, strengths=truth, motion_sd=0.0)
    assert told.rating_width == pytest.approx(found, rel=0.15)
    assert (told.groups, told.debates) == (120, 480)


def test_the_balance_of_a_motion_counts_debates_and_leaves_ties_out() -> None:
    legs = [leg.leg for leg in legs_of("Zoos do more good than harm", ("a", "b"))]
    shares = [
        (leg, share) for leg, share in zip(legs * 5, (1, 0.75, 0.5, 1, 0, 1, 1, 0.5, 0.6, 1), strict=True)
    ]
    found = motion_balances([*shares, ('{"question":"q1"}', 1.0), ("not JSON", 1.0)])
    balance = found["Zoos do more good than harm"]
    assert list(found) == ["Zoos do more good than harm"]
    assert (balance.pro_wins, balance.con_wins, balance.ties) == (7, 1, 2)
    assert 0.5 < balance.low < 7 / 8 < balance.high < 1
