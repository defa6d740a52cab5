"""What `moot experiment ratings` tells: ratings, judges, reliability and agreement with people in one value.

`make_rating_report` computes it, `rating_tables` lays it out as tables of texts, which the terminal and
Markdown show alike. Every doubt of the parts is a note of the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from moot.extensions.experiments.measuring.agreement import agreement_with_people
from moot.extensions.experiments.measuring.covariates import COVARIATE_TEXTS
from moot.extensions.experiments.measuring.estimates import Estimate
from moot.extensions.experiments.measuring.judge_measures import JudgeReport, judge_report
from moot.extensions.experiments.measuring.judge_tables import (
    biases_table,
    by_judge_table,
    checks_table,
    judges_table,
    shifts_table,
)
from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.ratings import Ratings, rate_components
from moot.extensions.experiments.measuring.reliability import ModelReliability, model_reliability
from moot.extensions.experiments.measuring.report_blocks import bullets
from moot.extensions.experiments.measuring.report_markdown import markdown_block
from moot.extensions.experiments.measuring.report_text import (
    NOTHING,
    cost_text,
    estimate_text,
    even_share,
    interval_text,
    number,
    percent,
    ranks_text,
)
from moot.extensions.experiments.measuring.sensitivity import (
    JudgeRatings,
    RatingShift,
    leave_one_judge_out,
    leave_one_motion_out,
    ratings_by_judge,
)
from moot.views.report_blocks import ReportTable
from moot.views.text import plural
from moot.views.transcript_markdown import escape_one

METHOD = (
    "Bradley-Terry with a term for the side; ties count as half a win; a debate counts once, shared by its"
    " judges. Intervals of 95 % come from leaving out one motion at a time, with all its debates: they say"
    " what other motions of the same kind would show. A rank range counts only models that are separable. The"
    " ratings say what these judges prefer, not what is true."
)


class RatingReport(Struct, frozen=True, kw_only=True):
    """Everything that is measured of a set of judgments."""

    ratings: tuple[Ratings, ...]
    """One for each set of models that met each other; usually one."""
    judges: JudgeReport | None
    """None where models fall into several sets."""
    shifts: tuple[RatingShift, ...]
    """Without each judge."""
    motion_shifts: tuple[RatingShift, ...]
    """Without each motion."""
    by_judge: tuple[JudgeRatings, ...]
    """Where some judges judged the debates again, the ratings by each judge alone."""
    reliability: tuple[ModelReliability, ...]
    people: tuple[Estimate, ...]
    rows_read: int
    not_eligible: int
    notes: tuple[str, ...]


def make_rating_report(
    rows: Sequence[Judgment], people: Sequence[Judgment] = (), **options: Any
) -> RatingReport:
    """Measure the eligible rows. Options are those of `RatingOptions`."""
    used = [row for row in rows if row.eligible]
    boards = rate_components(used, **options)
    whole = len(boards) == 1
    judges = judge_report(used) if whole else None
    several = len({row.judge for row in used}) > 1
    notes = [note for board in boards for note in board.notes]
    if not whole:
        notes.insert(0, f"The models fall into {len(boards)} sets that never met; each has its own table.")
    notes += judges.notes if judges else ()
    return RatingReport(
        ratings=boards,
        judges=judges,
        shifts=leave_one_judge_out(used, **options) if whole and several else (),
        motion_shifts=leave_one_motion_out(used, **options) if whole else (),
        by_judge=ratings_by_judge(used, **options) if not all(row.own for row in used) else (),
        reliability=model_reliability(rows),
        people=agreement_with_people(used, people) if people else (),
        rows_read=len(rows),
        not_eligible=len(rows) - len(used),
        notes=tuple(dict.fromkeys(notes)),
    )


def rating_tables(report: RatingReport) -> tuple[ReportTable, ...]:
    """The report as tables of texts, in the order in which they are read."""
    tables: list[ReportTable] = []
    for board in report.ratings:
        tables += [leaderboard_table(board), effects_table(board)]
    if report.judges:
        tables += [agreement_table(report.judges), judges_table(report.judges), biases_table(report.judges)]
        tables.append(checks_table(report.judges.checks))
    tables += [by_judge_table(report.by_judge), shifts_table(report.shifts)]
    tables += [shifts_table(report.motion_shifts, "motion"), people_table(report.people)]
    tables.append(reliability_table(report.reliability))
    return tuple(table.without_empty_columns() for table in tables if table.rows)


def rating_markdown(report: RatingReport, title: str = "Ratings") -> str:
    """The report as Markdown, with its method and its doubts."""
    parts = [f"# {escape_one(title)}", overview(report), METHOD]
    for table in rating_tables(report):
        parts += markdown_block(table)
    if report.notes:
        parts += ["## Doubts", *(part for block in bullets(report.notes) for part in markdown_block(block))]
    return "\n\n".join(parts) + "\n"


def overview(report: RatingReport) -> str:
    """In one line: how much was read and what counted."""
    judgments = sum(board.judgments for board in report.ratings)
    debates = sum(board.debates for board in report.ratings)
    motions = sum(board.motions for board in report.ratings)
    models = sum(len(board.models) for board in report.ratings)
    left = f"; {report.not_eligible} rows do not count for ratings" if report.not_eligible else ""
    return f"{judgments} judgments of {debates} debates on {motions} motions, {models} models{left}."


def leaderboard_table(board: Ratings) -> ReportTable:
    rows = (
        (
            str(row.rank),
            row.model,
            f"{row.rating:.0f}",
            interval_text(row.low, row.high),
            ranks_text(row.best_rank, row.worst_rank),
            percent(row.expected_share),
            f"{row.debates:,}",
            f"{row.motions:,}",
        )
        for row in board.models
    )
    headings = (
        "rank", "model", "rating", "95 % interval", "rank range", "wins against all", "debates", "motions",
    )  # fmt: skip
    return ReportTable(
        "Leaderboard",
        headings,
        tuple(rows),
        rests_on=_rests_on(board),
        note="The rank range has every rank that the data allows. Wins against all: how often the model "
        "would win against every other one, each once and without the advantage of a side.",
        words=(1,),
    )


def _rests_on(board: Ratings) -> str:
    ballots, debates = plural(board.judgments, "ballot"), plural(board.debates, "debate")
    return f"{ballots} on {debates}, {plural(board.motions, 'motion')}."


def effects_table(board: Ratings) -> ReportTable:
    headings = ("effect of", "log-odds", "wins against an even opponent")
    rows = [(effect_name(one.name), estimate_text(one, signed=True), _share(one)) for one in board.effects]
    note = "Above 0, or above 50 %, it helps to win. An interval that holds 0 may mean no effect."
    return ReportTable("Effects beside strength", headings, tuple(rows), _rests_on(board), note)


def effect_name(name: str) -> str:
    base, _, part = name.partition(":")
    return COVARIATE_TEXTS.get(base, base) + (f" ({part})" if part else "")


def agreement_table(judges: JudgeReport) -> ReportTable:
    both = judges.agreement
    rows = [
        ("any two judges of a debate", estimate_text(both.raw, share=True), str(both.raw.groups)),
        ("all judges of a debate", estimate_text(both.unanimous, share=True), str(both.unanimous.groups)),
        ("Krippendorff's alpha", estimate_text(both.alpha, signed=True), str(both.alpha.groups)),
        *((pair.name, estimate_text(pair, share=True), str(pair.groups)) for pair in both.pairs),
    ]
    return ReportTable("Agreement of the judges", ("judges", "same result", "motions"), tuple(rows))


def people_table(people: Iterable[Estimate]) -> ReportTable:
    rows = ((one.name, estimate_text(one, share=True), f"{one.groups:,}") for one in people)
    return ReportTable("Agreement with people", ("judge", "same result", "motions"), tuple(rows))


def reliability_table(models: Sequence[ModelReliability]) -> ReportTable:
    rows = [
        (
            one.model,
            f"{one.debates:,}",
            f"{percent(one.issue_share)} ({interval_text(one.low, one.high, percent)})",
            *(f"{each:,}" for each in (one.refusals, one.blanks, one.wrong_sides)),
            *(f"{each:,}" for each in (one.timeouts, one.failures)),
            number(one.words),
            number(one.seconds),
            cost_text(one.cost),
            number(one.wins_per_dollar),
        )
        for one in models
    ]
    known = any(one.with_issues or one.cost is not None or one.seconds is not None for one in models)
    headings = (
        "model", "debates", "with issues", "refused", "blank", "wrong side", "timed out", "failed", "words",
        "seconds", "cost", "wins per $",
    )  # fmt: skip
    note = "Counted apart from strength. Words, seconds and cost are those of one debate."
    return ReportTable("Reliability", headings, tuple(rows) if known else (), note=note)


def _share(effect: Estimate) -> str:
    """What an effect in log-odds means for the wins against an even opponent."""
    if effect.value is None:
        return NOTHING
    low, high = (None if end is None else even_share(end) for end in (effect.low, effect.high))
    return f"{percent(even_share(effect.value))} ({interval_text(low, high, percent)})"
