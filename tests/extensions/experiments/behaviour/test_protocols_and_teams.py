"""Questions with a known answer, rankings of four teams, reliability, and the bank of motions."""

from __future__ import annotations

import tomllib
from collections import Counter

import msgspec
import numpy as np
import pytest
from rapidfuzz import fuzz

from moot.core.errors import Invalid
from moot.experiments import (
    BankMotion,
    JudgeAnswer,
    Judgment,
    compare_protocols,
    draw_motions,
    find_motions,
    model_reliability,
    motion_bank,
    protocol_scores,
    rate_rankings,
    simulate_rankings,
)
from moot.extensions.experiments.measuring.bank_motions import motions_as_jsonl, motions_as_toml
from moot.extensions.experiments.measuring.leaderboard import SCALE
from tests.extensions.experiments.worlds import covered


def answers(
    protocol: str, right: float, confidence: float, count: int = 200, seed: int = 0
) -> list[JudgeAnswer]:
    """A judge that is right so often, and always this sure of its choice."""
    random = np.random.default_rng(seed)
    chosen = [0 if random.random() < right else 1 for _ in range(count)]
    return [
        JudgeAnswer(
            question=f"q{n}", protocol=protocol, answer=0,
            probabilities=(confidence, 1 - confidence) if choice == 0 else (1 - confidence, confidence),
        )
        for n, choice in enumerate(chosen)
    ]  # fmt: skip


def test_accuracy_and_calibration_of_a_known_judge() -> None:
    sure, modest = protocol_scores([*answers("sure", 0.7, 0.95), *answers("modest", 0.7, 0.7)])
    assert sure.accuracy.value == modest.accuracy.value == pytest.approx(0.7, abs=0.07)
    assert sure.overconfidence == pytest.approx(0.25, abs=0.07)
    assert sure.calibration_error == pytest.approx(sure.overconfidence)
    assert modest.calibration_error < 0.07
    assert sure.brier.value is not None
    assert modest.brier.value is not None
    right = modest.accuracy.value or 0.0
    assert modest.brier.value == pytest.approx(right * 0.09 + (1 - right) * 0.49)
    assert modest.brier.value < sure.brier.value
    assert (modest.log_score.value or 0) < (sure.log_score.value or 0)
    assert [(b.low, b.count) for b in sure.bins] == [(0.9, 200)]


def test_protocols_are_compared_on_the_same_questions() -> None:
    debate, naive = answers("debate", 0.8, 0.8, seed=1), answers("naive", 0.5, 0.6, seed=2)
    (gap,) = compare_protocols([*debate, *naive[:150]])
    assert (gap.first, gap.second, gap.questions) == ("debate", "naive", 150)
    assert gap.difference.clear
    assert gap.difference.value is not None
    assert gap.difference.value > 0.1
    (brier,) = compare_protocols([*debate, *naive], score="brier")
    assert (brier.difference.value or 0) < 0
    (same,) = compare_protocols([*debate, *answers("again", 0.8, 0.8, seed=1)])
    assert same.difference.value == 0
    assert -0.2 < (same.difference.low or 0) < 0 < (same.difference.high or 0) < 0.2


def test_few_questions_and_wrong_answers_are_told() -> None:
    (score,) = protocol_scores(answers("debate", 0.8, 0.8, count=5))
    assert "Little data: 5 passages" in score.notes[0]
    with pytest.raises(Invalid, match="add up"):
        protocol_scores([{"question": "q", "protocol": "p", "probabilities": [0.9, 0.9], "answer": 0}])
    with pytest.raises(Invalid, match="not among its choices"):
        protocol_scores([{"question": "q", "protocol": "p", "probabilities": [1.0], "answer": 3}])


def test_rankings_of_four_teams_are_rated_with_their_positions() -> None:
    truth = {f"model {n}": float(one) for n, one in enumerate(np.linspace(-1, 1, 6))}
    positions = {
        "opening government": -0.3,
        "opening opposition": -0.1,
        "closing government": 0.1,
        "closing opposition": 0.3,
    }
    board = rate_rankings(simulate_rankings(truth, positions, 400, seed=1))
    assert [row.model for row in board.models] == sorted(truth, reverse=True)
    for effect in board.effects:
        assert effect.value == pytest.approx(positions[effect.name.partition(":")[2]], abs=0.15)
    shares: list[float] = []
    for seed in range(20):
        board = rate_rankings(simulate_rankings(truth, positions, 30, seed=seed))
        expected = [1500 + SCALE * truth[row.model] for row in board.models]
        shares.append(covered([(row.low, row.high) for row in board.models], expected))
    assert np.mean(shares) > 0.88


