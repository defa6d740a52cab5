"""Ratings: the fit is that of other libraries, intervals hold the truth, and doubts are told."""

from __future__ import annotations

import itertools

import evalica
import numpy as np
import pytest
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.experiments import (
    Judgment,
    SimulatedJudge,
    rate_components,
    rate_models,
    rate_style_controlled,
    simulate,
)
from moot.extensions.experiments.measuring.leaderboard import SCALE
from moot.extensions.experiments.measuring.tables import JudgmentTable, as_table
from tests.extensions.experiments.public_judgments import needs_public_judgments, public_judgments
from tests.extensions.experiments.worlds import covered, round_robin_units, strengths, world


def matches(*results: tuple[str, str, str], motion: str = "m") -> list[Judgment]:
    """A group for each (pro, con, winner)."""
    return [
        Judgment(group=f"{motion} {n}", debate=f"{motion} {n}", pro=pro, con=con, judge="j", winner=winner)  # type: ignore[arg-type]
        for n, (pro, con, winner) in enumerate(results)
    ]


def test_the_fit_is_that_of_evalica() -> None:
    models = strengths(7)
    table = simulate(world(models, tie=0.5), round_robin_units(models, 6))
    ours = rate_models(table, terms=(), debate_weight="judgment", prior_sd=1e3)
    kinds = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    theirs = evalica.bradley_terry(
        [table.models[code] for code in table.pro],
        [table.models[code] for code in table.con],
        [kinds[float(score)] for score in table.score],
        tolerance=1e-12,
        limit=10_000,
    )
    expected = np.log(theirs.scores) - np.log(theirs.scores).mean()
    assert all(abs(row.strength - expected[row.model]) < 1e-4 for row in ours.models)


def test_intervals_hold_the_truth_and_the_side_is_found() -> None:
    """The short form; `make simulate` does it at length."""
    held: list[float] = []
    sides: list[bool] = []
    for run in range(40):
        models = strengths(6, run)
        board = rate_models(simulate(world(models), round_robin_units(models, 8), seed=run))
        truth = [1500 + SCALE * models[row.model] for row in board.models]
        held.append(covered([(row.low, row.high) for row in board.models], truth))
        side = board.effect("side")
        assert side is not None
        assert side.low is not None
        assert side.high is not None
        sides.append(side.low <= 0.4 <= side.high)
    assert 0.91 <= float(np.mean(held)) <= 0.985
    assert sum(sides) >= 34


def test_rows_that_repeat_a_decision_do_not_narrow_the_interval() -> None:
    """Judges who always agree add rows, not knowledge."""
    models = strengths(4)
    units = round_robin_units(models, 20)
    one = rate_models(simulate(world(models, judges=(SimulatedJudge(name="a"),), debate_share=0.8), units))
    many = tuple(SimulatedJudge(name=f"j{n}") for n in range(9))
    same = rate_models(simulate(world(models, judges=many, debate_share=0.8), units))

    def width(board: object) -> float:
        return float(np.mean([row.high - row.low for row in board.models]))  # type: ignore[attr-defined]

    assert width(same) > 0.7 * width(one)


def test_models_that_cannot_be_told_apart_share_a_rank_range() -> None:
    models = {"a": 0.0, "b": 0.0, "strong": 2.0}
    board = rate_models(simulate(world(models), round_robin_units(models, 30)))
    assert board.model("strong").best_rank == board.model("strong").worst_rank == 1
    assert (board.model("a").best_rank, board.model("a").worst_rank) == (2, 3)
    assert not board.separable("a", "b")
    assert board.separable("a", "strong")


def test_too_little_data_says_so() -> None:
    board = rate_models(matches(("a", "b", "pro"), ("b", "a", "tie"), ("a", "b", "con")))
    assert any("Little data: 3 matchups (the rows name no motion)" in note for note in board.notes)
    assert any("not held with both sides" in note for note in board.notes)
    assert not board.separable("a", "b")
    alone = rate_models(matches(("a", "b", "tie")))
    assert alone.models[0].low is None


def test_a_model_that_never_lost_has_an_interval_without_an_end() -> None:
    results = [
        (one, other, "pro")
        for one, other in (("a", "b"), ("b", "a"), ("top", "a"), ("top", "b"))
        for _ in range(9)
    ]
    board = rate_models(matches(*results), terms=())
    top = board.model("top")
    assert top.rank == 1
    assert top.high is None
    assert top.low is not None
    assert top.rating < 3000
    assert all(row.high is not None and row.low is not None for row in board.models[1:])
    assert any("never lost" in note and "prior" in note for note in board.notes)


def test_models_that_never_met_are_not_compared() -> None:
    rows = matches(
        ("a", "b", "pro"), ("b", "a", "pro"), ("c", "d", "pro"), ("d", "c", "con"), ("c", "e", "pro")
    )
    with pytest.raises(Invalid, match="2 sets that never met"):
        rate_models(rows)
    parts = rate_components(rows)
    assert [{row.model for row in part.models} for part in parts] == [{"c", "d", "e"}, {"a", "b"}]


