"""Figures as a reader sees them: shares, amounts, and intervals, in every report alike.

A dash stands where the data shows nothing, `≥` or `≤` where an interval is open on one side.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp

from moot.core.terms import Money
from moot.extensions.experiments.measuring.estimates import Estimate
from moot.views.costs import dollars

NOTHING = "–"
NO_INTERVAL = "no interval"


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.0f} %"


def even_share(log_odds: float) -> float:
    """How often an effect of this size makes a side win against an even opponent."""
    return 1 / (1 + exp(-log_odds))


def number(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"


def cost_text(cost: float | None) -> str:
    """An amount that is not known is never written as zero."""
    return "unknown" if cost is None else dollars(Money(str(cost)))


def interval_text(
    low: float | None, high: float | None, write: Callable[[float], str] = "{:.0f}".format
) -> str:
    """1430 to 1571; ≥ 1430 where it is open above.

    >>> interval_text(0.35, 0.69, percent), interval_text(None, 12)
    ('35 to 69 %', '≤ 12')
    """
    if low is None and high is None:
        return NO_INTERVAL
    if high is None:
        return f"≥ {write(low or 0.0)}"
    if low is None:
        return f"≤ {write(high)}"
    return f"{write(low).removesuffix(' %')} to {write(high)}"


def estimate_text(found: Estimate | None, *, share: bool = False, signed: bool = False) -> str:
    """0.10 (-0.28 to 0.52)"""
    if found is None or found.value is None:
        return NOTHING
    write = _writer(share=share, signed=signed)
    return f"{write(found.value)} ({interval_text(found.low, found.high, write)})"


def points_text(found: Estimate | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    if found is None or found.value is None:
        return NOTHING
    write = "{:+.0f}".format
    low, high = (None if end is None else 100 * end for end in (found.low, found.high))
    return f"{write(100 * found.value)} ({interval_text(low, high, write)})"


def ranks_text(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best} to {worst}"


def _writer(*, share: bool, signed: bool) -> Callable[[float], str]:
    mark = "+" if signed else ""
    if share:
        return lambda value: f"{100 * value:{mark}.0f} %"
    return lambda value: f"{value:{mark}.2f}"
