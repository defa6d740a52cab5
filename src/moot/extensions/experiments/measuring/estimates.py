"""Figures with their intervals, from leaving out one motion at a time (the delete-one jackknife).

All rows about one motion depend on each other: a motion suits some models and one of the sides. So the
motion is the unit: a figure is computed once without each motion, and how far these values spread gives its
variance. Intervals use Student's t with one degree of freedom less than there are motions (or effective
motions, where some have many more rows than others), so that few motions make a wide interval.

Shares, and everything else with a least and a greatest value, have Wilson's interval for the effective number
of observations: it stays within the range, and is never empty, not even at 0 or 100 %.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from msgspec import Struct, structs

from moot.extensions.experiments.measuring.tables import Floats, Integers

LEVEL = 0.95
FEW_MOTIONS = 15
"""With fewer motions, intervals are wide for want of motions, and a note says so."""
LEAST_FREEDOM = 0.9
"""With fewer degrees of freedom there is no interval: two equal motions have 1."""
NOTHING = 1e-12
"""A variance below this is due to rounding."""
SHARE = (0.0, 1.0)
DIFFERENCE = (-1.0, 1.0)
"""Of two shares."""


class Estimate(Struct, frozen=True):
    """A figure with its interval. `low` or `high` is None where the interval has no end on that side; both
    are None where there is too little data for one."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    groups: int
    """How many motions (or passages) it rests on."""

    @property
    def clear(self) -> bool:
        """Whether the interval does not hold zero."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)

    def row(self) -> dict[str, Any]:
        return structs.asdict(self)

    def columns(self, name: str) -> dict[str, float | None]:
        """As three columns of a row: `name`, `name_low` and `name_high`."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}


@lru_cache(maxsize=4096)
def t_quantile(freedom: float, level: float = LEVEL) -> float:
    """Student's t: the middle `level` lies within so many standard errors. Infinite below 0.9 degrees.

    >>> [round(t_quantile(freedom), 2) for freedom in (1, 2, 5, 19, 1e9)]
    [12.71, 4.3, 2.57, 2.09, 1.96]
    """
    if freedom < LEAST_FREEDOM:
        return float("inf")
    freedom = min(freedom, 1e4)
    # With t = sqrt(freedom) tan(angle), the density of the angle is a power of its cosine.
    angles = np.linspace(0.0, np.pi / 2, 20_001)
    density = np.cos(angles) ** (freedom - 1)
    steps = np.cumsum((density[1:] + density[:-1]) / 2)
    share = np.concatenate([[0.0], steps / steps[-1]])
    return float(sqrt(freedom) * np.tan(np.interp(level, share, angles)))


def effective_units(shares: Floats) -> Floats:
    """How many units of equal size would weigh as much, from what each adds to a variance (units by
    figures)."""
    total = shares.sum(axis=0)
    return total**2 / np.maximum((shares**2).sum(axis=0), 1e-300)


def sums_by(codes: Integers, values: Floats, count: int) -> Floats:
    """The sum of each column of `values` (rows by columns) for each code."""
    sums = [np.bincount(codes, column, count).astype(float) for column in values.T]
    return np.stack(sums, axis=1)


def jackknife_estimate(
    name: str,
    unit: Integers,
    columns: Floats,
    figure: Callable[[Floats], Floats],
    *,
    size: Floats,
    within: tuple[float, float],
    most: float = np.inf,
    if_level: float = 0.0,
    level: float = LEVEL,
) -> Estimate:
    """A figure that follows from sums of columns, with its interval.

    `figure` computes it from sums (sets by columns), `unit` is the motion of each row, `size` what each row
    counts, `within` the range of the figure. `most` bounds the effective number of
    observations; `if_level` is the variance where all motions show the same.
    """
    names, codes = np.unique(unit[size > 0], return_inverse=True)
    if not len(names):
        return Estimate(name, None, None, None, 0)
    by_unit = sums_by(codes, columns[size > 0], len(names))
    total = by_unit.sum(axis=0)
    value = float(figure(total[None, :])[0])
    sizes = np.bincount(codes, size[size > 0]).astype(float)
    freedom = float(effective_units(sizes[:, None])[0]) - 1
    if freedom < LEAST_FREEDOM:
        return Estimate(name, value, None, None, len(names))
    without = figure(total - by_unit)
    spread = without[np.isfinite(without)] - value
    variance = float((spread**2).sum()) * (len(names) - 1) / len(names)
    if variance < NOTHING * (within[1] - within[0]) ** 2:
        variance = if_level
    low, high = _bounded_interval(value, variance, freedom, within, most, level)
    return Estimate(name, value, low, high, len(names))


def _bounded_interval(
    value: float, variance: float, freedom: float, within: tuple[float, float], most: float, level: float
) -> tuple[float, float]:
    """Wilson's interval for as many observations as would have this variance. Where there is none, each
    motion counts as one observation."""
    least, width = within[0], within[1] - within[0]
    share = min(1.0, max(0.0, (value - least) / width))
    inherent = share * (1 - share) * width**2
    observations = min(inherent / variance, most) if variance > NOTHING * width**2 else freedom + 1
    if inherent <= 0:
        observations = min(observations, freedom + 1)
    observations = max(observations, 1e-9)
    critical = t_quantile(freedom, level) ** 2 / observations
    middle = share + critical / 2
    reach = sqrt(critical * share * (1 - share) + critical**2 / 4)
    low, high = (middle - reach) / (1 + critical), (middle + reach) / (1 + critical)
    return least + width * max(0.0, low), least + width * min(1.0, high)


def ratio_estimate(name: str, unit: Integers, above: Floats, below: Floats) -> Estimate:
    """The sum of `above` over the sum of `below` as a share, with its interval; no value where `below` is
    0."""
    return jackknife_estimate(
        name, unit, np.stack([above, below], axis=1), _ratio,
        size=below, within=SHARE, most=float((below > 0).sum()),
    )  # fmt: skip


def share_estimate(name: str, unit: Integers, values: Floats) -> Estimate:
    """The mean of values that are 0, 0.5 or 1, with its interval."""
    return ratio_estimate(name, unit, values, np.ones(len(values)))


def mean_estimate(name: str, unit: Integers, values: Floats, within: tuple[float, float] = SHARE) -> Estimate:
    """The mean of values in a range (`DIFFERENCE` for differences of shares), with its interval."""
    ones = np.ones(len(values))
    return jackknife_estimate(
        name, unit, np.stack([values, ones], axis=1), _ratio,
        size=ones, within=within, if_level=float(values.var() / len(values)) if len(values) else 0.0,
    )  # fmt: skip


def _ratio(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[:, 0] / sums[:, 1]
