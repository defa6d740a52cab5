"""Figures as a reader sees them: shares, amounts, intervals, and tables of them in Markdown.

A dash stands where the data shows nothing. Motions, names and sentences about them are escaped in Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from moot.experiments.resampling import Estimate
from moot.views.transcript_markdown import escape_one

_FIGURES = re.compile(r"[-–+$\d.,:%() ]*(?:(?:to|of|open|tied|e|≥|≤)[-–+$\d.,:%() ]*)*")


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


def interval_text(
    low: float | None, high: float | None, write: Callable[[float], str] = "{:.0f}".format
) -> str:
    """An interval as it is written everywhere: `12 to 34`; `≥ 12` or `≤ 34` where the data sets it no end on
    the other side."""
    if low is None and high is None:
        return "too little data"
    if high is None:
        return f"≥ {write(low or 0.0)}"
    return f"≤ {write(high)}" if low is None else f"{write(low)} to {write(high)}"


def estimate_text(
    found: Estimate | None, *, share: bool = False, write: Callable[[float], str] | None = None
) -> str:
    """A figure with its interval; `write` writes a number, as a share or with two digits by default."""
    if found is None or found.value is None:
        return "–"
    write = write or (percent if share else "{:.2f}".format)
    if found.low is None and found.high is None:
        return write(found.value)
    return f"{write(found.value)} ({interval_text(found.low, found.high, write)})"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of texts and figures, in which no cell is markup."""
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {escape_one(sentence)}" for sentence in sentences)


def _cell(value: object) -> str:
    """Figures have no markup: they stand as they are."""
    text = str(value)
    return text if _FIGURES.fullmatch(text) else escape_one(text)