def test_a_ranking_that_names_only_the_winner_counts() -> None:
    truth = {"a": 1.0, "b": 0.0, "c": -1.0}
    rows = simulate_rankings(truth, {"x": 0.0, "y": 0.0, "z": 0.0}, 60)
    winners = [msgspec.structs.replace(row, ranking=row.ranking[:1]) for row in rows]
    board = rate_rankings(winners)
    assert [row.model for row in board.models] == ["a", "b", "c"]
    assert any("rank only some" in note for note in board.notes)
    with pytest.raises(Invalid, match="no ranking"):
        rate_rankings([])


def test_issues_and_costs_are_counted_by_debate_and_not_by_judge() -> None:
    def row(debate: str, judge: str, winner: str, **more: object) -> Judgment:
        return msgspec.convert(
            {
                "group": "g",
                "debate": debate,
                "pro": "a",
                "con": "b",
                "judge": judge,
                "winner": winner,
                **more,
            },
            Judgment,
        )

    bad = {"pro_issues": ["refusal", "timeout"], "pro_cost": 0.5, "pro_seconds": 2.0}
    rows = [row("1", judge, "con", **bad) for judge in "xy"]
    rows += [row("2", judge, "pro", pro_cost=0.25, pro_seconds=4.0) for judge in "xy"]
    a, b = model_reliability(rows)
    assert (a.debates, a.with_issues, a.refusals, a.timeouts) == (2, 1, 1, 1)
    assert (a.cost, a.seconds, a.wins) == (0.375, 3.0, 1.0)
    assert a.wins_per_dollar == pytest.approx(1 / 0.75)
    assert a.low < a.issue_share < a.high
    assert (b.with_issues, b.cost, b.wins_per_dollar) == (0, None, None)


# --- the bank of motions ------------------------------------------------------------------------------


def test_the_bank_is_balanced_and_has_no_motion_twice() -> None:
    bank = motion_bank()
    assert len(bank) == 300
    assert len({motion.id for motion in bank}) == len(bank)
    assert set(Counter(motion.theme for motion in bank).values()) == {20}
    kinds = Counter(motion.kind for motion in bank)
    assert min(kinds.values()) > 80
    assert min(Counter(motion.difficulty for motion in bank).values()) > 50
    for theme in {motion.theme for motion in bank}:
        assert set(kinds) == {motion.kind for motion in find_motions(theme=theme)}
    texts = [motion.text for motion in bank]
    for number, text in enumerate(texts):
        assert not [other for other in texts[:number] if fuzz.ratio(text, other) > 90], text


def test_every_motion_is_a_short_statement() -> None:
    for motion in motion_bank():
        assert motion.text[0].isupper(), motion
        assert motion.text[-1] not in ".?!", motion
        assert motion.text == motion.text.strip()
        assert 3 <= len(motion.text.split()) <= 18, motion
        assert "  " not in motion.text


def test_motions_are_found_drawn_and_written() -> None:
    assert all("tax" in motion.text.lower() for motion in find_motions(search="tax"))
    hard = find_motions(kind="normative", difficulty="hard")
    drawn = draw_motions(hard, 12, seed=3)
    assert drawn == draw_motions(hard, 12, seed=3) != draw_motions(hard, 12, seed=4)
    assert max(Counter(motion.theme for motion in drawn).values()) == 1
    assert tomllib.loads(motions_as_toml(drawn))["motions"][0] == msgspec.to_builtins(drawn[0])
    lines = motions_as_jsonl(drawn).splitlines()
    assert tuple(msgspec.json.decode(line, type=BankMotion) for line in lines) == drawn
    with pytest.raises(Invalid, match="no theme"):
        find_motions(theme="cooking")
    with pytest.raises(Invalid, match="Only"):
        draw_motions(hard, 10_000)
