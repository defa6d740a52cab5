"""Standard errors of fitted parameters, from leaving out one motion (or judge) at a time.

Each motion is left out by one Newton step from the estimate, which is exact for a linear model and known as
the cluster-robust covariance CR3. It assumes nothing about how the decisions within a motion depend on each
other. Degrees of freedom are the effective number of motions less one: a model that took part in three
motions has two, however many motions there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import sqrt
from typing import Literal

import numpy as np
from msgspec import Struct

from moot.extensions.experiments.measuring.estimates import t_quantile
from moot.extensions.experiments.measuring.likelihood import Likelihood
from moot.extensions.experiments.measuring.tables import Floats, Integers


class StandardErrors(Struct, frozen=True, eq=False):
    """Variances with their degrees of freedom: of every parameter, and of the difference of every two
    models."""

    variance: Floats
    freedom: Floats
    pair_variance: Floats
    """Models by models."""
    pair_freedom: Floats

    def reach(self, parameter: int, level: float) -> float:
        """From the estimate to either end of its interval; infinite where there is too little data."""
        return _reach(float(self.variance[parameter]), float(self.freedom[parameter]), level)

    def pair_reach(self, one: int, other: int, level: float) -> float:
        return _reach(float(self.pair_variance[one, other]), float(self.pair_freedom[one, other]), level)


def _reach(variance: float, freedom: float, level: float) -> float:
    # Three digits, so that few quantiles are computed.
    return t_quantile(float(f"{freedom:.3g}"), level) * sqrt(variance)


def leave_one_out(
    units: Iterable[Likelihood], best: Floats, curvature: Floats, models: int
) -> StandardErrors:
    """The errors by `units`, the parts of the likelihood that are left out one by one. `curvature` is that of
    the whole with the prior at the estimate `best`; the first `models` parameters are strengths."""
    inverse = np.linalg.inv(curvature).astype(float)
    count = len(best)
    covariance = np.zeros((count, count))
    # Sums, and sums of squares, of what each unit would add to a variance if its decisions were independent.
    added, squared = np.zeros((2, count)), np.zeros((2, models, models))
    number = 0
    for unit in units:
        gradient, own = unit.derivatives(best)
        moved = np.linalg.solve(curvature - own, gradient).astype(float)
        covariance += np.outer(moved, moved)
        part = inverse @ own @ inverse
        shares, pairs = np.diag(part), _pairs(part, models)
        added += (shares, shares**2)
        squared += (pairs, pairs**2)
        number += 1
    covariance *= (number - 1) / max(number, 1)
    return StandardErrors(
        np.diag(covariance).copy(),
        added[0] ** 2 / np.maximum(added[1], 1e-300) - 1,
        _pairs(covariance, models),
        squared[0] ** 2 / np.maximum(squared[1], 1e-300) - 1,
    )


def standard_errors(
    likelihood: Likelihood,
    parts: Callable[[Integers], Iterable[Likelihood]],
    best: Floats,
    models: int,
    *,
    prior_sd: float,
    motion: Integers,
    judge: Integers,
    over: Literal["motions", "judges"],
) -> StandardErrors:
    """The errors of the estimate `best` over motions, or over judges too. `parts` splits the likelihood by
    codes of its rows, of which `motion` and `judge` are two."""
    curvature = penalised_curvature(likelihood, best, prior_sd)

    def by(unit: Integers) -> StandardErrors:
        return leave_one_out(parts(unit), best, curvature, models)

    if over == "motions":
        return by(motion)
    return over_motions_and_judges(by(motion), by(judge), by(motion * (int(judge.max()) + 1) + judge))


def penalised_curvature(likelihood: Likelihood, best: Floats, prior_sd: float) -> Floats:
    """The curvature of the likelihood with that of the prior."""
    return likelihood.derivatives(best)[1] + np.eye(len(best)) * prior_sd**-2


def _pairs(covariance: Floats, models: int) -> Floats:
    """The variance of the difference of each two models."""
    own = np.diag(covariance)[:models]
    return np.maximum(own[:, None] + own[None, :] - 2 * covariance[:models, :models], 0.0)


def over_motions_and_judges(
    motions: StandardErrors, judges: StandardErrors, both: StandardErrors
) -> StandardErrors:
    """Errors if other motions and other judges were drawn (Cameron, Gelbach and Miller): what motions and
    judges add, less what single decisions add to both. Never less than either alone."""
    variance, freedom = _sum_of_both(
        (motions.variance, motions.freedom), (judges.variance, judges.freedom), both.variance
    )
    pair_variance, pair_freedom = _sum_of_both(
        (motions.pair_variance, motions.pair_freedom),
        (judges.pair_variance, judges.pair_freedom),
        both.pair_variance,
    )
    return StandardErrors(variance, freedom, pair_variance, pair_freedom)


def _sum_of_both(
    motions: tuple[Floats, Floats], judges: tuple[Floats, Floats], common: Floats
) -> tuple[Floats, Floats]:
    """Degrees of freedom are the fewer of the two: five judges show little of what a sixth would do."""
    variance = np.maximum(motions[0] + judges[0] - common, np.maximum(motions[0], judges[0]))
    return variance, np.minimum(motions[1], judges[1])
