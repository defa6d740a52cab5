"""From strengths and their standard errors to a leaderboard: ratings, intervals, rank ranges, differences.

Two models are *separable* if the interval of their difference does not hold zero. The best rank of a model is
one more than the number of models that are separable and better; the worst follows from those below it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from moot.extensions.experiments.measuring.estimates import Estimate
from moot.extensions.experiments.measuring.motion_jackknife import StandardErrors
from moot.extensions.experiments.measuring.separation import Ends, OpenEnds
from moot.extensions.experiments.measuring.tables import Floats, Integers

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
    motions: int = 0


class Difference(Struct, frozen=True, kw_only=True):
    """How much better one model is than another, in points of rating."""

    better: str
    worse: str
    difference: float
    low: float | None
    high: float | None
    """None: open on this side, or both: there is too little data for an interval."""
    separable: bool
    """Whether the interval does not hold zero."""


class Standing(Struct, frozen=True, eq=False):
    """What was counted of each model."""

    models: tuple[str, ...]
    win_share: Floats
    debates: Integers
    groups: Integers
    motions: Integers


def leaderboard(
    standing: Standing, best: Floats, errors: StandardErrors | None, ends: OpenEnds, level: float
) -> tuple[tuple[ModelRating, ...], tuple[Difference, ...]]:
    """The lines, best first, and the differences between all pairs. `best` begins with the strengths; without
    errors there are no intervals, and no differences."""
    names = standing.models
    count = len(names)
    strengths = best[:count]
    order: list[int] = np.argsort(-strengths, kind="stable").tolist()
    differences = _differences(names, strengths, errors, ends, order, level) if errors else ()
    better, worse = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for one in differences:
        better[one.worse] += one.separable
        worse[one.better] += one.separable
    lines: list[ModelRating] = []
    for rank, model in enumerate(order, 1):
        low, high = _parameter_interval(best, model, errors, ends, level)
        expected = 1 / (1 + np.exp(np.delete(strengths, model) - strengths[model]))
        name = names[model]
        lines.append(
            ModelRating(
                model=name,
                rank=rank,
                best_rank=1 + better[name],
                worst_rank=count - worse[name],
                rating=points_of(float(strengths[model])),
                low=None if low is None else points_of(low),
                high=None if high is None else points_of(high),
                strength=float(strengths[model]),
                win_share=float(standing.win_share[model]),
                expected_share=float(expected.mean()) if count > 1 else 0.5,
                debates=int(standing.debates[model]),
                groups=int(standing.groups[model]),
                motions=int(standing.motions[model]),
            )
        )
    return tuple(lines), differences


def points_of(strength: float) -> float:
    return float(MEAN_RATING + SCALE * strength)


def effects_of(
    names: Sequence[str],
    best: Floats,
    errors: StandardErrors | None,
    ends: OpenEnds,
    level: float,
    motions: int,
) -> tuple[Estimate, ...]:
    """The last parameters, which have these names, with their intervals in log-odds."""
    return tuple(
        Estimate(name, float(best[at]), *_parameter_interval(best, at, errors, ends, level), motions)
        for at, name in enumerate(names, len(best) - len(names))
    )


def _parameter_interval(
    best: Floats, at: int, errors: StandardErrors | None, ends: OpenEnds, level: float
) -> Ends:
    """The interval of a parameter in log-odds."""
    if errors is None:
        return None, None
    return _interval(float(best[at]), errors.reach(at, level), ends.parameters.get(at))


def _interval(value: float, reach: float, ends: Ends | None) -> Ends:
    if not np.isfinite(reach):
        return None, None
    return ends or (value - reach, value + reach)


def _differences(
    names: Sequence[str],
    strengths: Floats,
    errors: StandardErrors,
    ends: OpenEnds,
    order: Sequence[int],
    level: float,
) -> tuple[Difference, ...]:
    """Of each model to each below it."""
    result: list[Difference] = []
    for place, one in enumerate(order[:-1]):
        for other in order[place + 1 :]:
            gap = float(strengths[one] - strengths[other])
            reach = errors.pair_reach(one, other, level)
            low, high = _interval(gap, reach, ends.pairs.get((one, other)))
            result.append(
                Difference(
                    better=names[one],
                    worse=names[other],
                    difference=float(SCALE * gap),
                    low=None if low is None else float(SCALE * low),
                    high=None if high is None else float(SCALE * high),
                    separable=(low is not None and low > 0) or (high is not None and high < 0),
                )
            )
    return tuple(result)
