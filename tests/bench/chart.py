"""The picture of the main figures: a bar for each, its limit and its goal, as SVG without any library.

A figure with a limit is drawn in multiples of that limit; one that has only an absolute goal, in multiples of
the goal. Colours follow the reader's light or dark theme by CSS; whether a goal is met is also said in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tests.bench.figures import Figure, goal_text, quantity, short

WIDTH = 980
LABELS = 420
"""Width of the column with names."""
SCALE = 300
"""Pixels of the longest bar."""
LONGEST = 4.0
"""Multiples at which a bar is cut off, with a gap before its end; its number says how long it would be."""
ROW = 40
TOP = 84
STYLE = """
  .page { fill: #ffffff } text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 18px; font-weight: 600 } .small { font-size: 12px; fill: #59636e }
  .met { fill: #1a7f37 } .missed { fill: #bc4c00 } .plain { fill: #57606a }
  .one { stroke: #59636e; stroke-dasharray: 4 3 } .goal { stroke: #1f2328; stroke-width: 3 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .small { fill: #9198a1 }
    .met { fill: #3fb950 } .missed { fill: #f0883e } .plain { fill: #8b949e }
    .one { stroke: #9198a1 } .goal { stroke: #e6edf3 }
  }
"""
CLASSES = {True: "met", False: "missed", None: "plain"}
VERDICTS = {True: "goal met", False: "goal not met", None: ""}


def svg(figures: Sequence[Figure], caption: str) -> str:
    """One row for each figure, in the given order."""
    drawable = [figure for figure in figures if multiple(figure) is not None]
    height = TOP + ROW * len(drawable) + 24
    rows = [_row(figure, TOP + ROW * number) for number, figure in enumerate(drawable)]
    one = LABELS + SCALE / LONGEST
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
            ' aria-labelledby="title">',
            '<title id="title">Main figures beside their limits and goals</title>',
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}"/>',
            '<text class="title" x="16" y="30">Main figures beside their limits and goals</text>',
            f'<text class="small" x="16" y="50">{escape(caption)}</text>',
            f'<line class="one" x1="{one:g}" x2="{one:g}" y1="{TOP - 8}" y2="{height - 16}"/>',
            f'<text class="small" x="{one:g}" y="{TOP - 14}" text-anchor="middle">1 × limit or goal</text>',
            f'<text class="small" x="{LABELS + SCALE + 12}" y="{TOP - 14}">upright mark: goal</text>',
            *rows,
            "</svg>",
            "",
        ]
    )


def multiple(figure: Figure) -> float | None:
    """The length of the bar: of the limit, else of an absolute goal; None if the figure has neither."""
    if figure.ratio is not None:
        return figure.ratio
    if figure.goal and figure.goal_for == "value":
        return figure.value / figure.goal
    return None


def _row(figure: Figure, top: float) -> str:
    length = multiple(figure) or 0.0
    width = max(2.0, min(length, LONGEST) / LONGEST * SCALE)
    lines = [
        f'<text x="16" y="{top + 14:g}">{escape(_shortened(figure.name))}</text>',
        f'<text class="small" x="16" y="{top + 30:g}">{escape(_limit_text(figure))}</text>',
        f'<rect class="{CLASSES[figure.met]}" x="{LABELS}" y="{top + 6:g}" width="{width:.1f}" height="16"'
        ' rx="2"/>',
        f'<text x="{LABELS + SCALE + 12}" y="{top + 14:g}">{escape(_value_text(figure, length))}</text>',
        f'<text class="small" x="{LABELS + SCALE + 12}" y="{top + 30:g}">{escape(_goal_text(figure))}</text>',
    ]
    if length > LONGEST:
        end, middle = LABELS + SCALE, top + 14
        lines.insert(3, f'<path class="page" d="M{end - 12} {middle + 8:g}l6 -16h4l-6 16z"/>')
    goal = _goal_multiple(figure)
    if goal is not None and goal <= LONGEST:
        x = LABELS + goal / LONGEST * SCALE
        lines.insert(3, f'<line class="goal" x1="{x:.1f}" x2="{x:.1f}" y1="{top + 2:g}" y2="{top + 26:g}"/>')
    return "\n".join(lines)


def _goal_multiple(figure: Figure) -> float | None:
    """Where the mark of the goal is."""
    if figure.goal is None or figure.goal_for == "ratio":
        return figure.goal
    return figure.goal / figure.limit if figure.limit else 1.0


def _limit_text(figure: Figure) -> str:
    if figure.limit is None:
        return "no limit, only a goal"
    better = "" if figure.better == "lower" else "; more is better"
    return f"limit: {figure.limit_name}, {quantity(figure.limit, figure.unit)}{better}"


def _value_text(figure: Figure, length: float) -> str:
    value = quantity(figure.value, figure.unit)
    return f"{value}, {short(length)} × limit" if figure.ratio is not None else value


def _goal_text(figure: Figure) -> str:
    return f"{VERDICTS[figure.met]}: {goal_text(figure)}" if figure.met is not None else "no goal"


def _shortened(name: str, longest: int = 58) -> str:
    return name if len(name) <= longest else name[: longest - 1].rstrip() + "…"
