"""Figures as a reader sees them: shares, amounts, intervals, and tables of them in Markdown.

A dash stands where the data shows nothing. Motions, names and sentences about them are escaped in Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from moot.core.terms import Money
from moot.experiments.resampling import Estimate
from moot.views.costs import dollars
from moot.views.transcript_markdown import escape_one

_FIGURES = re.compile(r"[-–+$\d.,:%() ]*(?:(?:to|of|open|tied|e)[-–+$\d.,:%() ]*)*")


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"


def cost_text(cost: float | None) -> str:
    return dollars(None if cost is None else Money(str(cost)))


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
