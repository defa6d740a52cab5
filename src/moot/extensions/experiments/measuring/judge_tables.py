"""Tables about the judges, which report, Markdown, page and terminal show alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from moot.extensions.experiments.measuring.judge_checks import LEVEL, JudgeCheck
from moot.extensions.experiments.measuring.judge_measures import JudgeMeasures, JudgeReport
from moot.extensions.experiments.measuring.report_text import estimate_text, interval_text, percent
from moot.extensions.experiments.measuring.sensitivity import JudgeRatings, RatingShift, largest_shifts
from moot.views.report_blocks import ReportTable

SHOWN_SHIFTS = 10


def judge_label(judge: JudgeMeasures | JudgeRatings | JudgeCheck) -> str:
    """The name, with a mark where it judged the debates again."""
    return judge.judge if judge.own else f"{judge.judge} (judged again)"


def judges_table(judges: JudgeReport) -> ReportTable:
    rows = (
        (
            judge_label(one),
            f"{one.judgments:,}",
            f"{one.undecided:,}",
            estimate_text(one.pro_share, share=True),
            estimate_text(one.flips, share=True),
            estimate_text(one.same_side, share=True),
        )
        for one in judges.judges
    )
    headings = (
        "judge", "ballots", "unreadable", "for the motion", "changed in the second reading",
        "same side twice",
    )  # fmt: skip
    return ReportTable("The judges", headings, tuple(rows))


def biases_table(judges: JudgeReport) -> ReportTable:
    rows = (
        (
            judge_label(one),
            *(
                estimate_text(each, signed=True)
                for each in (
                    one.side, one.primacy, one.label, one.order, one.length, one.family, one.self_preference,
                    one.address,
                )
            ),
        )
        for one in judges.judges
    )  # fmt: skip
    headings = (
        "judge", "side", "read first", "first label", "shown first", "length", "own family", "itself",
        "addressed",
    )  # fmt: skip
    note = (
        "What each adds to the log-odds of a side, beside the strength of the models: 0.4 turns 50 % into "
        "60 %. Length: twice as many words. Addressed: the side addresses the judge."
    )
    table = ReportTable("Biases of the judges, in log-odds", headings, tuple(rows), note=note)
    return table.without_empty_columns()


def checks_table(checks: Sequence[JudgeCheck]) -> ReportTable:
    """The tests that found something; where none did, a note says how many there were."""
    found = [check for check in checks if check.found]
    rows = (
        (judge_label(one), one.fault, one.text, _figure_text(one), f"{max(one.corrected, 0.0001):.2g}")
        for one in sorted(found, key=lambda each: (each.corrected, each.judge))
    )
    note = (
        f"{len(found)} of {len(checks)} tests found a fault at {100 * LEVEL:.0f} %, corrected for their "
        "number (Holm). Figures in log-odds; for a coin kappa, for a leaning and unreadable ballots shares."
    )
    headings = ("judge", "fault", "what it does", "figure", "p")
    return ReportTable("Compromised judges", headings, tuple(rows), note=note, words=(0, 1, 2))


def _figure_text(check: JudgeCheck) -> str:
    share = check.fault in ("unreadable", "proposition")
    return estimate_text(check.figure, share=share, signed=not share)


def shifts_table(shifts: Iterable[RatingShift], of: str = "judge") -> ReportTable:
    rows = (
        (one.without, one.model, f"{one.shift:+.0f}", f"{one.rank} → {one.rank_without}")
        for one in largest_shifts(shifts)[:SHOWN_SHIFTS]
    )
    headings = ("without", "largest change", "points", "rank")
    return ReportTable(f"Without one {of}", headings, tuple(rows), words=(0, 1))


def by_judge_table(ratings: Sequence[JudgeRatings]) -> ReportTable:
    rows = (
        (
            judge_label(one),
            row.model,
            f"{row.rating:.0f}",
            interval_text(row.low, row.high),
            str(row.rank),
            percent(row.win_share),
        )
        for one in ratings
        for row in one.models
    )
    headings = ("judge", "model", "rating", "95 % interval", "rank", "won")
    note = "The ratings by each judge alone. The leaderboard rests on the experiment's own panel."
    return ReportTable("Ratings by judge", headings, tuple(rows), note=note, words=(0, 1))
