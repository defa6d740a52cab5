"""Judges: agreement is that of other libraries, planted biases are found, and only those."""

from __future__ import annotations

import evalica
import numpy as np
import pandas
import pytest

from moot.core.errors import Invalid
from moot.experiments import (
    Judgment,
    SimulatedJudge,
    agreement_with_people,
    elo_ratings,
    judge_agreement,
    judge_report,
    leave_one_judge_out,
    leave_one_motion_out,
    rate_models,
    rows_of,
    simulate,
)
from moot.extensions.experiments.measuring.tables import as_table
from tests.extensions.experiments.public_judgments import needs_public_judgments, public_judgments
from tests.extensions.experiments.worlds import round_robin_units, strengths, world


def alpha_by_evalica(rows: object) -> float:
    table = as_table(rows)
    ratings = np.full((len(table.judges), len(table.debates)), np.nan)
    ratings[table.judge, table.debate] = table.score
    return float(evalica.alpha(pandas.DataFrame(ratings)).alpha)


def test_alpha_is_that_of_evalica() -> None:
    models = strengths(5)
    table = simulate(world(models, tie=0.4), round_robin_units(models, 5))
    found = judge_agreement(table)
    assert found.alpha.value == pytest.approx(alpha_by_evalica(table), abs=1e-9)
    assert found.alpha.low is not None
    assert found.alpha.low < found.alpha.value < (found.alpha.high or 0)
    assert found.unanimous.value is not None
    assert found.raw.value is not None
    assert found.unanimous.value < found.raw.value


def test_planted_biases_of_judges_are_found_and_others_are_not() -> None:
    judges = (
        SimulatedJudge(name="anthropic/claude", family=1.2),
        SimulatedJudge(name="openai/gpt-6", order=1.0),
        SimulatedJudge(name="wordy", length=2.0),
        SimulatedJudge(name="partial", side=1.0),
        SimulatedJudge(name="fair"),
    )
    models = {"claude-a": 0.4, "claude-b": -0.2, "gpt-a": 0.1, "gpt-b": -0.3, "gemini": 0.0, "qwen": 0.0}
    truth = world(models, judges=judges, side=0.2, both_orders=True)
    report = judge_report(simulate(truth, round_robin_units(models, 25), seed=7))
    found = {judge.judge: judge for judge in report.judges}

    def near(estimate: object, value: float) -> None:
        assert estimate is not None
        assert estimate.clear  # type: ignore[attr-defined]
        assert estimate.value == pytest.approx(value, abs=0.4)  # type: ignore[attr-defined]

    near(found["anthropic/claude"].family, 1.2)
    near(found["openai/gpt-6"].label, 1.0)
    near(found["wordy"].length, 2.0)
    near(found["partial"].side, 1.2)
    fair = found["fair"]
    assert not any(one.clear for one in (fair.label, fair.length) if one is not None)
    assert fair.flips.value is not None
    assert found["openai/gpt-6"].flips.value is not None
    assert found["openai/gpt-6"].flips.value > fair.flips.value
    assert found["partial"].pro_share.value is not None
    assert found["partial"].pro_share.value > 0.65
    assert {row["judge"] for row in report.rows()} == set(found)


def test_a_judge_that_always_names_one_side_is_seen_without_a_model_fit() -> None:
    rows = [
        Judgment(group=f"g{n}", debate=f"g{n}{pro}", pro=pro, con=con, judge="stuck", winner="pro")
        for n in range(25)
        for pro, con in (("a", "b"), ("b", "a"))
    ]
    (stuck,) = judge_report(rows).judges
    assert (stuck.same_side.value, stuck.pro_share.value, stuck.flips.value) == (1.0, 1.0, None)


def test_readings_in_two_orders_that_differ_are_a_flip_and_half_a_decision_for_each_side() -> None:
    def row(judge: str, order: int, winner: str, n: int) -> Judgment:
        return Judgment(
            group=f"g{n}", debate=f"d{n}", pro="a", con="b", judge=judge, order=order, winner=winner  # type: ignore[arg-type]
        )  # fmt: skip

    rows = [row("x", o, w, n) for n in range(4) for o, w in ((0, "pro"), (1, "con" if n < 2 else "pro"))]
    rows += [row("y", o, "pro", n) for n in range(4) for o in (0, 1)]
    found = {judge.judge: judge for judge in judge_report(rows).judges}
    assert found["x"].flips.value == 0.5
    assert found["y"].flips.value == 0.0
    assert judge_agreement(rows).raw.value == 0.75


def test_ratings_without_a_partial_judge_show_what_it_did() -> None:
    models = {"claude-a": 0.0, "gpt": 0.0, "qwen": 0.0}
    judges = (
        SimulatedJudge(name="claude judge", family=2.5),
        SimulatedJudge(name="one"),
        SimulatedJudge(name="two"),
    )
    table = simulate(world(models, judges=judges, side=0.0), round_robin_units(models, 40))
    shifts = {(shift.model, shift.without): shift for shift in leave_one_judge_out(table)}
    moved = shifts["claude-a", "claude judge"]
    assert moved.rating_without < moved.rating - 30
    assert len(shifts) == 9
    assert moved.row()["shift"] < 0


def test_ratings_without_one_motion_are_those_of_a_fit_without_it() -> None:
    models = strengths(4)
    table = simulate(world(models), round_robin_units(models, 20))
    board = rate_models(table.where(table.motion != 3))
    shifts = {shift.model: shift for shift in leave_one_motion_out(table) if shift.without == "motion 3"}
    for row in board.models:
        assert shifts[row.model].rating_without == pytest.approx(row.rating, abs=2)
        assert shifts[row.model].rank_without == row.rank


def test_judges_are_compared_with_the_majority_of_people() -> None:
    models = strengths(4)
    table = simulate(world(models), round_robin_units(models, 6))
    rows = rows_of(table)
    good = [r for r in rows if r.judge == "judge 0"]
    votes = [
        {"debate": r.debate, "pro": r.pro, "con": r.con, "voter": v, "winner": r.winner}
        for r in good
        for v in "abc"
    ]
    found = {one.name: one for one in agreement_with_people(rows, votes)}
    assert found["judge 0"].value == 1.0
    assert found["judge 1"].value is not None
    assert 0.4 < found["judge 1"].value < 1.0
    assert "panel" in found


def test_elo_is_there_as_an_extra_and_names_the_same_best_model() -> None:
    models = {"a": 1.5, "b": 0.0, "c": -1.5}
    table = simulate(world(models), round_robin_units(models, 30))
    assert [row.model for row in elo_ratings(table)] == [row.model for row in rate_models(table).models]


def test_no_decision_at_all_is_an_error() -> None:
    with pytest.raises(Invalid, match="no judgment"):
        judge_report([Judgment(group="g", debate="d", pro="a", con="b", judge="j", winner="none")])


@needs_public_judgments
def test_agreement_of_published_judges_is_that_of_evalica() -> None:
    rows = [row for row in public_judgments() if row.eligible]
    found = judge_agreement(rows)
    assert found.alpha.value == pytest.approx(alpha_by_evalica(rows), abs=1e-9)
    assert len(found.pairs) == 15
