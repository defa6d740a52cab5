"""The reliability curve as a picture: how often answers of about the same confidence were right."""

from __future__ import annotations

from html import escape
from math import sqrt

from moot.experiments.protocol_results import ProtocolResult
from moot.experiments.truth_report import TruthReport

PANEL, GAP, TOP, PANELS_A_ROW = 170, 50, 30, 4
LEFT = 40
SMALLEST_DOT, LARGEST_DOT = 3.0, 11.0


def reliability_curves(truth: TruthReport) -> str:
    """A panel for each protocol that has answers: confidence from 50 to 100 % to the right, accuracy up."""
    shown = [row for row in truth.protocols if row.score is not None]
    if not shown:
        return ""
    rows = -(-len(shown) // PANELS_A_ROW)
    columns = min(len(shown), PANELS_A_ROW)
    width, height = LEFT + columns * (PANEL + GAP), rows * (TOP + PANEL + GAP)
    panels = "".join(
        f'<g transform="translate({LEFT + (index % PANELS_A_ROW) * (PANEL + GAP)} '
        f'{TOP + (index // PANELS_A_ROW) * (TOP + PANEL + GAP)})">{_panel(row)}</g>'
        for index, row in enumerate(shown)
    )
    label = "Confidence and accuracy of each protocol: " + "; ".join(_said(row) for row in shown)
    size = f'viewBox="0 0 {width} {height}"'
    return f'<svg class="chart" {size} role="img" aria-label="{escape(label)}">{panels}</svg>'


def _panel(row: ProtocolResult) -> str:
    bins = row.score.bins if row.score else ()
    most = max((each.count for each in bins), default=1)
    points = [(_x(each.confidence), _y(each.accuracy), each.count) for each in bins]
    line = " ".join(f"{x},{y}" for x, y, _ in points)
    dots = "".join(
        f'<circle cx="{x}" cy="{y}" r="{_radius(count / most)}" fill-opacity=".75">'
        f"<title>{count} answers</title></circle>"
        for x, y, count in points
    )
    ticks = "".join(
        f'<text class="tick" x="{_x(share)}" y="{PANEL + 18}" text-anchor="middle">{100 * share:.0f} %</text>'
        for share in (0.5, 0.75, 1.0)
    ) + "".join(
        f'<text class="tick" x="-6" y="{_y(share) + 4}" text-anchor="end">{100 * share:.0f}</text>'
        for share in (0.0, 0.5, 1.0)
    )
    return (
        f'<text x="0" y="-10">{escape(row.protocol)}</text>'
        f'<rect width="{PANEL}" height="{PANEL}" fill="none" class="frame"/>'
        f'<line class="mean" x1="{_x(0.5)}" y1="{_y(0.5)}" x2="{_x(1)}" y2="{_y(1)}"/>'
        f'<polyline class="bar" fill="none" points="{line}"/>{dots}{ticks}'
    )


def _radius(share: float) -> float:
    return round(SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * sqrt(share), 1)


def _said(row: ProtocolResult) -> str:
    bins = row.score.bins if row.score else ()
    said = ", ".join(
        f"{100 * each.confidence:.0f} % sure, {100 * each.accuracy:.0f} % right" for each in bins
    )
    return f"{row.protocol} {said}"


def _x(confidence: float) -> float:
    return round(PANEL * (confidence - 0.5) * 2, 1)


def _y(accuracy: float) -> float:
    return round(PANEL * (1 - accuracy), 1)
