"""Questions with a known answer: how often a judge is right after each protocol, and whether it knows it.

A protocol is how the judge was informed: a debate, a consultancy, nothing at all. `JudgeAnswer` is one
judge's belief about one question after one protocol. Scores are means over questions; intervals are made by
leaving out one passage at a time, and two protocols are compared on the same questions only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from math import log
from typing import Any, Literal, cast

import msgspec
import numpy as np
from msgspec import Struct, structs

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.estimates import FEW_MOTIONS, SHARE, Estimate, mean_estimate
from moot.extensions.experiments.measuring.judge_answers import JudgeAnswer
from moot.extensions.experiments.measuring.tables import Floats, Integers, coded

SMALLEST = 0.001
"""A probability counts as at least this much in the log score, so that one sure mistake is not infinite."""
ScoreName = Literal["accuracy", "brier", "log_score"]
RANGES: Mapping[ScoreName, tuple[float, float]] = {
    "accuracy": SHARE,
    "brier": SHARE,
    "log_score": (0.0, -log(SMALLEST)),
}


class CalibrationBin(Struct, frozen=True):
    """Answers given with about the same confidence."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


class ProtocolScore(Struct, frozen=True, kw_only=True):
    """How well judges did after one protocol."""

    protocol: str
    answers: int
    questions: int
    accuracy: Estimate
    """The share of answers whose most probable choice is right; choices that are equally probable share."""
    brier: Estimate
    """Half the summed squared distance to the truth: 0 best, 0.25 for 50 : 50."""
    log_score: Estimate
    """Minus the logarithm of the probability of the right choice: 0 best, 0.69 for 50 : 50."""
    calibration_error: float
    """How far confidence and accuracy are apart, on average over the bins (ECE)."""
    overconfidence: float
    """Mean confidence less accuracy."""
    bins: tuple[CalibrationBin, ...]
    cost: float | None
    """US dollars a question, where all are known."""
    notes: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        return {
            "protocol": self.protocol,
            "answers": self.answers,
            "questions": self.questions,
            **self.accuracy.columns("accuracy"),
            **self.brier.columns("brier"),
            **self.log_score.columns("log_score"),
            "calibration_error": self.calibration_error,
            "overconfidence": self.overconfidence,
            "cost": self.cost,
        }


class ProtocolDifference(Struct, frozen=True, kw_only=True):
    """How much better one protocol is than another, on the questions that both answered."""

    first: str
    second: str
    score: ScoreName
    difference: Estimate
    """First less second. A higher accuracy is better; lower Brier and log scores are."""
    questions: int

    def row(self) -> dict[str, Any]:
        told = structs.asdict(self.difference)
        return {"first": self.first, "second": self.second, "score": self.score, **told}


AnswerData = Iterable[JudgeAnswer | Mapping[str, Any]]


def protocol_scores(data: AnswerData, *, bins: int = 10) -> tuple[ProtocolScore, ...]:
    """Accuracy and calibration of each protocol, in the order in which they come.

    >>> even = dict(protocol="naive", probabilities=(0.5, 0.5), answer=0)
    >>> rows = [JudgeAnswer(question=str(n), **even) for n in range(3)]
    >>> score = protocol_scores(rows)[0]
    >>> (score.accuracy.value, score.brier.value, score.calibration_error)
    (0.5, 0.25, 0.0)
    """
    answers = _answers(data)
    protocols, protocol = coded(one.protocol for one in answers)
    group = _groups(answers)
    scored = _scores(answers)
    confidence = np.array([max(one.probabilities) for one in answers])
    result: list[ProtocolScore] = []
    for code, name in enumerate(protocols):
        rows = protocol == code
        own = [one for one, chosen in zip(answers, rows.tolist(), strict=True) if chosen]
        figures = {
            kind: mean_estimate(kind, group[rows], values[rows], RANGES[kind])
            for kind, values in scored.items()
        }
        curve = _curve(confidence[rows], scored["accuracy"][rows], bins)
        costs = [one.cost for one in own if one.cost is not None]
        passages = len(np.unique(group[rows]))
        result.append(
            ProtocolScore(
                protocol=name,
                answers=len(own),
                questions=len({one.question for one in own}),
                accuracy=figures["accuracy"],
                brier=figures["brier"],
                log_score=figures["log_score"],
                calibration_error=sum(b.count * abs(b.confidence - b.accuracy) for b in curve) / len(own),
                overconfidence=float(confidence[rows].mean() - scored["accuracy"][rows].mean()),
                bins=curve,
                cost=sum(costs) / len(own) if len(costs) == len(own) else None,
                notes=(f"Little data: {passages} passages.",) if passages < FEW_MOTIONS else (),
            )
        )
    return tuple(result)


