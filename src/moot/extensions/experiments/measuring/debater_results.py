"""How convincing each debater or consultant is when it argues for the right answer, and for the wrong one.

A speaker wins where the judge thinks its answer more probable; at 50 : 50 it wins half. `debater_rows` has
both shares and their difference, which is what the truth is worth to this speaker; where models debate each
other, `debater_ratings` rates each of them twice, as the one who is right and the one who is wrong.
`quote_rows` counts their quotations and how many of them do not stand in the passage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.estimates import Estimate, ratio_estimate
from moot.extensions.experiments.measuring.judge_answers import JudgeAnswer, single_readings
from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.leaderboard import ModelRating
from moot.extensions.experiments.measuring.planned_questions import DEBATES
from moot.extensions.experiments.measuring.protocol_results import difference_of, share_of
from moot.extensions.experiments.measuring.ratings import rate_models
from moot.extensions.experiments.measuring.speaker_quotes import SpeakerQuotes
from moot.extensions.experiments.measuring.tables import coded


class DebaterResult(Struct, frozen=True, kw_only=True):
    """One model that argues under one protocol."""

    protocol: str
    model: str
    right: Estimate
    """How often it wins when it argues for the right answer."""
    wrong: Estimate
    """The same for the wrong answer."""
    truth: Estimate
    """By how much more it wins when it is right, on the questions on which it was both."""


class QuoteResult(Struct, frozen=True, kw_only=True):
    """The quotations of one model, when it argued for the right answer or for the wrong one."""

    model: str
    argued_right: bool
    speakers: int
    """How often it spoke in a debate."""
    found: int
    missing: int
    over: int
    false_share: Estimate
    """The share of its quotations that do not stand in the passage."""


class _Stand(Struct, frozen=True):
    """One speaker in the eyes of one judge."""

    answer: JudgeAnswer
    model: str
    is_right: bool

    @property
    def wins(self) -> float:
        return self.answer.right if self.is_right else 1 - self.answer.right


def debater_rows(protocols: Sequence[str], answers: Sequence[JudgeAnswer]) -> Iterator[DebaterResult]:
    for protocol in protocols:
        stands = [stand for each in answers if each.protocol == protocol for stand in _stands(each)]
        for model in dict.fromkeys(stand.model for stand in stands):
            own = [stand for stand in stands if stand.model == model]
            right, wrong = ([each for each in own if each.is_right is side] for side in (True, False))
            yield DebaterResult(
                protocol=protocol,
                model=model,
                right=share_of("right", [each.answer for each in right], [each.wins for each in right]),
                wrong=share_of("wrong", [each.answer for each in wrong], [each.wins for each in wrong]),
                truth=_truth(right, wrong),
            )


def debater_ratings(answers: Sequence[JudgeAnswer]) -> tuple[ModelRating, ...]:
    """Each model twice, `model (right)` and `model (wrong)`, from all debates. Nothing where some were never
    compared, not even over third ones, as when only two models debate each other."""
    rows = [_judgment(each) for each in single_readings(answers) if each.protocol in DEBATES]
    rows = [row for row in rows if row is not None]
    try:
        return rate_models(rows).models if rows else ()
    except Invalid:
        return ()


def quote_rows(quotes: Sequence[SpeakerQuotes]) -> Iterator[QuoteResult]:
    for model in dict.fromkeys(each.model for each in quotes):
        for argued_right in (True, False):
            own = [each for each in quotes if each.model == model and each.argued_right is argued_right]
            if not own:
                continue
            group = coded(each.group for each in own)[1]
            missing, count = (
                np.array(values, float)
                for values in ([each.missing for each in own], [each.count for each in own])
            )
            yield QuoteResult(
                model=model,
                argued_right=argued_right,
                speakers=len(own),
                found=sum(each.found for each in own),
                missing=sum(each.missing for each in own),
                over=sum(each.over for each in own),
                false_share=ratio_estimate("false quotations", group, missing, count),
            )


def _stands(answer: JudgeAnswer) -> Iterator[_Stand]:
    if answer.first_argued is None:
        return
    for place, model in enumerate(answer.models):
        yield _Stand(answer, model, (answer.first_argued == answer.answer) == (place == 0))


def _truth(right: Sequence[_Stand], wrong: Sequence[_Stand]) -> Estimate:
    means: list[dict[str, float]] = []
    for stands in (right, wrong):
        wins: dict[str, list[float]] = {}
        for each in stands:
            wins.setdefault(each.answer.question, []).append(each.wins)
        means.append({question: sum(values) / len(values) for question, values in wins.items()})
    both = [question for question in means[0] if question in means[1]]
    asked = {each.answer.question: each.answer for each in right}
    gaps = [means[0][question] - means[1][question] for question in both]
    return difference_of("truth", [asked[question] for question in both], gaps)


def _judgment(reading: JudgeAnswer) -> Judgment | None:
    """A reading as a decision between the one who is right and the one who is wrong."""
    stands = list(_stands(reading))
    if len(stands) != 2:
        return None
    first, second = (f"{each.model} ({'right' if each.is_right else 'wrong'})" for each in stands)
    wins = stands[0].wins
    return Judgment(
        group=f"{reading.group or reading.question} | {' | '.join(reading.models)}",
        debate=reading.debate or f"{reading.question} {reading.repeat} {reading.first_argued}",
        pro=first,
        con=second,
        judge=reading.judge,
        winner="pro" if wins > 0.5 else "con" if wins < 0.5 else "tie",
        motion=reading.group or reading.question,
    )
