"""The group bootstrap: whole groups are drawn with replacement, never single rows.

The rows of a group (two debates with the sides swapped, each judged by several judges) depend on each other;
drawing them one by one would make every interval too narrow. A figure is computed once for each resample, and
its interval holds the middle 95 % (`level`) of these values.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from msgspec import Struct, structs

from moot.experiments.tables import Floats, Integers

BOOTSTRAPS = 1000
LEVEL = 0.95
LEAST_FREEDOM = 0.9
"""With fewer degrees of freedom there is no interval: two equal motions have 1."""
FEW_GROUPS = 20
"""With fewer groups, an interval is too narrow to be relied on."""


class Estimate(Struct, frozen=True):
    """A figure with its interval. `low` and `high` are None where there is too little data for one."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    groups: int
    """How many groups it rests on."""

    @property
    def clear(self) -> bool:
        """Whether the interval does not hold zero."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    def row(self) -> dict[str, Any]:
        return structs.asdict(self)


def group_draws(groups: int, bootstraps: int, seed: int) -> Iterator[Integers]:
    """Yield, for each resample, how often each group was drawn."""
    random = np.random.default_rng(seed)
    for _ in range(bootstraps):
        yield np.bincount(random.integers(0, groups, groups, dtype=np.int32), minlength=groups)


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


def sums_by(codes: Integers, values: Floats, count: int) -> Floats:
    """The sum of each column of `values` (rows by columns) for each code."""
    sums = [np.bincount(codes, column, count).astype(float) for column in values.T]
    return np.stack(sums, axis=1)


def resampled_sums(group: Integers, values: Floats, bootstraps: int, seed: int) -> Floats:
    """The sums of the columns of `values` in each resample of the groups: bootstraps by columns."""
    names, codes = np.unique(group, return_inverse=True)
    by_group = sums_by(codes, values, len(names))
    draws = group_draws(len(names), bootstraps, seed)
    return (
        np.stack([drawn.astype(float) @ by_group for drawn in draws])
        if len(names)
        else np.zeros((0, values.shape[1]))
    )


def bounds(samples: Floats, level: float = LEVEL) -> tuple[float, float] | tuple[None, None]:
    """The middle `level` of the samples; (None, None) where there are fewer than ten."""
    finite = samples[np.isfinite(samples)]
    if len(finite) < 10:
        return None, None
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def ratio_estimate(
    name: str,
    group: Integers,
    above: Floats,
    below: Floats,
    *,
    bootstraps: int,
    seed: int,
    level: float = LEVEL,
) -> Estimate:
    """The sum of `above` over the sum of `below`, with its interval; no value where `below` is 0."""
    groups = len(np.unique(group[below != 0]))
    total = float(below.sum())
    if not total:
        return Estimate(name, None, None, None, 0)
    value = float(above.sum()) / total
    if groups < 2:
        return Estimate(name, value, None, None, groups)
    sums = resampled_sums(group, np.stack([above, below], axis=1), bootstraps, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = bounds(sums[:, 0] / sums[:, 1], level)
    return Estimate(name, value, low, high, groups)


def mean_estimate(name: str, group: Integers, values: Floats, *, bootstraps: int, seed: int) -> Estimate:
    """The mean of `values`, with its interval."""
    return ratio_estimate(name, group, values, np.ones(len(values)), bootstraps=bootstraps, seed=seed)