def compare_protocols(data: AnswerData, *, score: ScoreName = "accuracy") -> tuple[ProtocolDifference, ...]:
    """The difference of each two protocols on the questions that both answered; several answers to a question
    (by other judges or repeats) are averaged first."""
    answers = _answers(data)
    protocols, protocol = coded(one.protocol for one in answers)
    questions, question = coded(one.question for one in answers)
    values = _scores(answers)[score]
    group = np.zeros(len(questions), np.intp)
    group[question] = _groups(answers)
    means = np.full((len(protocols), len(questions)), np.nan)
    for code in range(len(protocols)):
        rows = protocol == code
        held = np.bincount(question[rows], minlength=len(questions))
        total = np.bincount(question[rows], values[rows], len(questions))
        means[code] = np.where(held > 0, total / np.maximum(held, 1), np.nan)
    result: list[ProtocolDifference] = []
    for one, other in combinations(range(len(protocols)), 2):
        gap = means[one] - means[other]
        both = ~np.isnan(gap)
        name = f"{protocols[one]} - {protocols[other]}"
        estimate = mean_estimate(name, group[both], gap[both], (-RANGES[score][1], RANGES[score][1]))
        result.append(
            ProtocolDifference(
                first=protocols[one],
                second=protocols[other],
                score=score,
                difference=estimate,
                questions=int(both.sum()),
            )
        )
    return tuple(result)


def _answers(data: AnswerData) -> list[JudgeAnswer]:
    try:
        answers = [one if isinstance(one, JudgeAnswer) else msgspec.convert(one, JudgeAnswer) for one in data]
    except msgspec.ValidationError as error:
        raise Invalid(f"An answer is wrong: {error}.") from error
    if not answers:
        raise Invalid("There are no answers.")
    for one in answers:
        if not 0 <= one.answer < len(one.probabilities):
            raise Invalid(f"The right choice of {one.question!r} is not among its choices.")
        if min(one.probabilities) < 0 or abs(sum(one.probabilities) - 1) > 0.01:
            raise Invalid(f"The probabilities for {one.question!r} do not add up to 1.")
    return answers


def _groups(answers: list[JudgeAnswer]) -> Integers:
    return coded(one.group or one.question for one in answers)[1]


def _scores(answers: list[JudgeAnswer]) -> dict[ScoreName, Floats]:
    right: list[float] = []
    brier: list[float] = []
    logs: list[float] = []
    for one in answers:
        right.append(one.right)
        squares = sum((p - (index == one.answer)) ** 2 for index, p in enumerate(one.probabilities))
        brier.append(squares / 2)
        logs.append(float(-np.log(max(one.probabilities[one.answer], SMALLEST))))
    return {"accuracy": np.array(right), "brier": np.array(brier), "log_score": np.array(logs)}


def _curve(confidence: Floats, right: Floats, bins: int) -> tuple[CalibrationBin, ...]:
    """The bins that hold any answer; all are equally wide."""
    number = np.minimum((confidence * bins).astype(int), bins - 1)
    return tuple(
        CalibrationBin(
            low=at / bins,
            high=(at + 1) / bins,
            count=int((number == at).sum()),
            confidence=float(confidence[number == at].mean()),
            accuracy=float(right[number == at].mean()),
        )
        for at in cast("list[int]", np.unique(number).tolist())
    )
