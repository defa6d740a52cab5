"""What `moot experiment ratings` tells: ratings, judges, reliability and agreement with people in one value.

`make_rating_report` computes it, `rating_tables` lays it out as tables of texts, which the terminal and
Markdown show alike. Every doubt of the parts is a note of the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from moot.experiments.agreement import agreement_with_people
from moot.experiments.covariates import COVARIATE_TEXTS
from moot.experiments.judge_measures import JudgeReport, judge_report
from moot.experiments.judgments import Judgment
from moot.experiments.ratings import Ratings, rate_components
from moot.experiments.reliability import ModelReliability, model_reliability
from moot.experiments.report_text import bullets, markdown_table
from moot.experiments.resampling import Estimate
from moot.experiments.sensitivity import RatingShift, largest_shifts, leave_one_judge_out
from moot.views.transcript_markdown import escape_one

METHOD = (
    "Bradley-Terry with a term for the side; ties count as half a win; a debate counts once, shared by its"
    " judges. Intervals of 95 % come from resampling whole groups (a matchup on one motion with both sides)."
    " A rank range counts only models that are separable. The ratings say what these judges prefer, not what"
    " is true."
)


class RatingReport(Struct, frozen=True, kw_only=True):
    """Everything that is measured of a set of judgments."""

    ratings: tuple[Ratings, ...]
    """One for each set of models that met each other; usually one."""
    judges: JudgeReport | None
    """None where models fall into several sets."""
    shifts: tuple[RatingShift, ...]
    reliability: tuple[ModelReliability, ...]
    people: tuple[Estimate, ...]
    rows_read: int
    not_eligible: int
    notes: tuple[str, ...]


class ReportTable(Struct, frozen=True):
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def make_rating_report(
    rows: Sequence[Judgment], people: Sequence[Judgment] = (), **options: Any
) -> RatingReport:
    """Measure the eligible rows. Options are those of `RatingOptions`."""
    used = [row for row in rows if row.eligible]
    boards = rate_components(used, **options)
    whole = len(boards) == 1
    bootstraps, seed = min(300, options.get("bootstraps", 300)), options.get("seed", 0)
    judges = judge_report(used, bootstraps=bootstraps, seed=seed) if whole else None
    several = len({row.judge for row in used}) > 1
    notes = [note for board in boards for note in board.notes]
    if not whole:
        notes.insert(0, f"The models fall into {len(boards)} sets that never met; each has its own table.")
    notes += _unknown(judges) if judges else []
    return RatingReport(
        ratings=boards,
        judges=judges,
        shifts=leave_one_judge_out(used, **options) if whole and several else (),
        reliability=model_reliability(rows),
        people=agreement_with_people(used, people, bootstraps=bootstraps, seed=seed) if people else (),
        rows_read=len(rows),
        not_eligible=len(rows) - len(used),
        notes=tuple(dict.fromkeys(notes)),
    )


def _unknown(judges: JudgeReport) -> list[str]:
    """What the rows do not tell about the judges."""
    notes: list[str] = []
    if all(judge.flips.value is None for judge in judges.judges):
        notes.append("No judge read a debate twice, so flips in the second reading are not known.")
    if all(judge.length is None for judge in judges.judges):
        notes.append("The lengths of the speeches are not known, so a bias for longer ones cannot be seen.")
    if all(judge.family is None for judge in judges.judges):
        notes.append("No judge judged a model of its own maker against another's, or makers are not known.")
    return notes


def rating_tables(report: RatingReport) -> tuple[ReportTable, ...]:
    """The report as tables of texts, in the order in which they are read."""
    tables: list[ReportTable] = []
    for board in report.ratings:
        tables += [_board(board), _effects(board)]
    if report.judges:
        tables += [_agreement(report.judges), _judges(report.judges)]
    tables += [_shifts(report.shifts), _people(report.people), _reliability(report.reliability)]
    return tuple(_without_empty_columns(table) for table in tables if table.rows)


def _without_empty_columns(table: ReportTable) -> ReportTable:
    """What the data does not say has no column."""
    kept = [at for at in range(len(table.headings)) if any(row[at] for row in table.rows)]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return ReportTable(table.title, tuple(table.headings[at] for at in kept), rows)


def rating_markdown(report: RatingReport, title: str = "Ratings") -> str:
    """The report as Markdown, with its method and its doubts."""
    parts = [f"# {escape_one(title)}", overview(report), METHOD]
    for table in rating_tables(report):
        parts += [f"## {escape_one(table.title)}", markdown_table(table.headings, table.rows)]
    if report.notes:
        parts += ["## Doubts", bullets(report.notes)]
    return "\n\n".join(parts) + "\n"


def overview(report: RatingReport) -> str:
    """In one line: how much was read and what counted."""
    judgments = sum(board.judgments for board in report.ratings)
    debates = sum(board.debates for board in report.ratings)
    groups = sum(board.groups for board in report.ratings)
    models = sum(len(board.models) for board in report.ratings)
    left = f"; {report.not_eligible} rows do not count for ratings" if report.not_eligible else ""
    return f"{judgments} judgments of {debates} debates in {groups} groups, {models} models{left}."


def _board(board: Ratings) -> ReportTable:
    rows = (
        (
            str(row.rank),
            _ranks(row.best_rank, row.worst_rank),
            row.model,
            f"{row.rating:.0f}",
            _span(row.low, row.high, "{:.0f}"),
            f"{row.expected_share:.0%}",
            str(row.debates),
        )
        for row in board.models
    )
    headings = ("rank", "range", "model", "rating", "95 % interval", "wins against all", "debates")
    return ReportTable("Leaderboard", headings, tuple(rows))


def _effects(board: Ratings) -> ReportTable:
    headings = ("effect of", "log-odds", "95 % interval", "wins against an even opponent")
    rows = [
        (_effect_name(one.name), _signed(one.value), _span(one.low, one.high, "{:+.2f}"), _share(one.value))
        for one in board.effects
    ]
    return ReportTable("Effects", headings, tuple(rows))


def _effect_name(name: str) -> str:
    base, _, part = name.partition(":")
    return COVARIATE_TEXTS.get(base, base) + (f" ({part})" if part else "")


def _agreement(judges: JudgeReport) -> ReportTable:
    both = judges.agreement
    rows = [
        ("any two judges of a debate", _percent(both.raw), str(both.raw.groups)),
        ("all judges of a debate", _percent(both.unanimous), str(both.unanimous.groups)),
        ("Krippendorff's alpha", _figure(both.alpha), str(both.alpha.groups)),
        *((pair.name, _percent(pair), str(pair.groups)) for pair in both.pairs),
    ]
    return ReportTable("Agreement of the judges", ("judges", "same result", "groups"), tuple(rows))


def _judges(judges: JudgeReport) -> ReportTable:
    rows = (
        (
            one.judge,
            str(one.judgments),
            _percent(one.pro_share),
            _figure(one.side),
            _percent(one.same_side),
            _percent(one.flips),
            _figure(one.order),
            _figure(one.length),
            _figure(one.family),
        )
        for one in judges.judges
    )
    headings = (
        "judge", "judgments", "pro won", "side bias", "same side twice", "flips in second reading",
        "shown-first bias", "length bias", "own family",
    )  # fmt: skip
    return ReportTable("Judges (biases in log-odds)", headings, tuple(rows))


def _shifts(shifts: Iterable[RatingShift]) -> ReportTable:
    rows = (
        (one.without, one.model, f"{one.shift:+.0f}", f"{one.rank} → {one.rank_without}")
        for one in largest_shifts(shifts)
    )
    return ReportTable("Without one judge", ("judge", "largest change", "points", "rank"), tuple(rows))


def _people(people: Iterable[Estimate]) -> ReportTable:
    rows = ((one.name, _percent(one), str(one.groups)) for one in people)
    return ReportTable("Agreement with people", ("judge", "same result", "groups"), tuple(rows))


def _reliability(models: Iterable[ModelReliability]) -> ReportTable:
    rows = [
        (
            one.model,
            str(one.debates),
            f"{one.issue_share:.0%} ({one.low:.0%} to {one.high:.0%})",
            " ".join(map(str, (one.refusals, one.blanks, one.wrong_sides, one.timeouts, one.failures))),
            "" if one.cost is None else f"${one.cost:.4f}",
            "" if one.seconds is None else f"{one.seconds:.1f}",
            "" if one.wins_per_dollar is None else f"{one.wins_per_dollar:.1f}",
        )
        for one in models
    ]
    known = any(one.with_issues or one.cost is not None or one.seconds is not None for one in models)
    headings = (
        "model", "debates", "with issues", "refused blank wrong-side timeout failed", "cost", "seconds",
        "wins per dollar",
    )  # fmt: skip
    return ReportTable("Reliability, apart from strength", headings, tuple(rows) if known else ())


def _ranks(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _span(low: float | None, high: float | None, form: str) -> str:
    if low is None and high is None:
        return "not known"
    return f"{'open' if low is None else form.format(low)} to {'open' if high is None else form.format(high)}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{1 / (1 + 2.718281828459045**-value):.1%}"


def _percent(estimate: Estimate) -> str:
    if estimate.value is None:
        return ""
    return f"{estimate.value:.0%} ({_span(estimate.low, estimate.high, '{:.0%}')})"


def _figure(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return ""
    return f"{estimate.value:+.2f} ({_span(estimate.low, estimate.high, '{:+.2f}')})"
