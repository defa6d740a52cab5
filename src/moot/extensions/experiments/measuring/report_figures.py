"""The figures of a report as HTML with SVG: intervals on one scale, a matrix of shares, reliability curves.

Places are written in per cent, so that text keeps its size on a narrow screen and in print. A screen reader
is told the title and every figure; the table beside a figure has the same numbers. No `style` attribute is
used: a served report allows its one style sheet alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from math import ceil, floor, log10, sqrt

from moot.extensions.experiments.measuring.report_blocks import (
    CurvePanel,
    Curves,
    Figure,
    ForestLine,
    ForestPlot,
    ShareMatrix,
)

MARGIN, WIDTH = 3, 94
"""Of the drawn line, in per cent: where the scale begins, and how long it is."""
ROW, MIDDLE, CAP = 22, 11, 5
MOST_TICKS = 5
PANEL, LEFT, TOP, BELOW = 160, 34, 26, 24
SMALLEST_DOT, LARGEST_DOT = 3.0, 9.0


def figure_html(figure: Figure) -> str:
    match figure:
        case ForestPlot():
            kind, said, body = "forest", _forest_said(figure), _forest(figure)
        case ShareMatrix():
            kind, said, body = "matrix", _matrix_said(figure), _matrix(figure)
        case Curves():
            kind, said, body = "curves", _curves_said(figure), _curves(figure)
    name = f"figure-{figure.number}"
    note = f" {escape(figure.note)}" if figure.note else ""
    return (
        f'<figure class="{kind}" id="{name}"><figcaption><b id="{name}-title">Figure {figure.number}. '
        f"{escape(figure.title)}.</b>{note}</figcaption>"
        f'<div class="scroll"><div class="drawn" role="img" aria-labelledby="{name}-title" '
        f'aria-describedby="{name}-said">{body}</div></div>'
        f'<p class="visually-hidden" id="{name}-said">{escape(said)}</p></figure>'
    )


# --- intervals on one scale -------------------------------------------------------------------------------


def _forest_said(plot: ForestPlot) -> str:
    return "; ".join(f"{line.name}: {line.label}" for line in plot.lines) + "."


def _forest(plot: ForestPlot) -> str:
    low, high = _scale(plot)

    def x(value: float) -> str:
        within = min(max(value, low), high)
        return f"{MARGIN + WIDTH * (within - low) / (high - low):.1f}%"

    middle = ""
    if plot.middle is not None:
        at = x(plot.middle)
        middle = f'<line class="middle" x1="{at}" x2="{at}" y1="0" y2="100%"/>'
    ticks = "".join(
        f'<text x="{x(value)}" y="13" text-anchor="middle">{_tick(value)}</text>'
        for value in _ticks(low, high)
    )
    lines = "".join(_forest_line(line, x, (low, high), middle) for line in plot.lines)
    return f'{lines}<div class="line axis"><span></span><svg height="18">{ticks}</svg><span></span></div>'


def _scale(plot: ForestPlot) -> tuple[float, float]:
    """From the least to the greatest end. An open interval says little about its figure: where there are
    closed ones, the scale is theirs, and what lies outside stands at its edge."""
    closed = [line for line in plot.lines if line.low is not None and line.high is not None]
    ends = [
        end for line in closed or plot.lines for end in (line.value, line.low, line.high) if end is not None
    ]
    ends += [] if plot.middle is None else [plot.middle]
    space = (max(ends) - min(ends)) * 0.06 or abs(ends[0]) * 0.02 or 1.0
    return min(ends) - space, max(ends) + space


def _forest_line(line: ForestLine, x: Callable[[float], str], ends: tuple[float, float], middle: str) -> str:
    known = line.low is not None or line.high is not None
    left = ends[0] if line.low is None else line.low
    right = ends[1] if line.high is None else line.high
    bar = f'<line class="bar" x1="{x(left)}" x2="{x(right)}" y1="{MIDDLE}" y2="{MIDDLE}"/>' if known else ""
    for at, edge, way in ((left, ends[0], -1), (right, ends[1], 1)):
        if known:
            bar += _arrow(x(edge), way) if (at - edge) * way >= 0 else _cap(x(at))
    beyond = "" if ends[0] <= line.value <= ends[1] else ' class="beyond"'
    return (
        f'<div class="line"><span class="name">{escape(line.name)}</span><svg height="{ROW}">{middle}{bar}'
        f'<circle{beyond} cx="{x(line.value)}" cy="{MIDDLE}" r="5"/></svg>'
        f'<span class="label">{escape(line.label)}</span></div>'
    )


def _cap(at: str) -> str:
    return f'<line class="bar" x1="{at}" x2="{at}" y1="{MIDDLE - CAP}" y2="{MIDDLE + CAP}"/>'


def _arrow(at: str, way: int) -> str:
    """Where the line goes on beyond the scale, or has no end."""
    tip = 10 * way
    path = f"M{tip - 6 * way} {MIDDLE - CAP}L{tip} {MIDDLE}L{tip - 6 * way} {MIDDLE + CAP}"
    return f'<svg x="{at}"><path class="bar" d="M0 {MIDDLE}H{tip}{path}"/></svg>'


def _ticks(low: float, high: float) -> Iterator[float]:
    """Round numbers between the ends, a few of them."""
    rough = (high - low) / MOST_TICKS
    power = 10 ** floor(log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough)
    for number in range(ceil(low / step), floor(high / step) + 1):
        yield number * step


def _tick(value: float) -> str:
    return f"{round(value, 6):g}".replace("-", "−")


# --- who won against whom ---------------------------------------------------------------------------------


def _matrix_said(matrix: ShareMatrix) -> str:
    met = (
        f"{row} against {column} {100 * share:.0f} %"
        for row, shares in zip(matrix.names, matrix.shares, strict=True)
        for column, share in zip(matrix.names, shares, strict=True)
        if share is not None and row != column
    )
    return "; ".join(met) + "."


def _matrix(matrix: ShareMatrix) -> str:
    head = "".join(f"<span>{at}</span>" for at in range(1, len(matrix.names) + 1))
    rows = "".join(
        f'<div><span class="name"><i>{at}</i> {escape(name)}</span>'
        + "".join(_cell(share, at == column) for column, share in enumerate(shares, 1))
        + "</div>"
        for at, (name, shares) in enumerate(zip(matrix.names, matrix.shares, strict=True), 1)
    )
    return f'<div class="head"><span></span>{head}</div>{rows}'


def _cell(share: float | None, own: bool) -> str:
    if own:
        return '<span class="own"></span>'
    if share is None:
        return '<span class="never">·</span>'
    return f'<span class="s{round(share * 10)}">{100 * share:.0f}</span>'


# --- accuracy by confidence -------------------------------------------------------------------------------


def _curves_said(curves: Curves) -> str:
    return "; ".join(f"{panel.name} {_panel_said(panel)}" for panel in curves.panels) + "."


def _panel_said(panel: CurvePanel) -> str:
    return ", ".join(
        f"{100 * point.confidence:.0f} % sure, {100 * point.accuracy:.0f} % right ({point.count})"
        for point in panel.points
    )


def _curves(curves: Curves) -> str:
    return "".join(_panel(panel) for panel in curves.panels)


def _panel(panel: CurvePanel) -> str:
    most = max((point.count for point in panel.points), default=1)
    points = [(_across(point.confidence), _up(point.accuracy), point.count) for point in panel.points]
    line = " ".join(f"{x},{y}" for x, y, _ in points)
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="{_radius(count / most)}"/>' for x, y, count in points)
    ticks = "".join(
        f'<text x="{_across(share)}" y="{PANEL + 17}" text-anchor="middle">{100 * share:.0f}</text>'
        for share in (0.5, 0.75, 1.0)
    ) + "".join(
        f'<text x="-6" y="{_up(share) + 4}" text-anchor="end">{100 * share:.0f}</text>'
        for share in (0.0, 0.5, 1.0)
    )
    width, height = LEFT + PANEL + 12, TOP + PANEL + BELOW
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f'<g transform="translate({LEFT} {TOP})"><text class="name" x="0" y="-9">{escape(panel.name)}</text>'
        f'<rect class="frame" width="{PANEL}" height="{PANEL}"/>'
        f'<line class="middle" x1="0" y1="{_up(0.5)}" x2="{PANEL}" y2="0"/>'
        f'<polyline class="bar" points="{line}"/>{dots}{ticks}</g></svg>'
    )


def _radius(share: float) -> float:
    return round(SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * sqrt(share), 1)


def _across(confidence: float) -> float:
    return round(PANEL * (confidence - 0.5) * 2, 1)


def _up(accuracy: float) -> float:
    return round(PANEL * (1 - accuracy), 1)
