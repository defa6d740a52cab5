"""How far figures from a few debates can be trusted: 95 % intervals, in place of bare percentages. Pure."""

from __future__ import annotations

from math import sqrt

from msgspec import Struct

Z = 1.96
"""Of the normal distribution, 95 % lie within so many deviations."""


class RateInterval(Struct, frozen=True):
    """From 0 to 1."""

    low: float
    high: float


def ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def wilson_interval(part: int, whole: int) -> RateInterval | None:
    """Wilson's score interval of a share: honest also for a few, and for none or all of them."""
    if not whole:
        return None
    rate = part / whole
    middle = rate + Z * Z / (2 * whole)
    reach = Z * sqrt(rate * (1 - rate) / whole + Z * Z / (4 * whole * whole))
    scale = 1 + Z * Z / whole
    return _within((middle - reach) / scale, (middle + reach) / scale)


def mean_interval(total: float, squares: float, count: int) -> RateInterval | None:
    """Of the mean of `count` shares, with their sum and that of their squares. One alone tells nothing."""
    if count < 2:
        return None
    mean = total / count
    spread = sqrt(max(0.0, (squares - count * mean * mean) / (count - 1)))
    return _within(mean - Z * spread / sqrt(count), mean + Z * spread / sqrt(count))


def _within(low: float, high: float) -> RateInterval:
    return RateInterval(round(max(0.0, low), 3), round(min(1.0, high), 3))
