"""A report as Markdown: the same tables as in HTML, without pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moot.experiments.judge_measures import JudgeReport
from moot.experiments.rating_report import ReportTable
from moot.experiments.report import ExperimentReport
from moot.experiments.report_beliefs import (
    BELIEF_HEADS,
    PEOPLE_HEADS,
    belief_sentences,
    belief_table,
    people_sentence,
    people_table,
    turning_text,
)
from moot.experiments.report_text import cost_text, estimate_text, interval_text, number, percent
from moot.experiments.truth_report import TRUTH_METHOD, truth_tables
from moot.views.text import plural

METHOD = (
    "A matchup is two models on one motion, held twice with the sides swapped. Each judge reads each debate "
    "in both orders. Ratings are Bradley-Terry strengths with a term for the side; a tie is half a win for "
    "both; 400 points are odds of ten to one, and the mean is 1500. Intervals (95 %) come from drawing whole "
    "matchups with replacement. Two models are separable if the interval of their difference does not hold "
    "zero; the rank range follows from that. Ratings say whose speeches these judges prefer, not who is "
    "right."
)


PROTOCOL_FIGURES = (
    "Accuracy, Brier and log score with 95 % intervals; differences in percentage points of accuracy, on the "
    "same questions; confidence is the mean probability of the answer thought right; cost is that of one "
    "answer."
)


def report_markdown(report: ExperimentReport) -> str:
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: ExperimentReport) -> Iterator[str]:
    definition = report.definition
    yield f"# {definition.name}"
    yield (
        f"{_subject(report)}; {report.held:,} of {report.planned:,} debates held, {report.failed:,} failed; "
        f"{cost_text(report.cost)}."
    )
    if report.truth is not None:
        for table in truth_tables(report.truth):
            yield from _written(table)
        yield PROTOCOL_FIGURES
    if report.ratings is not None:
        yield "## Leaderboard"
        yield _table(
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
        yield _table(
            ("model", "against", "won", "debates"),
            [(each.first, each.second, percent(each.share), each.debates) for each in report.matchups],
        )
    if report.judges is not None:
        yield from _judges(report.judges)
    if report.people is not None:
        yield "## Judges and people"
        yield people_sentence(report.people)
        yield _table(PEOPLE_HEADS, people_table(report.people))
    if report.beliefs is not None:
        yield "## Private beliefs"
        yield "\n".join(f"- {sentence}" for sentence in belief_sentences(report.beliefs))
        yield _table(BELIEF_HEADS, belief_table(report.beliefs))
        yield "\n".join(f"- `{each.debate}` {turning_text(each)}" for each in report.beliefs.turning)
    if report.reliability:
        yield from _reliability(report)
    if report.closest:
        yield "## Closest debates"
        yield "\n".join(
            f"- `{each.debate}` {each.motion} ({each.pro} for, {each.con} against)" for each in report.closest
        )
    yield "## Doubts"
    yield "\n".join(f"- {note}" for note in report.notes or ("None that the data shows.",))
    yield "## Method"
    yield METHOD if report.truth is None else TRUTH_METHOD
    yield f"Moot {report.version}, {report.made_at:%Y-%m-%d %H:%M} UTC, seed {definition.seed}."


def _subject(report: ExperimentReport) -> str:
    definition = report.definition
    models = plural(len(definition.models), "model")
    if report.truth is not None:
        judges = plural(len(definition.judges), "judge")
        return f"{plural(len(definition.questions), 'question')} with a known answer, {models}, {judges}"
    return f"{models}, {plural(len(definition.motions), 'motion')}, format {definition.format}"


def _written(table: ReportTable) -> Iterator[str]:
    yield f"## {table.title}"
    yield _table(table.headings, table.rows)


def _judges(judges: JudgeReport) -> Iterator[str]:
    agreement = judges.agreement
    yield "## Judges"
    yield (
        f"Agreement of two judges: {estimate_text(agreement.raw, share=True)}; Krippendorff's alpha: "
        f"{estimate_text(agreement.alpha)}."
    )
    yield _table(
        ("judge", "ballots", "changed with the order", "for the motion", "side bias", "length bias"),
        [
            (
                each.judge, each.judgments, estimate_text(each.flips, share=True),
                estimate_text(each.pro_share, share=True), estimate_text(each.side),
                estimate_text(each.length),
            )
            for each in judges.judges
        ],
    )  # fmt: skip


def _reliability(report: ExperimentReport) -> Iterator[str]:
    yield "## Reliability and cost"
    yield _table(
        (
            "model", "debates", "with issues", "refusals", "blank", "timeouts", "words", "seconds", "cost",
            "wins per $",
        ),
        [
            (
                each.model, each.debates, percent(each.issue_share), each.refusals, each.blanks,
                each.timeouts,
                number(each.words), number(each.seconds), cost_text(each.cost), number(each.wins_per_dollar),
            )
            for each in report.reliability
        ],
    )  # fmt: skip


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
