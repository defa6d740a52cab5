"""From strengths and their resamples to a leaderboard: ratings, intervals, rank ranges, differences.

Two models are *separable* if the interval of their difference does not hold zero. The best rank of a model is
one more than the number of models that are separable and better; the worst follows from those below it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from msgspec import Struct

from moot.experiments.resampling import bounds
from moot.experiments.tables import Floats, Integers

SCALE = 400.0 / np.log(10.0)
"""Points of rating for one unit of log-odds, as in chess: 400 points are odds of ten to one."""
MEAN_RATING = 1500.0


class ModelRating(Struct, frozen=True, kw_only=True):
    """One line of the leaderboard."""

    model: str
    rank: int
    best_rank: int
    worst_rank: int
    """Its rank lies in this range: only models that are separable from it are counted as better or worse."""
    rating: float
    low: float | None
    high: float | None
    """None: the interval is open on this side, or there is too little data for one."""
    strength: float
    """The rating in log-odds; the mean of all models is 0."""
    win_share: float
    """As it was held: of the decided judgments, ties as halves. It depends on the opponents."""
    expected_share: float
    """Against every other model of the list once, without the advantage of a side."""
    debates: int
    groups: int


class Difference(Struct, frozen=True, kw_only=True):
    """How much better one model is than another, in points of rating."""

    better: str
    worse: str
    difference: float
    low: float
    high: float
    separable: bool
    """Whether the interval does not hold zero."""


class Standing(Struct, frozen=True, eq=False):
    """What was counted of each model."""

    models: tuple[str, ...]
    win_share: Floats
    debates: Integers
    groups: Integers


def leaderboard(
    standing: Standing,
    best: Floats,
    samples: Floats,
    above: Collection[int],
    below: Collection[int],
    level: float,
) -> tuple[tuple[ModelRating, ...], tuple[Difference, ...]]:
    """The lines, best first, and the differences between all pairs. `best` and `samples` begin with the
    strengths; `above` and `below` are models whose interval has no upper or lower end."""
    names = standing.models
    count = len(names)
    strengths, drawn = best[:count], samples[:, :count]
    order: list[int] = np.argsort(-strengths, kind="stable").tolist()
    differences = _differences(names, strengths, drawn, order, level)
    better, worse = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for one in differences:
        better[one.worse] += one.separable
        worse[one.better] += one.separable
    lines: list[ModelRating] = []
    for rank, model in enumerate(order, 1):
        low, high = bounds(drawn[:, model], level)
        expected = 1 / (1 + np.exp(np.delete(strengths, model) - strengths[model]))
        name = names[model]
        lines.append(
            ModelRating(
                model=name,
                rank=rank,
                best_rank=1 + better[name],
                worst_rank=count - worse[name],
                rating=points_of(float(strengths[model])),
                low=None if low is None or model in below else points_of(low),
                high=None if high is None or model in above else points_of(high),
                strength=float(strengths[model]),
                win_share=float(standing.win_share[model]),
                expected_share=float(expected.mean()) if count > 1 else 0.5,
                debates=int(standing.debates[model]),
                groups=int(standing.groups[model]),
            )
        )
    return tuple(lines), differences


def points_of(strength: float) -> float:
    return float(MEAN_RATING + SCALE * strength)


def _differences(
    names: Sequence[str], strengths: Floats, drawn: Floats, order: Sequence[int], level: float
) -> tuple[Difference, ...]:
    """Of each model to each below it. Without resamples nothing is separable, and the list is empty."""
    if len(drawn) < 10:
        return ()
    result: list[Difference] = []
    for place, one in enumerate(order[:-1]):
        others = list(order[place + 1 :])
        gaps = drawn[:, [one]] - drawn[:, others]
        lows, highs = np.quantile(gaps, [(1 - level) / 2, (1 + level) / 2], axis=0)
        for other, low, high in zip(others, lows.tolist(), highs.tolist(), strict=True):
            result.append(
                Difference(
                    better=names[one],
                    worse=names[other],
                    difference=float(SCALE * (strengths[one] - strengths[other])),
                    low=float(SCALE * low),
                    high=float(SCALE * high),
                    separable=not low <= 0 <= high,
                )
            )
    return tuple(result)
