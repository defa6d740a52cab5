"""Questions with a known answer: how often judges were right after each protocol, and how sure they were.

`make_truth_report` computes it from the stored results: accuracy, Brier and log score of each protocol with
intervals, the differences to the naive judge and to consultancy on the same questions, the gap to the expert,
the reliability curve, what an answer cost, and how convincing the debaters were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from moot.extensions.experiments.measuring.debater_results import (
    DebaterResult,
    QuoteResult,
    debater_ratings,
    debater_rows,
    quote_rows,
)
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.estimates import FEW_MOTIONS, Estimate
from moot.extensions.experiments.measuring.judge_answers import JudgeAnswer
from moot.extensions.experiments.measuring.leaderboard import ModelRating
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.planned_questions import OPEN, open_legs, question_legs
from moot.extensions.experiments.measuring.protocol_results import (
    ProtocolResult,
    ReadingResult,
    RoundResult,
    judge_rows,
    protocol_rows,
    reading_rows,
    round_rows,
    share_of,
)
from moot.extensions.experiments.measuring.report_text import percent

MANY_FLIPS = 1 / 3
"""Where more of the answers change with the order of the list, the report says so."""
TRUTH_METHOD = (
    "Each question has one right answer and one wrong one, whose places are swapped in a second debate. "
    "Debaters and consultants are told for which answer to argue and read the passage; judges do not, but "
    "for the expert. A "
    "judge, and a model by itself, is asked twice with the answers in both orders, and its probabilities are "
    "averaged; what each reading says by itself stands in a table of its own. An answer "
    "is right if the right answer has the higher probability; at 50 : 50 it counts half. Brier score: 0 is "
    "best, 0.25 is 50 : 50. Log score: 0 is best, 0.69 is 50 : 50. Intervals (95 %) come from leaving "
    "out one passage at a time; differences are taken on the questions that both protocols answered. A reply "
    "that could not be read is no answer. In an open debate or consultancy the one that chooses argues for "
    "the answer that it gave by itself. An expert is the judge with the passage; the gap recovered is the "
    "share of the way from the naive judge to the expert, with Fieller's interval. "
    "Self-consistency is the vote of as many answers as a debate pays for, by the estimate of both."
)


class ArguedResult(Struct, frozen=True, kw_only=True):
    """A protocol in which one speaker stands for an answer, by whether that answer was right."""

    protocol: str
    argued_right: bool
    answers: int
    accuracy: Estimate


class TruthReport(Struct, frozen=True, kw_only=True):
    """What the answers of an experiment show about its protocols."""

    questions: int
    passages: int
    protocols: tuple[ProtocolResult, ...]
    judges: tuple[ProtocolResult, ...] = ()
    """Each protocol with each judge, where there are several; those who judged again included."""
    readings: tuple[ReadingResult, ...] = ()
    argued: tuple[ArguedResult, ...] = ()
    rounds: tuple[RoundResult, ...] = ()
    debaters: tuple[DebaterResult, ...] = ()
    ratings: tuple[ModelRating, ...] = ()
    """Of the debaters as those who are right and those who are wrong."""
    quotes: tuple[QuoteResult, ...] = ()
    notes: tuple[str, ...] = ()


def make_truth_report(
    definition: ExperimentDefinition, results: Sequence[LegResult], *, planned: int
) -> TruthReport:
    """`planned` is how many legs there are, without open debates whose chooser has chosen nothing."""
    protocols = definition.protocols
    shown = [result for result in results if result.protocol in protocols]
    judged = [answer for result in shown for answer in result.answers]
    answers = [answer for answer in judged if answer.own]
    missing = Counter[str]()
    for result in shown:
        missing[result.protocol] += result.missing
    rows = tuple(protocol_rows(protocols, answers, missing))
    readings = tuple(reading_rows(protocols, judged))
    return TruthReport(
        questions=len({answer.question for answer in answers}),
        passages=len({answer.group for answer in answers}),
        protocols=rows,
        judges=tuple(judge_rows(protocols, judged)),
        readings=readings,
        argued=tuple(_argued(answers)),
        rounds=tuple(round_rows(protocols, [each for result in shown for each in result.rounds])),
        debaters=tuple(debater_rows(protocols, answers)),
        ratings=debater_ratings(answers),
        quotes=tuple(quote_rows([quoted for result in shown for quoted in result.quotes])),
        notes=(*_notes(definition, rows, answers, planned), *_gap_notes(rows), *_reading_notes(readings)),
    )


def _argued(answers: Sequence[JudgeAnswer]) -> Iterator[ArguedResult]:
    for protocol in ("consultancy", *OPEN):
        for right in (True, False):
            own = [
                each
                for each in answers
                if each.protocol == protocol
                and each.argued is not None
                and (each.argued == each.answer) is right
            ]
            if own:
                found = share_of("accuracy", own, [each.right for each in own])
                yield ArguedResult(protocol=protocol, argued_right=right, answers=len(own), accuracy=found)


def _notes(
    definition: ExperimentDefinition,
    rows: Sequence[ProtocolResult],
    answers: Sequence[JudgeAnswer],
    planned: int,
) -> Iterator[str]:
    groups = len({answer.group or answer.question for answer in answers})
    if 0 < groups < FEW_MOTIONS:
        yield f"Little data: the answers are about {groups} passages, so the intervals are wide."
    for row in rows:
        if row.answered < row.asked:
            yield (
                f"{row.protocol}: {row.asked - row.answered:,} of {row.asked:,} answers were not given or "
                "could not be read; they count for nothing."
            )
    unheld = len(question_legs(definition)) + len(open_legs(definition)) - planned
    if unheld > 0:
        held = " and ".join(name for name in definition.protocols if name in OPEN)
        yield f"{held}: {unheld:,} debates were not held, because the speaker chose no answer."


def _gap_notes(rows: Sequence[ProtocolResult]) -> Iterator[str]:
    """Why the share of the gap recovered has no interval."""
    if any(row.recovered is not None and row.recovered.low is None for row in rows):
        yield (
            "The expert is not clearly better than the naive judge, so how much of the gap a protocol "
            "recovers cannot be told."
        )


def _reading_notes(readings: Sequence[ReadingResult]) -> Iterator[str]:
    """Whose answers depend on the order of the list: rather on what stands first than on what is right."""
    several = {row.protocol for row in readings if row.judge}
    changing: dict[str, list[str]] = {}
    for row in readings:
        flips, first = row.flips.value, row.first.value
        if (
            flips is None
            or first is None
            or flips <= MANY_FLIPS
            or (row.protocol in several and not row.judge)
        ):
            continue
        place = "first" if first >= 0.5 else "second"
        named = f"the {place} is named in {percent(max(first, 1 - first))} of the readings"
        changing.setdefault(row.judge, []).append(f"{row.protocol} {percent(flips)} ({named})")
    for judge, protocols in changing.items():
        who = f"{judge}: m" if judge else "M"
        yield (
            f"{who}ore than a third of the answers change with the order in which they are listed: "
            f"{', '.join(protocols)}."
        )
