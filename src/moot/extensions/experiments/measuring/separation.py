"""Parameters that the data set no end to: a model that never lost, a side that always won.

The prior alone gives them a finite value, and leaving out motions says nothing about them: without any one
motion they are as clean as before. Their interval is open on that side. Its other end is where the likelihood
has fallen to 2.5 % of its greatest value, with each motion counted as one decision: for motions that one side
always won, that is the exact binomial interval. Where very many ends would have to be searched for, the
binomial interval is taken as it is.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from msgspec import Struct, field

from moot.extensions.experiments.measuring.likelihood import Likelihood, most_likely
from moot.extensions.experiments.measuring.tables import Floats

WEAK_PRIOR = 1e3
ENDLESS = 1e4
"""With a prior so weak, only a parameter without an end has such a variance."""
FARTHEST = 10.0
"""In log-odds, odds of 22,000 to one: no data tells so large an effect from a larger one."""
DOUBLINGS, HALVINGS = 30, 14
SEARCHES = 400_000
"""Ends that are searched for, times rows, times the square of the parameters."""
Ends = tuple[float | None, float | None]


class OpenEnds(Struct, frozen=True):
    """The intervals that are open on one side, in log-odds; None is the open end."""

    parameters: dict[int, Ends] = field(default_factory=dict[int, Ends])
    pairs: dict[tuple[int, int], Ends] = field(default_factory=dict[tuple[int, int], Ends])
    """Of the first model less the second."""


def open_ends(
    likelihood: Likelihood,
    best: Floats,
    *,
    models: int,
    above: Collection[int],
    below: Collection[int],
    per_motion: Floats,
    motions: Floats,
    level: float,
    centred: bool = False,
) -> OpenEnds:
    """Find what has no end. The first `models` parameters are strengths; `above` and `below` are the models
    with no end to theirs. `per_motion`: in how many decisions of a motion each parameter takes part;
    `motions`: in how many motions. Effects that are `centred` are relative to their mean."""
    weak = most_likely(likelihood, prior_sd=WEAK_PRIOR, start=best)
    curvature = likelihood.derivatives(weak)[1] + np.eye(len(weak)) * WEAK_PRIOR**-2
    covariance = np.linalg.inv(curvature).astype(float)
    parameters: dict[int, Ends] = {}
    left = SEARCHES // (max(100, likelihood.rows) * len(best) ** 2)

    def other_end(contrast: Floats, *at: int) -> float:
        nonlocal left
        left -= 1
        if left >= 0:
            return _other_end(likelihood, weak, contrast, float(per_motion[list(at)].max()), level)
        share = ((1 - level) / 2) ** (1 / max(1.0, float(motions[list(at)].min())))
        return float(np.copysign(np.log(share / (1 - share)), contrast @ weak))

    for model in (*above, *below):
        others = set(range(models)) - {model}
        contrast, base = _to_the_rest(best, model, sorted(others - {*above, *below} or others))
        end = other_end(contrast, model) + base
        end -= (end - float(best[model])) / models  # the mean of all models moves with it
        end = min(end, float(best[model])) if model in above else max(end, float(best[model]))
        parameters[model] = (end, None) if model in above else (None, end)
    for at in range(models, len(best)):
        contrast = np.eye(len(best))[at]
        if centred:
            contrast[models:] -= 1 / (len(best) - models)
        if contrast @ covariance @ contrast > ENDLESS:
            parameters[at] = _open_beyond(other_end(contrast, at), above=bool(contrast @ weak > 0))
    own = np.diag(covariance)[:models]
    endless = own[:, None] + own[None, :] - 2 * covariance[:models, :models] > ENDLESS
    pairs: dict[tuple[int, int], Ends] = {}
    for one, other in np.argwhere(endless & (weak[:models, None] > weak[None, :models])).tolist():
        contrast = np.zeros(len(best))
        contrast[one], contrast[other] = 1.0, -1.0
        end = other_end(contrast, one, other)
        pairs[one, other] = (end, None)
        pairs[other, one] = (None, -end)
    return OpenEnds(parameters, pairs)


def _open_beyond(end: float, *, above: bool) -> Ends:
    """The interval of an effect with no end; if its other end is as far away, nothing is known of it."""
    if abs(end) > FARTHEST:
        return None, None
    return (end, None) if above else (None, end)


def _to_the_rest(best: Floats, model: int, rest: list[int]) -> tuple[Floats, float]:
    """The strength of a model less the mean of others, and that mean."""
    contrast = np.zeros(len(best))
    contrast[rest] = -1 / len(rest)
    contrast[model] = 1.0
    return contrast, float(best[rest].mean())


def _other_end(
    likelihood: Likelihood, weak: Floats, contrast: Floats, per_motion: float, level: float
) -> float:
    """The finite end of a contrast: it is pushed back until the likelihood has fallen far enough."""
    back = -contrast if contrast @ weak > 0 else contrast
    greatest = likelihood.logarithm(weak)
    wanted = -float(np.log((1 - level) / 2)) * max(1.0, per_motion)

    def pushed(force: float, start: Floats) -> tuple[Floats, bool]:
        at = most_likely(likelihood, prior_sd=WEAK_PRIOR, start=start, push=force * back)
        return at, greatest - likelihood.logarithm(at) > wanted

    low, high, near = 0.0, 0.01 * max(1.0, per_motion), weak
    for _ in range(DOUBLINGS):
        at, far = pushed(high, near)
        if far:
            break
        low, high, near = high, 2 * high, at
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        at, far = pushed(middle, near)
        low, high, near = (low, middle, near) if far else (middle, high, at)
    return float(contrast @ near)
