"""Intervals: motions are the unit, they hold the truth, and none is narrower than the data allows."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from moot.experiments import Judgment, SimulatedJudge, rate_models, rate_rankings, simulate
from moot.extensions.experiments.measuring.estimates import DIFFERENCE, mean_estimate, share_estimate
from moot.extensions.experiments.measuring.judgments import JudgmentWinner, Ranking
from moot.extensions.experiments.measuring.report_text import estimate_text, interval_text
from tests.extensions.experiments.__main__ import KINDS, one_run
from tests.extensions.experiments.worlds import round_robin_units, strengths, tasteful_judges, world

HARD = (
    "motions suit some models",
    "one-sided motions",
    "6 motions, both",
    "judges with tastes, over judges",
    "motions and pairs of unequal numbers",
)


def row(motion: int, pro: str, con: str, winner: JudgmentWinner, judge: str = "j") -> Judgment:
    return Judgment(
        group=f"{motion} {min(pro, con)}", debate=f"{motion} {pro} {con}", pro=pro, con=con, judge=judge,
        winner=winner, motion=f"motion {motion}",
    )  # fmt: skip


@pytest.mark.parametrize("title", HARD)
def test_intervals_hold_the_truth_where_motions_and_judges_differ(title: str) -> None:
    """The short form; `make simulate` does it at length."""
    kind = next(kind for kind in KINDS if kind.title == title)
    ratings, pairs, side = np.array([one_run(kind, run) for run in range(30)]).mean(axis=0)
    assert 0.89 <= ratings <= 1.0
    assert 0.89 <= pairs <= 1.0
    assert side >= 0.83


def test_one_sided_motions_make_the_side_less_certain() -> None:
    models = strengths(4)
    table = simulate(world(models, motion_side_sd=1.0), round_robin_units(models, 20), seed=1)
    by_motion, by_group = (rate_models(table, cluster=unit).effect("side") for unit in ("motion", "group"))
    assert by_motion is not None
    assert by_group is not None
    assert by_motion.value == by_group.value
    assert (by_motion.high or 0) - (by_motion.low or 0) > 1.8 * ((by_group.high or 0) - (by_group.low or 0))


def test_repeats_of_the_same_debates_on_few_motions_hardly_narrow_an_interval() -> None:
    models = strengths(4)
    once = round_robin_units(models, 8)
    truth = world(models, motion_sd=1.0, motion_side_sd=0.5)
    widths: list[float] = []
    for units in (once, once * 8):
        board = rate_models(simulate(truth, units, seed=3))
        widths.append(float(np.mean([(each.high or 0) - (each.low or 0) for each in board.models])))
    assert widths[1] > 0.4 * widths[0]


def test_a_model_has_as_many_degrees_of_freedom_as_motions_less_one() -> None:
    """A newcomer in two motions has a wide interval; in one motion it has none."""
    old = [
        row(n, pro, con, "pro" if (n + k) % 3 else "con")
        for n in range(20)
        for k, (pro, con) in enumerate((("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")))
    ]
    new = [row(n, pro, con, "pro") for n in (0, 1) for pro, con in (("new", "a"), ("a", "new"))]
    new += [row(1, "new", "b", "con")]
    one = rate_models(old + new[:2]).model("new")
    assert (one.low, one.high, one.motions) == (None, None, 1)
    two = rate_models(old + new)
    assert (two.model("new").high or 0) - (two.model("new").low or 0) > 1500
    assert (two.model("a").high or 0) - (two.model("a").low or 0) < 400
    assert two.model("new").best_rank == 1


def test_a_side_that_always_won_has_no_upper_end_and_the_exact_lower_one() -> None:
    rows = [row(n, *pair, "pro") for n in range(20) for pair in (("a", "b"), ("b", "a"))]
    side = rate_models(rows).effect("side")
    assert side is not None
    assert side.high is None
    least = 0.025 ** (1 / 20)
    assert side.low == pytest.approx(log(least / (1 - least)), abs=0.02)
    assert side.clear
    assert estimate_text(side, signed=True).startswith("+4.39 (≥ +1.")
    turned = rate_models([row(n, *pair, "con") for n in range(20) for pair in (("a", "b"), ("b", "a"))])
    other = turned.effect("side")
    assert other is not None
    assert (other.low, other.high) == (None, pytest.approx(-side.low, abs=0.02))


def test_a_model_that_never_lost_is_at_least_so_much_better() -> None:
    rows = [
        row(n, *pair, "pro" if (n + k) % 2 else "con")
        for n in range(12)
        for k, pair in enumerate((("a", "b"), ("b", "a")))
    ]
    rows += [row(n, "top", other, "pro") for n in range(12) for other in "ab"]
    rows += [row(n, other, "top", "con") for n in range(12) for other in "ab"]
    board = rate_models(rows)
    top = board.model("top")
    assert top.high is None
    assert top.low is not None
    assert 1500 < top.low < top.rating
    assert interval_text(top.low, top.high).startswith("≥ ")
    gaps = [each for each in board.differences if each.better == "top"]
    assert all(each.high is None and (each.low or 0) > 0 and each.separable for each in gaps)
    few = rate_models([each for each in rows if each.motion in ("motion 0", "motion 1")])
    assert not few.separable("top", "a")


def test_intervals_over_judges_are_wider_and_need_two_judges() -> None:
    models = strengths(4, seed=1)
    truth = world(models, judges=tasteful_judges(5, models, 1.0, 1))
    table = simulate(truth, round_robin_units(models, 20), seed=1)
    these, others = rate_models(table), rate_models(table, over="judges")
    assert [each.rating for each in these.models] == [each.rating for each in others.models]
    for one, other in zip(these.models, others.models, strict=True):
        assert (other.high or 0) - (other.low or 0) > 1.5 * ((one.high or 0) - (one.low or 0))
    assert any("5 are taken as a sample" in note for note in others.notes)
    alone = simulate(world(models, judges=(SimulatedJudge(name="one"),)), round_robin_units(models, 5))
    board = rate_models(alone, over="judges")
    assert all(each.low is None and each.high is None for each in board.models)
    assert any("nothing can be said about other judges" in note for note in board.notes)


def test_few_motions_are_named_and_one_has_no_interval() -> None:
    rows = [row(n, *pair, "pro" if n % 2 else "con") for n in range(6) for pair in (("a", "b"), ("b", "a"))]
    assert any("Little data: 6 motions" in note for note in rate_models(rows).notes)
    same = [row(0, *pair, "pro") for pair in (("a", "b"), ("b", "a"))]
    board = rate_models(same)
    assert any("all rows belong to one motion" in note for note in board.notes)
    assert board.models[0].low is None
    assert board.differences == ()


def test_no_share_has_an_interval_without_width() -> None:
    motion = np.repeat(np.arange(10), 4)
    for values in (np.zeros(40), np.ones(40), np.tile([0.0, 1.0], 20), np.full(40, 0.5)):
        found = share_estimate("share", motion, values)
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low <= (found.value or 0) <= found.high + 1e-12 <= 1 + 1e-9
        assert found.high - found.low > 0.1
    sure = share_estimate("share", motion, np.ones(40))
    assert estimate_text(sure, share=True) == "100 % (66 to 100 %)"
    same = mean_estimate("difference", motion, np.zeros(40), DIFFERENCE)
    assert same.low is not None
    assert same.high is not None
    assert same.low < -0.1 < 0.1 < same.high
    assert share_estimate("share", np.zeros(4, np.intp), np.ones(4)).low is None


def test_teams_that_always_came_first_have_an_open_interval() -> None:
    seats = ("x", "y", "z")
    rows = [
        Ranking(
            group=f"g{n}", debate=f"g{n} {turn}", motion=f"m{n}", judge="j", seats=seats,
            models=tuple(("best", "one", "two")[(turn + at) % 3] for at in range(3)),
            ranking=((3 - turn) % 3, *[(k - turn) % 3 for k in ((1, 2) if n % 2 else (2, 1))]),
        )
        for n in range(12)
        for turn in range(3)
    ]  # fmt: skip
    board = rate_rankings(rows)
    assert board.models[0].model == "best"
    assert board.models[0].high is None
    assert board.models[0].low is not None
    assert all(each.low is not None and each.high is not None for each in board.models[1:])
    assert all(each.low is not None and each.high is not None for each in board.effects)
    assert board.motions == 12
