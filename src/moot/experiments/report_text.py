"""Figures as a reader sees them: shares, amounts, intervals. A dash stands where the data shows nothing."""

from __future__ import annotations

from moot.experiments.resampling import Estimate


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
