"""A report as Markdown: the same tables as in HTML, without pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moot.experiments.judge_measures import JudgeReport
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
from moot.experiments.resampling import Estimate

METHOD = (
    "A matchup is two models on one motion, held twice with the sides swapped. Each judge reads each debate "
    "in both orders. Ratings are Bradley-Terry strengths with a term for the side; a tie is half a win for "
    "both; 400 points are odds of ten to one, and the mean is 1500. Intervals (95 %) come from drawing whole "
    "matchups with replacement. Two models are separable if the interval of their difference does not hold "
    "zero; the rank range follows from that. Ratings say whose speeches these judges prefer, not who is "
    "right."
)


def report_markdown(report: ExperimentReport) -> str:
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: ExperimentReport) -> Iterator[str]:
    definition = report.definition
    yield f"# {definition.name}"
    yield (
        f"{len(definition.models)} models, {len(definition.motions)} motions, format {definition.format}; "
        f"{report.held:,} of {report.planned:,} debates held, {report.failed:,} failed; "
        f"{cost_text(report.cost)}."
    )
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
    yield METHOD
    yield f"Moot {report.version}, {report.made_at:%Y-%m-%d %H:%M} UTC, seed {definition.seed}."


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


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"


def cost_text(cost: float | None) -> str:
    if cost is None:
        return "cost unknown"
    if not cost:
        return "$0.00"
    return f"${cost:,.2f}" if cost >= 0.1 else f"${cost:.2g}"


def interval_text(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "too little data"
    return f"{'open' if low is None else round(low)} to {'open' if high is None else round(high)}"


def estimate_text(found: Estimate | None, *, share: bool = False) -> str:
    if found is None or found.value is None:
        return "–"
    write = percent if share else "{:.2f}".format
    if found.low is None or found.high is None:
        return write(found.value)
    return f"{write(found.value)} ({write(found.low)} to {write(found.high)})"