def test_nothing_decided_is_an_error() -> None:
    with pytest.raises(Invalid, match="no judgment"):
        rate_models(matches(("a", "b", "none")))


def test_an_effect_that_the_data_cannot_show_is_left_out_and_told() -> None:
    models = strengths(4)
    table = simulate(world(models), round_robin_units(models, 6))
    board = rate_style_controlled(table)
    assert board.effect("length") is not None
    assert board.effect("last_word") is not None
    assert board.effect("side:simulated") is None
    assert any("markup is unknown for 100%" in note for note in board.notes)
    assert any("side of simulated cannot be measured" in note for note in board.notes)
    alone = rate_models(table, terms=("self",))
    assert "No model judged itself, so self-preference cannot be measured." in alone.notes
    with pytest.raises(Invalid, match="no covariate 'luck'"):
        rate_models(table, terms=("luck",))


def test_planted_effects_are_found_and_taken_out() -> None:
    models = strengths(6, seed=4)
    wordy = SimulatedJudge(name="wordy", length=1.5, order=0.8)
    table = simulate(world(models, judges=(wordy,), last_word=0.5), round_robin_units(models, 60), seed=2)
    board = rate_models(table, terms=("side", "last_word", "order", "length"))
    planted = {"side": 0.4, "last_word": 0.5, "order": 0.8, "length": 1.5}
    for name, value in planted.items():
        found = board.effect(name)
        assert found is not None
        assert found.clear
        assert found.value == pytest.approx(value, abs=0.35)


def test_davidson_ties_find_the_tie_parameter() -> None:
    models = strengths(5, seed=1)
    table = simulate(world(models, tie=0.8, side=0.0), round_robin_units(models, 60))
    board = rate_models(table, ties="davidson")
    tie = board.effect("tie")
    assert tie is not None
    assert tie.low is not None
    assert tie.high is not None
    assert tie.low <= np.log(0.8) <= tie.high


def test_pairs_that_met_often_do_not_count_more_when_pairs_are_equal() -> None:
    """Three models in a circle: whoever meets the one they beat most often would look strongest."""
    results = [("a", "b", "pro")] * 30 + [("b", "c", "pro")] * 3 + [("c", "a", "pro")] * 3
    flipped = [(con, pro, "con") for pro, con, _ in results]
    rows = matches(*results, *flipped)
    held = rate_models(rows, terms=())
    equal = rate_models(rows, terms=(), pair_weight="equal")
    assert held.models[0].rating - held.models[-1].rating > 50
    assert any("Pairs met 6 to 60 times" in note for note in held.notes)
    assert not any("Pairs met" in note for note in equal.notes)
    assert equal.models[0].rating - equal.models[-1].rating < 1


def seen_from_the_other_side(table: JudgmentTable) -> JudgmentTable:
    return replace(
        table, pro=table.con, con=table.pro, score=1 - table.score,
        order=np.where(table.order < 0, -1, 1 - table.order), last_word=-table.last_word,
        read_first=-table.read_first, label=-table.label, address=-table.address,
        length=-table.length, markup=-table.markup,
    )  # fmt: skip


def test_swapping_the_names_of_the_sides_changes_only_the_sign_of_the_side() -> None:
    models = strengths(4)
    table = simulate(world(models), round_robin_units(models, 10))
    board, other = rate_models(table), rate_models(seen_from_the_other_side(table))
    side, turned = board.effect("side"), other.effect("side")
    assert side
    assert turned
    assert side.value is not None
    assert turned.value == pytest.approx(-side.value)
    for one, two in itertools.zip_longest(board.models, other.models):
        assert one.rating == pytest.approx(two.rating)


@needs_public_judgments
def test_published_judgments_are_rated_as_evalica_rates_them() -> None:
    table = as_table(public_judgments())
    board = rate_models(table, terms=(), debate_weight="judgment", prior_sd=1e3)
    used = table.where(table.eligible)
    theirs = evalica.bradley_terry(
        [used.models[code] for code in used.pro],
        [used.models[code] for code in used.con],
        [evalica.Winner.X if score else evalica.Winner.Y for score in used.score],
        tolerance=1e-12,
        limit=10_000,
    )
    expected = np.log(theirs.scores) - np.log(theirs.scores).mean()
    assert (board.judgments, board.debates, board.groups) == (3544, 1528, 764)
    assert all(abs(row.strength - expected[row.model]) < 1e-4 for row in board.models)


def test_of_an_effect_that_another_one_hides_nothing_is_said() -> None:
    """The judge names whoever is shown first, so its decisions say nothing about the side."""
    rows = [
        {"motion": m, "pro": pro, "con": con, "judge": "j", "order": order, "winner": ("pro", "con")[order]}
        for m in ("w", "x", "y", "z")
        for pro, con in (("a", "b"), ("b", "a"))
        for order in (0, 1)
    ]
    side, order = rate_models(rows, terms=("side", "order")).effects
    assert (side.low, side.high) == (None, None)
    assert order.low is not None
    assert order.high is None
