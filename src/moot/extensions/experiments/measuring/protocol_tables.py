"""What the answers of an experiment show, as tables for the terminal, Markdown, HTML and the page."""

from __future__ import annotations

from collections.abc import Sequence

from moot.extensions.experiments.measuring.debater_results import DebaterResult, QuoteResult
from moot.extensions.experiments.measuring.leaderboard import ModelRating
from moot.extensions.experiments.measuring.protocol_results import ProtocolResult, ReadingResult, RoundResult
from moot.extensions.experiments.measuring.report_text import (
    cost_text,
    estimate_text,
    interval_text,
    percent,
    points_text,
)
from moot.extensions.experiments.measuring.truth_report import ArguedResult, TruthReport
from moot.views.report_blocks import ReportTable
from moot.views.text import plural

FIGURES = (
    "answers", "accuracy", "to naive", "to consultancy", "gap recovered", "confidence", "Brier", "log score",
    "calibration error", "cost",
)  # fmt: skip
ARGUED = {True: "the right answer", False: "the wrong answer"}


def truth_tables(report: TruthReport) -> tuple[ReportTable, ...]:
    """The table of protocols, the same by judge and for single readings; and of protocols in which one
    speaker stands for an answer, by what it argued."""
    protocols = ReportTable(
        "Protocols",
        ("protocol", *FIGURES),
        tuple((row.protocol, *_figures(row)) for row in report.protocols),
        rests_on=_rests_on(report),
        note="Accuracy, Brier and log score with 95 % intervals; differences in percentage points of "
        "accuracy, on the same questions; confidence is the mean probability of the answer thought "
        "right; cost is that of one answer.",
    )
    others = (
        _judge_table(report.judges),
        _reading_table(report.readings),
        _round_table(report.rounds),
        _argued_table(report.argued),
        _debater_table(report.debaters),
        _rating_table(report.ratings),
        _quote_table(report.quotes),
    )
    return (protocols, *(table for table in others if table.rows))


def _rests_on(report: TruthReport) -> str:
    return f"{plural(report.questions, 'question')} about {plural(report.passages, 'passage')}."


def _judge_table(rows: Sequence[ProtocolResult]) -> ReportTable:
    return ReportTable(
        "Protocols by judge",
        ("protocol", "judge", *FIGURES),
        tuple((row.protocol, row.judge, *_figures(row)) for row in rows),
        words=(0, 1),
    )


def _reading_table(rows: Sequence[ReadingResult]) -> ReportTable:
    return ReportTable(
        "Single readings",
        (
            "protocol", "judge", "readings", "accuracy", "confidence", "Brier", "log score",
            "calibration error", "changes", "names the first",
        ),
        tuple(
            (
                row.protocol,
                row.judge or "all",
                f"{row.readings:,}",
                estimate_text(row.score.accuracy, share=True),
                percent(row.confidence),
                estimate_text(row.score.brier),
                estimate_text(row.score.log_score),
                f"{row.score.calibration_error:.2f}",
                estimate_text(row.flips, share=True),
                estimate_text(row.first, share=True),
            )
            for row in rows
        ),
        words=(0, 1),
        note="Each reading by itself. Changes: answers whose two readings do not name the same answer. Names "
        "the first: readings that name what is listed first; 50 % where the place does not count.",
    )  # fmt: skip


def _round_table(rows: Sequence[RoundResult]) -> ReportTable:
    return ReportTable(
        "After each round",
        ("protocol", "judge", "round", "beliefs", "accuracy", "confidence", "Brier"),
        tuple(
            (
                row.protocol,
                row.judge or "all",
                f"{row.round}",
                f"{row.score.answers:,}",
                estimate_text(row.score.accuracy, share=True),
                percent(row.confidence),
                estimate_text(row.score.brier),
            )
            for row in rows
        ),
        words=(0, 1),
        note="What judges believed before the first speech (round 0) and after each round, each time asked "
        "once and in a number alone.",
    )


def _argued_table(rows: Sequence[ArguedResult]) -> ReportTable:
    return ReportTable(
        "What was argued",
        ("protocol", "argued for", "answers", "accuracy"),
        tuple(
            (
                row.protocol,
                ARGUED[row.argued_right],
                f"{row.answers:,}",
                estimate_text(row.accuracy, share=True),
            )
            for row in rows
        ),
        words=(0, 1),
        note="How often the judge was right where one speaker stood for an answer.",
    )


def _debater_table(rows: Sequence[DebaterResult]) -> ReportTable:
    return ReportTable(
        "Debaters",
        ("protocol", "debater", "wins when right", "wins when wrong", "worth of the truth"),
        tuple(
            (
                row.protocol,
                row.model,
                estimate_text(row.right, share=True),
                estimate_text(row.wrong, share=True),
                points_text(row.truth),
            )
            for row in rows
        ),
        words=(0, 1),
        note="How often the judge preferred the answer of this speaker, when that was the right one and when "
        "it was the wrong one; and the difference, in percentage points, on the same questions.",
    )


def _rating_table(rows: Sequence[ModelRating]) -> ReportTable:
    return ReportTable(
        "Ratings of debaters",
        ("debater", "rating", "95 % interval", "win share"),
        tuple(
            (row.model, f"{row.rating:.0f}", interval_text(row.low, row.high), percent(row.win_share))
            for row in rows
        ),
        note="Every model is two contestants: the one who is right and the one who is wrong.",
    )


def _quote_table(rows: Sequence[QuoteResult]) -> ReportTable:
    return ReportTable(
        "Quotations",
        ("debater", "argued for", "debates", "found", "not found", "over the limit", "false"),
        tuple(
            (
                row.model,
                ARGUED[row.argued_right],
                f"{row.speakers:,}",
                f"{row.found:,}",
                f"{row.missing:,}",
                f"{row.over:,}",
                estimate_text(row.false_share, share=True),
            )
            for row in rows
        ),
        words=(0, 1),
        note="Quotations of three words and more; false are those that do not stand in the passage word for "
        "word.",
    )


def _figures(row: ProtocolResult) -> tuple[str, ...]:
    answers = f"{row.answered:,}" if row.answered == row.asked else f"{row.answered:,} of {row.asked:,}"
    if row.score is None:
        return (answers, *["–"] * 9)
    return (
        answers,
        estimate_text(row.score.accuracy, share=True),
        points_text(row.against_naive),
        points_text(row.against_consultancy),
        estimate_text(row.recovered, share=True),
        percent(row.confidence),
        estimate_text(row.score.brier),
        estimate_text(row.score.log_score),
        f"{row.score.calibration_error:.2f}",
        cost_text(row.cost),
    )
