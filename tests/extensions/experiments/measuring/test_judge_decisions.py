"""A judge is model, prompt and settings; its decision is the majority of its ballots, however many."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.core.terms import Judge, Model
from moot.experiments import (
    JudgeFilter,
    Judgment,
    agreement_with_people,
    filter_judges,
    judge_agreement,
    judge_report,
)
from moot.extensions.experiments.measuring.debate_judgments import judgments_from_debate
from moot.extensions.experiments.measuring.judge_decisions import majority
from moot.extensions.experiments.measuring.judge_identity import judge_name, model_of
from moot.extensions.experiments.measuring.judgment_files import judgment_from_row
from moot.extensions.experiments.measuring.judgments import JudgmentWinner
from moot.extensions.experiments.measuring.leg_results import LegResult, read_result
from tests.golden.scenes import SCENES


def ballot(judge: str, winner: str, debate: int, order: int = 0, **changes: object) -> Judgment:
    named: JudgmentWinner = "pro" if winner == "p" else "con" if winner == "c" else "tie"
    return replace(
        Judgment(
            group=f"g{debate // 2}", debate=f"d{debate}", pro="a", con="b", judge=judge, winner=named,
            order=order, motion=f"m{debate // 2}",
        ),
        **changes,
    )  # fmt: skip


def every_toss(ballots: int) -> list[Judgment]:
    """Two judges who toss coins: each way in which all their ballots may fall is one debate."""
    return [
        ballot(judge, toss, debate, at % 2)
        for debate, tosses in enumerate(product("pc", repeat=2 * ballots))
        for judge, own in (("x", tosses[:ballots]), ("y", tosses[ballots:]))
        for at, toss in enumerate(own)
    ]


@pytest.mark.parametrize("ballots", [1, 2, 3, 4])
def test_coins_agree_in_half_of_the_debates_whatever_the_number_of_ballots(ballots: int) -> None:
    rows = every_toss(ballots)
    found = judge_agreement(rows)
    assert found.raw.value == pytest.approx(0.5, abs=1e-12)
    assert found.unanimous.value == pytest.approx(0.5, abs=1e-12)
    assert found.alpha.value == pytest.approx(0.0, abs=0.2 / ballots)
    votes = [
        {"debate": f"d{n}", "pro": "a", "con": "b", "voter": "v", "winner": "pro"} for n in range(4**ballots)
    ]
    people = agreement_with_people(rows, votes)
    assert [each.value for each in people] == pytest.approx([0.5, 0.5, 0.5], abs=1e-12)
    if ballots > 1:
        judges = judge_report(rows).judges
        assert [judge.flips.value for judge in judges] == pytest.approx([0.5, 0.5], abs=1e-12)


def test_coins_with_eight_ballots_agree_in_half_of_the_debates_too() -> None:
    for ballots in (1, 2, 3, 4, 8):
        tosses = np.array([[ballots - pro, 0.0, pro] for pro in range(ballots + 1)])
        chance = np.array([comb(ballots, pro) / 2**ballots for pro in range(ballots + 1)])
        decided = majority(tosses)
        assert chance @ (decided @ decided.T) @ chance == pytest.approx(0.5, abs=1e-12)


def test_most_ballots_decide_level_ones_stand_between_the_sides_and_a_named_tie_is_a_result() -> None:
    def agreement(one: str, other: str) -> float | None:
        rows = [ballot("x", toss, 0) for toss in one] + [ballot("y", toss, 0) for toss in other]
        return judge_agreement(rows).raw.value

    assert agreement("ppc", "p") == 1.0
    assert agreement("ppc", "c") == 0.0
    assert agreement("pc", "p") == 0.5
    assert agreement("pcpc", "cp") == 0.5
    assert agreement("tt", "t") == 1.0
    assert agreement("t", "p") == 0.0
    assert agreement("tp", "p") == 1.0


def test_flips_are_pairs_of_readings_and_each_debate_counts_once() -> None:
    once = [ballot("x", "p", 0, 0), ballot("x", "c", 0, 1), ballot("x", "p", 1, 0), ballot("x", "p", 1, 1)]
    repeated = [*once, *once[:2], *once[:2]]
    assert [judge_report(rows).judges[0].flips.value for rows in (once, repeated)] == [
        0.5,
        0.5,
    ]


def test_the_name_of_a_judge_tells_model_prompt_and_settings() -> None:
    plain = Judge("j", "J", Model("xai", "grok-5"))
    strict = replace(plain, variant="strict", model=replace(plain.model, effort="high", temperature=0.2))
    assert judge_name(plain) == "xai/grok-5"
    assert judge_name(strict) == "xai/grok-5 [strict] (effort high, temperature 0.2)"
    assert {model_of(judge_name(each)) for each in (plain, strict)} == {"xai/grok-5"}


def test_ballots_are_own_up_to_the_first_verdict_of_the_debates_own_panel() -> None:
    debate = SCENES["judged-again"]("deb_judged-again").debate
    rows = judgments_from_debate(debate)
    assert {(row.judging, row.own) for row in rows} == {(1, True), (2, False), (3, False)}
    assert {row.reading for row in rows} == {"chronological"}
    tried_again = SCENES["unreadable"]("deb_unreadable").debate
    assert {(row.judging, row.own) for row in judgments_from_debate(tried_again)} == {(1, True), (2, True)}


def test_what_earlier_releases_stored_of_a_further_judging_is_not_own() -> None:
    old = tuple(ballot("x", "p", 0, judging=number) for number in (1, 2))

    def read_again(rows: tuple[Judgment, ...]) -> list[bool]:
        stored = LegResult("d", "completed", judgments=rows).to_json()
        return [row.own for row in read_result(stored).judgments]

    assert read_again(old) == [True, False]
    assert read_again(tuple(replace(row, reading="by-side") for row in old)) == [True, True]
    plain = {"pro": "a", "con": "b", "winner": "pro"}
    assert judgment_from_row(plain).own
    assert not judgment_from_row({**plain, "judging": 2}).own
    assert not judgment_from_row({**plain, "own": "false"}).own


def test_rows_are_chosen_by_judge_model_and_prompt() -> None:
    rows = [
        ballot("grok", "p", 0),
        ballot("grok [strict]", "p", 0, prompt="strict"),
        ballot("qwen (effort low)", "c", 0, settings="effort low"),
    ]

    def names(**which: tuple[str, ...]) -> list[str]:
        return [row.judge for row in filter_judges(rows, JudgeFilter(**which))]

    assert names() == ["grok", "grok [strict]", "qwen (effort low)"]
    assert names(judges=("grok [strict]",)) == ["grok [strict]"]
    assert names(judges=("grok",)) == ["grok", "grok [strict]"]
    assert names(prompts=("none",)) == ["grok", "qwen (effort low)"]
    assert names(exclude=("qwen", "grok [strict]")) == ["grok"]
    with pytest.raises(Invalid, match=r"no judge 'grk'. Known: grok, grok \[strict\]"):
        names(judges=("grk",))
    with pytest.raises(Invalid, match="no judge prompt 'lenient'"):
        names(prompts=("lenient",))
