"""The section of a report about questions with a known answer: protocols, and how sure the judges were."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from moot.extensions.experiments.measuring.estimates import Estimate
from moot.extensions.experiments.measuring.headline_doubts import HeadlineDoubts
from moot.extensions.experiments.measuring.planned_questions import ALONE
from moot.extensions.experiments.measuring.protocol_results import ProtocolResult
from moot.extensions.experiments.measuring.protocol_tables import truth_tables
from moot.extensions.experiments.measuring.report_blocks import (
    Block,
    CurvePanel,
    Curves,
    ForestLine,
    ForestPlot,
)
from moot.extensions.experiments.measuring.report_text import estimate_text, points_text
from moot.extensions.experiments.measuring.truth_report import TruthReport
from moot.views.report_blocks import ReportTable
from moot.views.text import plural

WIDE = 8
"""So many columns fit a page."""
TOO_SURE = 0.05
"""Below this, confidence less accuracy is not worth a sentence."""
SURENESS = ("confidence", "Brier", "log score", "calibration error")


def truth_findings(truth: TruthReport, doubts: HeadlineDoubts) -> tuple[str, ...]:
    """What each protocol did for the judges, beside the naive judge, and how sure they were; first, what to
    doubt about these judges."""
    found = list(_findings(truth))
    warned = HeadlineDoubts(warnings=(*doubts.void, *doubts.warnings))
    return (warned.before(found[0]), *found[1:]) if found else ()


def _findings(truth: TruthReport) -> Iterator[str]:
    rows = [row for row in truth.protocols if row.score is not None]
    if not rows:
        return
    asked = f"{plural(truth.questions, 'question')} about {plural(truth.passages, 'passage')}"
    best = max(rows, key=lambda row: _accuracy(row) or 0.0)
    yield (
        f"On {asked}, the highest accuracy is that after {best.protocol}: "
        f"{_share(best.score.accuracy if best.score else None)}; others may be as good."
    )
    for row in rows:
        if row.protocol not in ALONE and row.against_naive is not None:
            yield _gain(row, row.against_naive)
    sure = [row for row in rows if row.score and row.confidence is not None]
    if sure:
        most = max(sure, key=lambda row: row.score.overconfidence if row.score else 0.0)
        over = most.score.overconfidence if most.score else 0.0
        if over > TOO_SURE:
            yield f"After {most.protocol} judges are too sure by {100 * over:.0f} percentage points."


def _gain(row: ProtocolResult, found: Estimate) -> str:
    said = f"{row.protocol}: {points_text(found)} percentage points to the naive judge, on the same questions"
    if not found.clear:
        return f"{said}; this data does not tell whether it helps."
    return f"{said}; it {'helps' if (found.value or 0) > 0 else 'misleads'}."


def _accuracy(row: ProtocolResult) -> float | None:
    return row.score.accuracy.value if row.score else None


def _share(found: Estimate | None) -> str:
    return estimate_text(found, share=True)


def _accuracies(truth: TruthReport) -> Iterator[ForestPlot]:
    scores = [(row.protocol, row.score.accuracy) for row in truth.protocols if row.score is not None]
    lines = tuple(
        ForestLine(
            name,
            100 * found.value,
            None if found.low is None else 100 * found.low,
            None if found.high is None else 100 * found.high,
            _share(found),
        )
        for name, found in scores
        if found.value is not None
    )
    if len(lines) > 1:
        note = "In per cent; the dashed line is a guess."
        yield ForestPlot("Accuracy of the judges after each protocol, with 95 % intervals", lines, 50, note)


def truth_blocks(truth: TruthReport) -> Iterator[Block]:
    yield from _accuracies(truth)
    first, *others = (part for table in truth_tables(truth) for part in _narrow(table))
    yield first
    panels = [CurvePanel(row.protocol, row.score.bins) for row in truth.protocols if row.score]
    if panels:
        yield Curves(
            "How often answers of about the same confidence were right",
            tuple(panels),
            "Confidence to the right, accuracy up, in per cent. On the dashed line both are equal; below it "
            "a judge is too sure. The size of a dot shows how many answers it stands for.",
        )
    yield from others


def _narrow(table: ReportTable) -> Iterator[ReportTable]:
    """A table that is too wide for a page as two: how often judges were right, and how sure they were."""
    if len(table.headings) <= WIDE or not set(SURENESS) <= set(table.headings):
        yield table
        return
    rest = [name for at, name in enumerate(table.headings) if at not in table.words and name not in SURENESS]
    yield table.without(*SURENESS).without_empty_columns()
    yield replace(table.without(*rest[1:]), title=f"{table.title}: how sure the judges were", note="")
