"""Overconfidence, turning points, and which judge agrees best with people."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.belief_measures import measure_beliefs
from moot.extensions.experiments.measuring.debate_beliefs import DebateBeliefs, JudgeShift, beliefs_of
from moot.extensions.experiments.measuring.judgments import Judgment, JudgmentWinner
from moot.extensions.experiments.measuring.leg_results import LegResult, read_result, result_of
from moot.extensions.experiments.measuring.people_agreement import compare_with_people
from moot.extensions.experiments.measuring.people_votes import PersonVote, read_votes, votes_on
from tests.golden.scenes import SCENES


def judged(number: int, winner: JudgmentWinner, judge: str = "owl", **changes: str) -> Judgment:
    row = {"group": f"m{number // 2}", "debate": f"deb_{number}", "pro": "a", "con": "b"} | changes
    return Judgment(judge=judge, winner=winner, **row)


def result(number: int, winner: JudgmentWinner, beliefs: DebateBeliefs | None = None) -> LegResult:
    return LegResult(
        f"deb_{number}",
        "completed",
        motion=f"Zoos {number // 2}",
        judgments=(judged(number, winner),),
        beliefs=beliefs,
    )


def test_both_sure_of_winning_is_overconfidence_of_half_the_difference() -> None:
    sure = DebateBeliefs(0.7, 0.9, 0.6, 0.8)
    measures = measure_beliefs([result(n, "pro" if n % 2 else "con", sure) for n in range(40)])
    assert measures is not None
    assert measures.both_sure.value == 1
    overall = measures.overall
    assert (overall.opening.value, overall.closing.value, overall.won.value) == pytest.approx(
        (0.65, 0.85, 0.5)
    )
    assert overall.overconfidence.value == pytest.approx(0.35)
    assert overall.overconfidence.clear
    assert {each.model: round(each.closing.value or 0, 2) for each in measures.models} == {"a": 0.9, "b": 0.8}
    assert measures.notes == ()


def test_the_largest_moves_of_the_judge_are_named_and_little_data_says_so() -> None:
    shifts = [JudgeShift(n, "acme/owl", "Rebuttal", "con", 0.4, 0.4 + n / 10) for n in range(1, 4)]
    results = [result(n, "con", DebateBeliefs(turning=shift)) for n, shift in enumerate(shifts)]
    measures = measure_beliefs([*results, result(9, "con")])
    assert measures is not None
    assert [(turn.turn, turn.toward) for turn in measures.turning] == [(3, "b"), (2, "b"), (1, "b")]
    assert measures.overall.closing.value is None
    assert "little data" in measures.notes[0]
    assert measure_beliefs([result(1, "pro")]) is None


def test_what_was_believed_is_stored_with_the_result() -> None:
    debate = SCENES["beliefs"]("deb_beliefs").debate
    found = beliefs_of(debate)
    assert found is not None
    assert (found.pro_opening, found.pro_closing) == (0.1103, 0.1503)
    assert found.turning is not None
    assert (found.turning.turn, found.turning.toward) == (2, "pro")
    stored = result_of(debate, "league", "group")
    assert read_result(stored.to_json()) == stored
    assert beliefs_of(SCENES["free"]("deb_free").debate) is None
    moved = beliefs_of(SCENES["model-audience"]("deb_model-audience").debate)
    assert moved is not None
    assert moved.audience_lead == 42.9


def test_the_prompt_that_agrees_best_with_people_is_named_if_the_data_can_tell() -> None:
    people = (PersonVote("ann", "pro"), PersonVote("bob", "pro"), PersonVote("cy", "con"))

    def voted(number: int, lenient: JudgmentWinner) -> LegResult:
        rows = (judged(number, "pro", "owl [strict]"), judged(number, lenient, "owl [lenient]"))
        return LegResult(f"deb_{number}", "completed", judgments=rows, votes=people)

    clear = compare_with_people([voted(n, "con") for n in range(40)])
    assert clear is not None
    assert (clear.debates, clear.voters) == (40, 3)
    assert [each.name for each in clear.judges if each.name != "panel"] == ["owl [strict]", "owl [lenient]"]
    assert (
        clear.sentence
        == "owl [strict] agrees most with people; the difference to owl [lenient] is separable."
    )
    close = compare_with_people([voted(n, "con" if n == 3 else "pro") for n in range(6)])
    assert close is not None
    assert "not separable" in close.sentence
    level = compare_with_people([voted(n, "pro") for n in range(6)])
    assert level is not None
    assert level.sentence == "owl [lenient] and owl [strict] agree equally often with people."
    assert compare_with_people([result(1, "pro")]) is None


def test_votes_of_people_are_read_under_several_names_and_errors_name_the_row(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("Debate_ID,Person,Choice\ndeb_1,ann,for\ndeb_1,bob,acme/b\ndeb_1,ann,tie\n", "utf-8")
    votes = read_votes(file)
    assert votes == {"deb_1": (("ann", "tie"), ("bob", "acme/b"))}
    row = judged(1, "pro", pro="acme/a", con="acme/b")
    assert votes_on(row, votes["deb_1"]) == (PersonVote("ann", "tie"), PersonVote("bob", "con"))
    with pytest.raises(Invalid, match="maybe"):
        votes_on(row, [("eve", "maybe")])
    file.write_text("debate,voter,winner\ndeb_1,,for\n", "utf-8")
    with pytest.raises(Invalid, match="row 1 has no voter"):
        read_votes(file)
