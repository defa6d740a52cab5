"""The figures of each protocol, for all judges together and for each of them.

`protocol_rows` compares a protocol with the naive judge and with consultancy on the same questions. Everybody
is asked twice, with the answers in both orders; `reading_rows` says what a single reading is worth, how often
the second names another answer, and how often the answer that stands first is named. A judge that is sure of
whatever stands first has no error in the mean of its readings, and all of it in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
from msgspec import Struct

from moot.extensions.experiments.measuring.calibration import (
    ProtocolScore,
    compare_protocols,
    protocol_scores,
)
from moot.extensions.experiments.measuring.estimates import (
    DIFFERENCE,
    Estimate,
    mean_estimate,
    share_estimate,
    sums_by,
    t_quantile,
)
from moot.extensions.experiments.measuring.judge_answers import JudgeAnswer, RoundBelief, single_readings
from moot.extensions.experiments.measuring.tables import Floats, Integers, coded

BINS = 5
"""Of the reliability curve: an answer is at least 50 % probable, so each is a tenth wide."""


class ProtocolResult(Struct, frozen=True, kw_only=True):
    """One protocol. Figures are None where nothing was answered, or nothing to compare with."""

    protocol: str
    judge: str = ""
    """Who judged or answered; empty for all of them together."""
    asked: int
    answered: int
    score: ProtocolScore | None = None
    confidence: float | None = None
    """The mean probability of the answer that was thought right."""
    against_naive: Estimate | None = None
    """How much higher the accuracy is than that of the naive judge, on the same questions."""
    against_consultancy: Estimate | None = None
    recovered: Estimate | None = None
    """Which share of the gap between the naive judge and the expert it closes."""
    cost: float | None = None
    """US dollars for an answer."""
    samples: float | None = None
    """The mean number of replies that an answer is made of."""


class ReadingResult(Struct, frozen=True, kw_only=True):
    """The readings of a protocol, each by itself."""

    protocol: str
    judge: str = ""
    """Empty for all together."""
    readings: int
    score: ProtocolScore
    confidence: float
    flips: Estimate
    """The share of answers whose readings do not name the same choice."""
    first: Estimate
    """The share of readings that name the choice which was listed first: 50 % where the place does not count,
    since each choice is first in half of them. A reading at 50 : 50 counts half."""


class RoundResult(Struct, frozen=True, kw_only=True):
    """What judges believed before the first speech (round 0) or after a round, each time asked once."""

    protocol: str
    judge: str = ""
    """Empty for all together."""
    round: int
    score: ProtocolScore
    confidence: float


def protocol_rows(
    protocols: Sequence[str], answers: Sequence[JudgeAnswer], missing: dict[str, int], *, judge: str = ""
) -> Iterator[ProtocolResult]:
    """A row for each of the protocols; `missing` are the answers that were asked for in vain."""
    found = protocol_scores(answers, bins=2 * BINS) if answers else ()
    scores = {score.protocol: score for score in found}
    for protocol in protocols:
        own = [answer for answer in answers if answer.protocol == protocol]
        score = scores.get(protocol)
        yield ProtocolResult(
            protocol=protocol,
            judge=judge,
            asked=len(own) + missing.get(protocol, 0),
            answered=len(own),
            score=score,
            confidence=_mean([max(answer.probabilities) for answer in own]),
            against_naive=gap(answers, protocol, "naive"),
            against_consultancy=gap(answers, protocol, "consultancy"),
            recovered=gap_recovered(answers, protocol),
            cost=score.cost if score else None,
            samples=_mean([answer.samples for answer in own]),
        )


def judge_rows(protocols: Sequence[str], answers: Sequence[JudgeAnswer]) -> Iterator[ProtocolResult]:
    """A row for each protocol and judge, compared with the same judge; none where no protocol has two."""
    if not _has_several_judges(protocols, answers):
        return
    rows: list[ProtocolResult] = []
    for judge in dict.fromkeys(answer.judge for answer in answers):
        own = [answer for answer in answers if answer.judge == judge]
        held = [name for name in protocols if any(answer.protocol == name for answer in own)]
        rows += protocol_rows(held, own, {}, judge=judge)
    yield from sorted(rows, key=lambda row: protocols.index(row.protocol))


def reading_rows(protocols: Sequence[str], answers: Sequence[JudgeAnswer]) -> Iterator[ReadingResult]:
    """A row for each protocol, followed by those of its judges where it has several."""
    for protocol in protocols:
        own = [answer for answer in answers if answer.protocol == protocol and answer.readings]
        judges = list(dict.fromkeys(answer.judge for answer in own))
        panel = [answer for answer in own if answer.own]
        if panel:
            yield _reading_result(protocol, "", panel)
        for judge in judges if len(judges) > 1 else ():
            yield _reading_result(protocol, judge, [each for each in own if each.judge == judge])


def round_rows(protocols: Sequence[str], beliefs: Sequence[RoundBelief]) -> Iterator[RoundResult]:
    """A row for each protocol and round, followed by those of its judges where it has several."""
    for protocol in protocols:
        own = [each for each in beliefs if each.protocol == protocol]
        judges = list(dict.fromkeys(each.judge for each in own))
        for judge in ("", *(judges if len(judges) > 1 else ())):
            for number in sorted({each.round for each in own}):
                given = [each for each in own if each.round == number and judge in ("", each.judge)]
                if given:
                    yield _round_result(protocol, judge, number, given)


def _round_result(protocol: str, judge: str, number: int, given: Sequence[RoundBelief]) -> RoundResult:
    rows = [
        JudgeAnswer(
            question=each.question,
            protocol=protocol,
            probabilities=(each.chance, round(1 - each.chance, 6)),
            answer=0,
            group=each.group,
        )
        for each in given
    ]
    return RoundResult(
        protocol=protocol,
        judge=judge,
        round=number,
        score=protocol_scores(rows, bins=2 * BINS)[0],
        confidence=_mean([max(row.probabilities) for row in rows]) or 0.0,
    )


def gap(answers: Sequence[JudgeAnswer], protocol: str, other: str) -> Estimate | None:
    """The accuracy of a protocol less that of another, on the questions that both answered."""
    pair = [answer for answer in answers if answer.protocol in (protocol, other)]
    if protocol == other or {answer.protocol for answer in pair} != {protocol, other}:
        return None
    pair.sort(key=lambda answer: answer.protocol != protocol)
    return compare_protocols(pair)[0].difference


def gap_recovered(answers: Sequence[JudgeAnswer], protocol: str) -> Estimate | None:
    """Which share of the gap between the naive judge and the expert a protocol closes, on the questions that
    all three answered.

    The interval is Fieller's, by passages: it holds every share at which the gains of the protocol and that
    share of the gains of the expert cannot be told apart. It has no ends where the expert is not clearly
    better than the naive judge.
    """
    means = [_accuracy_by_question(answers, name) for name in (protocol, "naive", "expert")]
    shared = [question for question in means[0] if all(question in other for other in means)]
    if protocol in ("naive", "expert") or not shared:
        return None
    groups = {answer.question: answer.group or answer.question for answer in answers}
    gains = np.array([[means[0][each] - means[1][each], means[2][each] - means[1][each]] for each in shared])
    unit = coded(groups[each] for each in shared)[1]
    above, below = (float(mean) for mean in gains.mean(axis=0))
    units = int(unit.max()) + 1
    if below <= 0:
        return Estimate("recovered", None, None, None, units)
    low, high = _fieller(gains, unit) if units > 1 else (None, None)
    return Estimate("recovered", above / below, low, high, units)


def _fieller(gains: Floats, unit: Integers) -> tuple[float, float] | tuple[None, None]:
    """The ends of the interval of the ratio of the means of two columns; none where it is unbounded."""
    units = int(unit.max()) + 1
    mean = gains.mean(axis=0)
    spread = sums_by(unit, gains - mean, units)
    covariance = spread.T @ spread / len(gains) ** 2 * units / (units - 1)
    square = t_quantile(units - 1) ** 2
    one, half, rest = (
        float(mean[a] * mean[b] - square * covariance[a, b]) for a, b in ((1, 1), (0, 1), (0, 0))
    )
    root = half**2 - one * rest
    if one <= 0 or root < 0:
        return None, None
    return (half - sqrt(root)) / one, (half + sqrt(root)) / one


def _accuracy_by_question(answers: Sequence[JudgeAnswer], protocol: str) -> dict[str, float]:
    """Several answers to a question are averaged."""
    right: dict[str, list[float]] = {}
    for answer in answers:
        if answer.protocol == protocol:
            right.setdefault(answer.question, []).append(answer.right)
    return {question: sum(values) / len(values) for question, values in right.items()}


def share_of(name: str, answers: Sequence[JudgeAnswer], values: Sequence[float]) -> Estimate:
    """The mean of a value for each of the answers, with an interval by passages."""
    group = coded(each.group or each.question for each in answers)[1]
    return share_estimate(name, group, np.array(values, float))


def difference_of(name: str, answers: Sequence[JudgeAnswer], values: Sequence[float]) -> Estimate:
    """The same of differences between two shares, from -1 to 1."""
    group = coded(each.group or each.question for each in answers)[1]
    return mean_estimate(name, group, np.array(values, float), DIFFERENCE)


def _reading_result(protocol: str, judge: str, answers: Sequence[JudgeAnswer]) -> ReadingResult:
    singles = list(single_readings(answers))
    twice = [answer for answer in answers if len(answer.readings) > 1]
    flipped = [float(len({_sign(chance) for chance in answer.readings}) > 1) for answer in twice]
    return ReadingResult(
        protocol=protocol,
        judge=judge,
        readings=len(singles),
        score=protocol_scores(singles, bins=2 * BINS)[0],
        confidence=_mean([max(each.probabilities) for each in singles]) or 0.0,
        flips=share_of("flips", twice, flipped),
        first=share_of("first", singles, [_names_first(each) for each in singles]),
    )


def _names_first(reading: JudgeAnswer) -> float:
    """1 where one reading names the choice that was listed first, 0.5 where it names none."""
    return reading.right if reading.listed_first[0] == reading.answer else 1 - reading.right


def _sign(chance: float) -> int:
    """Which choice is named: the right one, the wrong one or none."""
    return (chance > 0.5) - (chance < 0.5)


def _has_several_judges(protocols: Sequence[str], answers: Sequence[JudgeAnswer]) -> bool:
    return any(
        len({answer.judge for answer in answers if answer.protocol == protocol}) > 1 for protocol in protocols
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
