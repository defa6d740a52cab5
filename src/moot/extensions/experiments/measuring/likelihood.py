"""The most likely parameters of a model of decisions, by Newton's method with a small normal prior.

Bradley-Terry (two sides) and Plackett-Luce (three and more teams) are such models. The prior has the mean 0,
so that a model that never lost has a finite strength, and strengths sum to 0.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from moot.extensions.experiments.measuring.tables import Floats

MAX_STEPS = 60
LARGEST_STEP = 2.0
TOLERANCE = 1e-6


class Likelihood(Protocol):
    @property
    def parameters(self) -> int: ...

    @property
    def rows(self) -> int: ...

    def derivatives(self, at: Floats) -> tuple[Floats, Floats]:
        """The gradient of the log-likelihood, and its curvature (minus the second derivatives)."""
        ...

    def logarithm(self, at: Floats) -> float: ...


def most_likely(
    likelihood: Likelihood, *, prior_sd: float, start: Floats | None = None, push: Floats | None = None
) -> Floats:
    """The parameters at which likelihood and prior are largest. `push` is added to the gradient: it moves the
    result in its direction, to where that costs as much likelihood as it pushes."""
    precision = prior_sd**-2
    parameters = np.zeros(likelihood.parameters) if start is None else start.copy()
    for _ in range(MAX_STEPS):
        gradient, curvature = likelihood.derivatives(parameters)
        gradient = gradient - precision * parameters + (0.0 if push is None else push)
        step = np.linalg.solve(curvature + precision * np.eye(len(parameters)), gradient).astype(float)
        largest = float(np.abs(step).max(initial=0.0))
        parameters += step * min(1.0, LARGEST_STEP / max(largest, 1e-300))
        if largest < TOLERANCE:
            break
    return parameters
