"""Questions with a known answer: how often judges were right after each protocol, and how sure they were.

`make_truth_report` computes it from the stored results: accuracy, Brier and log score of each protocol with
intervals, the differences to the naive judge and to consultancy on the same questions, the reliability curve,
and what an answer cost. `truth_tables` writes it as tables for the terminal, Markdown and HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from moot.experiments.calibration import ProtocolScore, compare_protocols, protocol_scores
from moot.experiments.definition import ExperimentDefinition
from moot.experiments.judge_answers import JudgeAnswer
from moot.experiments.leg_results import LegResult
from moot.experiments.planned_questions import ProtocolName, open_legs, question_legs
from moot.experiments.report_blocks import ReportTable
from moot.experiments.report_text import cost_text, estimate_text, percent, points_text
from moot.experiments.resampling import FEW_GROUPS, Estimate, mean_estimate
from moot.experiments.tables import coded
from moot.views.text import plural

BINS = 5
"""Of the reliability curve: an answer is at least 50 % probable, so each is a tenth wide."""
TRUTH_METHOD = (
    "Each question has one right answer and one wrong one, whose places are swapped in a second debate. "
    "Debaters and consultants are told for which answer to argue and read the passage; judges never do. A "
    "judge reads each debate with the answers in both orders, and its probabilities are averaged. An answer "
    "is right if the right answer has the higher probability; at 50 : 50 it counts half. Brier score: 0 is "
    "best, 0.25 is 50 : 50. Log score: 0 is best, 0.69 is 50 : 50. Intervals (95 %) come from drawing "
    "passages with replacement; differences are taken on the questions that both protocols answered. A reply "
    "that could not be read is no answer. In an open debate the debater that chooses argues for the answer "
    "that it gave by itself. Self-consistency is the vote of as many answers as a debate pays for, by the "
    "estimate of both."
)


class ProtocolResult(Struct, frozen=True, kw_only=True):
    """One protocol. Figures are None where nothing was answered, or nothing to compare with."""

    protocol: ProtocolName
    asked: int
    answered: int
    score: ProtocolScore | None = None
    confidence: float | None = None
    """The mean probability of the answer that was thought right."""
    against_naive: Estimate | None = None
    """How much higher the accuracy is than that of the naive judge, on the same questions."""
    against_consultancy: Estimate | None = None
    cost: float | None = None
    """US dollars for an answer."""
    samples: float | None = None
    """The mean number of replies that an answer is made of."""


class ArguedResult(Struct, frozen=True, kw_only=True):
    """A protocol in which one speaker stands for an answer, by whether that answer was right."""

    protocol: ProtocolName
    argued_right: bool
    answers: int
    accuracy: Estimate


class TruthReport(Struct, frozen=True, kw_only=True):
    """What the answers of an experiment show about its protocols."""

    questions: int
    passages: int
    protocols: tuple[ProtocolResult, ...]
    argued: tuple[ArguedResult, ...] = ()
    notes: tuple[str, ...] = ()


def make_truth_report(
    definition: ExperimentDefinition, results: Sequence[LegResult], *, planned: int, bootstraps: int = 1000
) -> TruthReport:
    """`planned` is how many legs there are, without open debates whose chooser has chosen nothing."""
    shown = [result for result in results if result.protocol in definition.protocols]
    answers = [answer for result in shown for answer in result.answers]
    scores = {
        score.protocol: score
        for score in (protocol_scores(answers, bins=2 * BINS, bootstraps=bootstraps) if answers else ())
    }
    rows: list[ProtocolResult] = []
    for protocol in definition.protocols:
        own = [answer for answer in answers if answer.protocol == protocol]
        missing = sum(result.missing for result in shown if result.protocol == protocol)
        chances = [max(answer.probabilities) for answer in own]
        score = scores.get(protocol)
        rows.append(
            ProtocolResult(
                protocol=protocol,
                asked=len(own) + missing,
                answered=len(own),
                score=score,
                confidence=sum(chances) / len(chances) if chances else None,
                against_naive=_gap(answers, protocol, "naive", bootstraps),
                against_consultancy=_gap(answers, protocol, "consultancy", bootstraps),
                cost=score.cost if score else None,
                samples=sum(answer.samples for answer in own) / len(own) if own else None,
            )
        )
    return TruthReport(
        questions=len({answer.question for answer in answers}),
        passages=len({answer.group for answer in answers}),
        protocols=tuple(rows),
        argued=tuple(_argued(answers, bootstraps)),
        notes=tuple(_notes(definition, rows, answers, planned)),
    )


def _gap(answers: Sequence[JudgeAnswer], protocol: str, other: str, bootstraps: int) -> Estimate | None:
    """The accuracy of a protocol less that of another, on the questions that both answered."""
    pair = [answer for answer in answers if answer.protocol in (protocol, other)]
    if protocol == other or {answer.protocol for answer in pair} != {protocol, other}:
        return None
    pair.sort(key=lambda answer: answer.protocol != protocol)
    return compare_protocols(pair, bootstraps=bootstraps)[0].difference


def _argued(answers: Sequence[JudgeAnswer], bootstraps: int) -> Iterator[ArguedResult]:
    names: tuple[ProtocolName, ...] = ("consultancy", "open-debate")
    for protocol in names:
        for right in (True, False):
            own = [
                each
                for each in answers
                if each.protocol == protocol
                and each.argued is not None
                and (each.argued == each.answer) is right
            ]
            if own:
                group = coded(each.group or each.question for each in own)[1]
                values = np.array([each.right for each in own])
                found = mean_estimate("accuracy", group, values, bootstraps=bootstraps, seed=0)
                yield ArguedResult(protocol=protocol, argued_right=right, answers=len(own), accuracy=found)


def _notes(
    definition: ExperimentDefinition,
    rows: Sequence[ProtocolResult],
    answers: Sequence[JudgeAnswer],
    planned: int,
) -> Iterator[str]:
    groups = len({answer.group or answer.question for answer in answers})
    if 0 < groups < FEW_GROUPS:
        yield (
            f"Too little data: the answers are about {groups} passages; with fewer than {FEW_GROUPS} the "
            "intervals are too narrow."
        )
    for row in rows:
        if row.answered < row.asked:
            yield (
                f"{row.protocol}: {row.asked - row.answered:,} of {row.asked:,} answers were not given or "
                "could not be read; they count for nothing."
            )
    unheld = len(question_legs(definition)) + len(open_legs(definition)) - planned
    if unheld > 0:
        yield f"open-debate: {unheld:,} debates were not held, because the debater chose no answer."


# --- tables -----------------------------------------------------------------------------------------------


def truth_tables(report: TruthReport) -> tuple[ReportTable, ...]:
    """The table of protocols; and of those in which one speaker stands for an answer, by what it argued."""
    tables = [
        ReportTable(
            "Protocols",
            (
                "protocol", "answers", "accuracy", "to naive", "to consultancy", "confidence", "Brier",
                "log score", "calibration error", "cost",
            ),
            tuple(_protocol_row(row) for row in report.protocols),
            rests_on=_rests_on(report),
            note="Accuracy, Brier and log score with 95 % intervals; differences in percentage points of "
            "accuracy, on the same questions; confidence is the mean probability of the answer thought "
            "right; cost is that of one answer.",
        )
    ]  # fmt: skip
    if report.argued:
        tables.append(
            ReportTable(
                "What was argued",
                ("protocol", "argued for", "answers", "accuracy"),
                tuple(
                    (
                        row.protocol,
                        "the right answer" if row.argued_right else "the wrong answer",
                        f"{row.answers:,}",
                        estimate_text(row.accuracy, share=True),
                    )
                    for row in report.argued
                ),
            )
        )
    return tuple(tables)


def _rests_on(report: TruthReport) -> str:
    return f"{plural(report.questions, 'question')} about {plural(report.passages, 'passage')}."


def _protocol_row(row: ProtocolResult) -> tuple[str, ...]:
    answers = f"{row.answered:,}" if row.answered == row.asked else f"{row.answered:,} of {row.asked:,}"
    if row.score is None:
        return (row.protocol, answers, *["–"] * 8)
    return (
        row.protocol,
        answers,
        estimate_text(row.score.accuracy, share=True),
        points_text(row.against_naive),
        points_text(row.against_consultancy),
        percent(row.confidence),
        estimate_text(row.score.brier),
        estimate_text(row.score.log_score),
        f"{row.score.calibration_error:.2f}",
        cost_text(row.cost),
    )
