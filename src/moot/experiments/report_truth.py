"""The section of a report about questions with a known answer: protocols, and how sure the judges were."""

from __future__ import annotations

from collections.abc import Iterator

from moot.experiments.report_blocks import Block, CurvePanel, CurvePoint, Curves
from moot.experiments.truth_report import TruthReport
from moot.experiments.truth_tables import truth_tables


def truth_blocks(truth: TruthReport) -> Iterator[Block]:
    first, *others = truth_tables(truth)
    yield first
    if panels := tuple(_panels(truth)):
        yield Curves(
            "How often answers of about the same confidence were right",
            panels,
            "Confidence to the right, accuracy up, in per cent. On the dashed line both are equal; below it "
            "a judge is too sure. The size of a dot shows how many answers it stands for.",
        )
    yield from others


def _panels(truth: TruthReport) -> Iterator[CurvePanel]:
    for row in truth.protocols:
        if row.score is not None:
            points = (CurvePoint(each.confidence, each.accuracy, each.count) for each in row.score.bins)
            yield CurvePanel(row.protocol, tuple(points))
