"""The Bradley-Terry model of decisions between two sides, with covariates and ties.

The log-odds that `first` wins are its strength less that of `second`, plus covariates times their effects. A
tie counts as half a win for both, or has its own parameter (Davidson). Decisions with the same models and
covariates are counted together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from moot.extensions.experiments.measuring.tables import Floats, Integers

ROWS_AT_ONCE = 20_000
"""The design is written out for so many rows at a time."""


class Decisions(Struct, frozen=True, eq=False):
    """Counted decisions. A `Likelihood`: parameters are strengths, effects of covariates, and with Davidson
    the logarithm of the tie parameter."""

    models: int
    first: Integers
    second: Integers
    covariates: Floats
    """Rows by covariates."""
    weight: Floats
    score: Floats
    """The sum of the scores of `first`: 1 for a win, half for a tie."""
    ties: Floats
    davidson: bool = False

    @property
    def parameters(self) -> int:
        return self.models + self.covariates.shape[1] + self.davidson

    @property
    def rows(self) -> int:
        return len(self.first)

    def design(self) -> Floats:
        """Rows by parameters: 1 for the first model, -1 for the second, then the covariates."""
        matrix = np.zeros((len(self.first), self.models))
        rows = np.arange(len(self.first))
        np.add.at(matrix, (rows, self.first), 1.0)
        np.add.at(matrix, (rows, self.second), -1.0)
        return np.concatenate([matrix, self.covariates], axis=1)

    def part(self, rows: slice) -> Decisions:
        return Decisions(
            self.models, self.first[rows], self.second[rows], self.covariates[rows], self.weight[rows],
            self.score[rows], self.ties[rows], self.davidson,
        )  # fmt: skip

    def derivatives(self, at: Floats) -> tuple[Floats, Floats]:
        gradient, curvature = np.zeros(self.parameters), np.zeros((self.parameters, self.parameters))
        for part in self._portions():
            more = part.davidson_derivatives(at) if self.davidson else part.plain_derivatives(at)
            gradient += more[0]
            curvature += more[1]
        return gradient, curvature

    def _portions(self) -> Iterator[Decisions]:
        if len(self.first) <= ROWS_AT_ONCE:
            yield self
            return
        for start in range(0, len(self.first), ROWS_AT_ONCE):
            yield self.part(slice(start, start + ROWS_AT_ONCE))

    def plain_derivatives(self, at: Floats) -> tuple[Floats, Floats]:
        design = self.design()
        expected = 0.5 + 0.5 * np.tanh(self._odds(at) / 2)
        gradient = (self.score - self.weight * expected) @ design
        return gradient, (design.T * (self.weight * expected * (1.0 - expected))) @ design

    def davidson_derivatives(self, at: Floats) -> tuple[Floats, Floats]:
        design, weight = self.design(), self.weight
        win, loss, tied = self._chances(at)
        lead = (win - loss) / 2
        gradient = (self.score - weight / 2 - weight * lead) @ design
        curvature = np.zeros((self.parameters, self.parameters))
        curvature[:-1, :-1] = (design.T * (weight * ((win + loss) / 4 - lead**2))) @ design
        curvature[:-1, -1] = curvature[-1, :-1] = -(weight * tied * lead) @ design
        curvature[-1, -1] = (weight * tied * (1 - tied)).sum()
        return np.append(gradient, (self.ties - weight * tied).sum()), curvature

    def logarithm(self, at: Floats) -> float:
        if self.davidson:
            logs = [np.log(np.maximum(chance, 1e-300)) for chance in self._chances(at)]
            wins, losses = self.score - self.ties / 2, self.weight - self.score - self.ties / 2
            return float(wins @ logs[0] + losses @ logs[1] + self.ties @ logs[2])
        odds = self._odds(at)
        return -float(
            self.score @ np.logaddexp(0, -odds) + (self.weight - self.score) @ np.logaddexp(0, odds)
        )

    def _odds(self, at: Floats) -> Floats:
        effects = at[self.models : self.models + self.covariates.shape[1]]
        return at[self.first] - at[self.second] + self.covariates @ effects

    def _chances(self, at: Floats) -> tuple[Floats, Floats, Floats]:
        """That `first` wins, that `second` does, and that they tie."""
        odds = self._odds(at)
        logs = np.stack([odds / 2, -odds / 2, np.full(len(odds), at[-1])])
        win, loss, tie = np.exp(logs - logs.max(axis=0))
        total = win + loss + tie
        return win / total, loss / total, tie / total
