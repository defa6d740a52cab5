"""A report as Markdown: the same tables as in HTML, without pictures.

Motions and the names of models and judges come from files and services: they are escaped, as in transcripts.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot.experiments.judge_measures import JudgeReport
from moot.experiments.rating_report import ReportTable
from moot.experiments.ratings import Ratings
from moot.experiments.report import ExperimentReport, MotionResult
from moot.experiments.report_beliefs import (
    BELIEF_HEADS,
    PEOPLE_HEADS,
    belief_sentences,
    belief_table,
    people_sentence,
    people_table,
    turning_text,
)
from moot.experiments.report_summary import findings, made_with, method
from moot.experiments.report_text import (
    bullets,
    cost_text,
    estimate_text,
    interval_text,
    markdown_table,
    number,
    percent,
)
from moot.experiments.truth_report import truth_tables
from moot.views.text import plural
from moot.views.transcript_markdown import code_span, escape_one

PROTOCOL_FIGURES = (
    "Accuracy, Brier and log score with 95 % intervals; differences in percentage points of accuracy, on the "
    "same questions; confidence is the mean probability of the answer thought right; cost is that of one "
    "answer."
)


def report_markdown(report: ExperimentReport) -> str:
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: ExperimentReport) -> Iterator[str]:
    definition = report.definition
    yield f"# {escape_one(definition.name)}"
    yield (
        f"{_subject(report)}; {report.held:,} of {report.planned:,} debates held, {report.failed:,} failed; "
        f"{cost_text(report.cost)}."
    )
    if found := findings(report):
        yield bullets(found)
    if report.truth is not None:
        for table in truth_tables(report.truth):
            yield from _written(table)
        yield PROTOCOL_FIGURES
    if report.ratings is not None:
        yield "## Leaderboard"
        yield markdown_table(
            ("rank", "model", "rating", "95 % interval", "rank range", "win share", "debates"),
            [
                (
                    each.rank, each.model, round(each.rating), interval_text(each.low, each.high),
                    f"{each.best_rank} to {each.worst_rank}", percent(each.win_share), each.debates,
                )
                for each in report.ratings.models
            ],
        )  # fmt: skip
    if report.matchups:
        yield "## Matchups"
        yield markdown_table(
            ("model", "against", "won", "debates"),
            [(each.first, each.second, percent(each.share), each.debates) for each in report.matchups],
        )
    if report.judges is not None:
        yield from _judges(report.judges)
        yield from _judge_costs(report)
    if report.ratings is not None and report.style_controlled is not None:
        yield from _style(report.ratings, report.style_controlled)
    if report.motions:
        yield "## Motions"
        yield markdown_table(
            ("motion", "debates", "won by the side for it"),
            [(each.motion, each.debates, motion_text(each)) for each in report.motions],
        )
    if report.people is not None:
        yield "## Judges and people"
        yield escape_one(people_sentence(report.people))
        yield markdown_table(PEOPLE_HEADS, people_table(report.people))
    if report.beliefs is not None:
        yield "## Private beliefs"
        yield bullets(belief_sentences(report.beliefs))
        yield markdown_table(BELIEF_HEADS, belief_table(report.beliefs))
        yield "\n".join(
            f"- {code_span(each.debate)} {escape_one(turning_text(each))}" for each in report.beliefs.turning
        )
    if report.reliability:
        yield from _reliability(report)
    for title, shown in (("Closest", report.closest), ("Clearest", report.clearest)):
        if shown:
            yield f"## {title} debates"
            yield "\n".join(
                f"- {escape_one(each.motion)}: {escape_one(each.pro)} for, {escape_one(each.con)} against; "
                f"{percent(each.share)} of the ballots for the motion ({code_span(each.debate)})"
                for each in shown
            )
    yield "## Doubts"
    yield bullets(report.notes or ("None that the data shows.",))
    yield "## Method"
    yield escape_one(method(report))
    yield escape_one(made_with(report))


def _subject(report: ExperimentReport) -> str:
    definition = report.definition
    models = plural(len(definition.models), "model")
    if report.truth is not None:
        judges = plural(len(definition.judges), "judge")
        return f"{plural(len(definition.questions), 'question')} with a known answer, {models}, {judges}"
    return f"{models}, {plural(len(definition.motions), 'motion')}, format {escape_one(definition.format)}"


def _written(table: ReportTable) -> Iterator[str]:
    yield f"## {escape_one(table.title)}"
    yield markdown_table(table.headings, table.rows)


def _judges(judges: JudgeReport) -> Iterator[str]:
    agreement = judges.agreement
    yield "## Judges"
    yield (
        f"Agreement of two judges: {estimate_text(agreement.raw, share=True)}; Krippendorff's alpha: "
        f"{estimate_text(agreement.alpha)}."
    )
    yield markdown_table(
        ("judge", "ballots", "changed in the second reading", "for the motion", "side bias", "length bias"),
        [
            (
                each.judge, each.judgments, estimate_text(each.flips, share=True),
                estimate_text(each.pro_share, share=True), estimate_text(each.side),
                estimate_text(each.length),
            )
            for each in judges.judges
        ],
    )  # fmt: skip


def _judge_costs(report: ExperimentReport) -> Iterator[str]:
    yield markdown_table(
        ("judge", "ballots", "cost", "seconds a ballot"),
        [
            (each.judge, each.ballots, cost_text(each.cost), number(each.seconds))
            for each in report.judge_costs
        ],
    )


def _style(plain: Ratings, controlled: Ratings) -> Iterator[str]:
    before = {each.model: each for each in plain.models}
    yield "## Style"
    yield "The same ratings with length, markup, order and last word taken out, as far as they are known."
    yield markdown_table(
        ("model", "rating", "style-controlled", "95 % interval"),
        [
            (
                each.model, round(before[each.model].rating), round(each.rating),
                interval_text(each.low, each.high),
            )
            for each in controlled.models
            if each.model in before
        ],
    )  # fmt: skip
    yield markdown_table(
        ("effect", "log-odds", "could be zero"),
        [(each.name, estimate_text(each), "no" if each.clear else "yes") for each in controlled.effects],
    )


def motion_text(result: MotionResult) -> str:
    """7 of 10 (40 % to 89 %), 2 tied"""
    balance = result.balance
    if balance is None:
        return f"all {result.debates} tied"
    tied = f", {balance.ties} tied" if balance.ties else ""
    span = f"{percent(balance.low)} to {percent(balance.high)}"
    return f"{balance.pro_wins} of {balance.decided} ({span}){tied}"


def _reliability(report: ExperimentReport) -> Iterator[str]:
    yield "## Reliability and cost"
    yield markdown_table(
        (
            "model", "debates", "with issues", "refusals", "blank", "wrong side", "timeouts", "words",
            "seconds", "cost", "wins per $",
        ),
        [
            (
                each.model, each.debates, percent(each.issue_share), each.refusals, each.blanks,
                each.wrong_sides, each.timeouts,
                number(each.words), number(each.seconds), cost_text(each.cost), number(each.wins_per_dollar),
            )
            for each in report.reliability
        ],
    )  # fmt: skip
