"""The Bradley-Terry fit: many weighted fits at once, by Newton's method in numpy.

The log-odds that `first` wins are its strength less that of `second`, plus covariates times their effects. A
tie counts as half a win for both (`half`), or has its own parameter (Davidson). Strengths and effects have a
normal prior with mean 0, so that a model that never lost has a finite strength and strengths sum to 0.
Rows with the same models and covariates are one *cell*; a fit needs only the sums of each cell, so a
thousand resamples are fitted together as arrays of resamples by cells.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from msgspec import Struct

from moot.experiments.tables import Floats, Integers

MAX_STEPS = 50
LARGEST_STEP = 2.0
TOLERANCE = 1e-3
"""A step so small is the last: the next one would be about its square."""
SOLVER_STEPS = 40
ELEMENTS_AT_ONCE = 4_000_000
"""Resamples are fitted in portions of about this many array elements."""


class Cells(Struct, frozen=True, eq=False):
    """What is known of each cell before any decision: the two models, and the covariates. Cells are sorted by
    the first model, then by the second."""

    models: int
    first: Integers
    second: Integers
    covariates: Floats
    """Cells by covariates."""

    @property
    def parameters(self) -> int:
        return self.models + self.covariates.shape[1]

    def design(self) -> Floats:
        """Cells by parameters: 1 for the first model, -1 for the second, then the covariates."""
        matrix = np.zeros((len(self.first), self.models))
        rows = np.arange(len(self.first))
        np.add.at(matrix, (rows, self.first), 1.0)
        np.add.at(matrix, (rows, self.second), -1.0)
        return np.concatenate([matrix, self.covariates], axis=1)


class CellSums(Struct, frozen=True, eq=False):
    """The decisions in each cell, for each of several resamples: arrays of resamples by cells."""

    weight: Floats
    score: Floats
    """The sum of the scores of `first`: 1 for a win, half for a tie."""
    ties: Floats

    def part(self, start: int, stop: int) -> CellSums:
        return CellSums(self.weight[start:stop], self.score[start:stop], self.ties[start:stop])


def fit(
    cells: Cells, sums: CellSums, *, prior_sd: float, davidson: bool = False, start: Floats | None = None
) -> Floats:
    """The most likely parameters of each resample: strengths, effects of covariates, and with Davidson the
    logarithm of the tie parameter. `start` are the parameters to begin with."""
    count = cells.parameters + davidson
    begin = np.zeros(count) if start is None else start
    portion = max(1, ELEMENTS_AT_ONCE // max(1, len(cells.first)))
    layout = _Layout(cells)
    fits = [
        _newton(sums.part(at, at + portion), begin, prior_sd, davidson, layout)
        for at in range(0, len(sums.weight), portion)
    ]
    return np.concatenate(fits) if fits else np.zeros((0, count))


class _Layout:
    """How cells belong to pairs of models, so that sums over cells are made once for each pair."""

    def __init__(self, cells: Cells) -> None:
        self.models, self.covariates = cells.models, cells.covariates
        codes = cells.first * cells.models + cells.second
        self.pairs, self.starts, self.sizes = np.unique(codes, return_index=True, return_counts=True)
        self.one_each = len(self.pairs) == len(codes)
        first, second = self.pairs // cells.models, self.pairs % cells.models
        self.design = Cells(cells.models, first, second, np.zeros((len(first), 0))).design()
        low, high = np.minimum(first, second), np.maximum(first, second)
        self.by_match = np.argsort(low * cells.models + high, kind="stable")
        matches, self.match_starts = np.unique((low * cells.models + high)[self.by_match], return_index=True)
        self.low, self.high = matches // cells.models, matches % cells.models

    def odds(self, parameters: Floats) -> Floats:
        """The log-odds of each cell: resamples by cells."""
        gaps = parameters[:, : self.models] @ self.design.T
        if not self.one_each:
            gaps = np.repeat(gaps, self.sizes, axis=1)
        effects = parameters[:, self.models : self.models + self.covariates.shape[1]]
        return gaps + effects @ self.covariates.T if effects.size else gaps

    def by_parameter(self, values: Floats) -> Floats:
        """The sum over the cells of value times design: resamples by parameters."""
        return np.concatenate([self._by_pair(values) @ self.design, values @ self.covariates], axis=1)

    def curvature(self, values: Floats) -> Floats:
        """For each resample, the sum over the cells of value times design times design."""
        models, total = self.models, self.models + self.covariates.shape[1]
        result = np.zeros((len(values), total, total))
        by_pair = self._by_pair(values)
        by_match = np.add.reduceat(by_pair[:, self.by_match], self.match_starts, axis=1)
        result[:, self.low, self.high] = -by_match
        result[:, self.high, self.low] = -by_match
        diagonal = np.arange(models)
        result[:, diagonal, diagonal] = by_pair @ np.abs(self.design)
        for number in range(total - models):
            weighted = self.by_parameter(values * self.covariates[:, number])
            result[:, models + number, :] = weighted
            result[:, :, models + number] = weighted
        return result

    def _by_pair(self, values: Floats) -> Floats:
        return values if self.one_each else np.add.reduceat(values, self.starts, axis=1)


def _newton(sums: CellSums, start: Floats, prior_sd: float, davidson: bool, layout: _Layout) -> Floats:
    precision = 1.0 / prior_sd**2
    parameters = np.tile(start, (len(sums.weight), 1))
    identity = np.eye(parameters.shape[1]) * precision
    for _ in range(MAX_STEPS):
        gradient, matrix = (_davidson if davidson else _half)(sums, parameters, layout)
        step = solve_alike(matrix + identity, gradient - precision * parameters)
        largest = np.abs(step).max(axis=1, keepdims=True)
        parameters = parameters + step * np.minimum(1.0, LARGEST_STEP / np.maximum(largest, 1e-300))
        if largest.max() < TOLERANCE:
            break
    return parameters


def solve_alike(matrices: Floats, right: Floats) -> Floats:
    """Solve many systems whose matrices resemble each other.

    Conjugate gradients, preconditioned by the inverse of the mean matrix, need a few products each.
    `np.linalg.solve` takes one matrix after the other, and on a busy machine its threads wait for each other
    each time: ten seconds for a thousand matrices of a hundred models. It solves what does not converge.
    """
    if len(matrices) < 2:
        return cast("Floats", np.linalg.solve(matrices, right[..., None])[..., 0])
    inverse = cast("Floats", np.linalg.inv(matrices.mean(axis=0)))
    enough = 1e-10 * np.maximum((right**2).sum(axis=1), 1e-30)
    solution = np.zeros_like(right)
    rest, direction = right, right @ inverse
    size = (rest * direction).sum(axis=1)
    for _ in range(SOLVER_STEPS):
        image = cast("Floats", np.einsum("bij,bj->bi", matrices, direction))
        along = (direction * image).sum(axis=1)
        factor = (size / np.maximum(along, 1e-300))[:, None]
        solution = solution + factor * direction
        rest = rest - factor * image
        if ((rest**2).sum(axis=1) <= enough).all():
            return solution
        ahead = rest @ inverse
        last, size = size, (rest * ahead).sum(axis=1)
        direction = ahead + (size / np.maximum(last, 1e-300))[:, None] * direction
    left = (rest**2).sum(axis=1) > enough
    solution[left] = np.linalg.solve(matrices[left], right[left][..., None])[..., 0]
    return solution


def _half(sums: CellSums, parameters: Floats, layout: _Layout) -> tuple[Floats, Floats]:
    expected = 1.0 / (1.0 + np.exp(-layout.odds(parameters)))
    gradient = layout.by_parameter(sums.score - sums.weight * expected)
    return gradient, layout.curvature(sums.weight * expected * (1.0 - expected))


def _davidson(sums: CellSums, parameters: Floats, layout: _Layout) -> tuple[Floats, Floats]:
    count = parameters.shape[1] - 1
    odds = layout.odds(parameters)
    tie = np.exp(parameters[:, count:])
    win, loss = np.exp(odds / 2), np.exp(-odds / 2)
    total = win + loss + tie
    win, loss, tied = win / total, loss / total, tie / total
    lead = (win - loss) / 2
    gradient = np.concatenate(
        [
            layout.by_parameter(sums.score - sums.weight / 2 - sums.weight * lead),
            (sums.ties - sums.weight * tied).sum(axis=1, keepdims=True),
        ],
        axis=1,
    )
    matrix = np.zeros((len(parameters), count + 1, count + 1))
    matrix[:, :count, :count] = layout.curvature(sums.weight * ((win + loss) / 4 - lead**2))
    cross = layout.by_parameter(-sums.weight * tied * lead)
    matrix[:, :count, count] = matrix[:, count, :count] = cross
    matrix[:, count, count] = (sums.weight * tied * (1 - tied)).sum(axis=1)
    return gradient, matrix
