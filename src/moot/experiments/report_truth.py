"""The section of a report about questions with a known answer: protocols, and how sure the judges were."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from moot.experiments.protocol_tables import truth_tables
from moot.experiments.report_blocks import Block, CurvePanel, CurvePoint, Curves, ReportTable
from moot.experiments.truth_report import TruthReport

WIDE = 8
"""So many columns fit a page."""
SURENESS = ("confidence", "Brier", "log score", "calibration error")


def truth_blocks(truth: TruthReport) -> Iterator[Block]:
    first, *others = (part for table in truth_tables(truth) for part in _narrow(table))
    yield first
    if panels := tuple(_panels(truth)):
        yield Curves(
            "How often answers of about the same confidence were right",
            panels,
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


def _panels(truth: TruthReport) -> Iterator[CurvePanel]:
    for row in truth.protocols:
        if row.score is not None:
            points = (CurvePoint(each.confidence, each.accuracy, each.count) for each in row.score.bins)
            yield CurvePanel(row.protocol, tuple(points))
