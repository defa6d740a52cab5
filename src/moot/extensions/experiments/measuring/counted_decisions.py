"""From judgments to counted decisions: one row for all judgments with the same models and covariates.

The fit needs them counted over all motions, the jackknife counted for each motion (or judge).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from msgspec import Struct

from moot.extensions.experiments.measuring.bradley_terry import Decisions
from moot.extensions.experiments.measuring.estimates import sums_by
from moot.extensions.experiments.measuring.tables import Floats, Integers, JudgmentTable

DebateWeight = Literal["debate", "judgment"]
"""What counts once: a debate, shared by its judges, or each judgment."""
PairWeight = Literal["held", "equal"]
"""Whether pairs count as often as they met, or all the same."""


class CountedJudgments(Struct, frozen=True, eq=False):
    """The decided rows of a table, each with what it counts and with the cell (models and covariates) that it
    belongs to."""

    models: int
    first: Integers
    second: Integers
    """Of each cell."""
    covariates: Floats
    """Cells by covariates."""
    cell: Integers
    """Of each row."""
    values: Floats
    """Rows by weight, score and ties."""
    davidson: bool

    def total(self) -> Decisions:
        return self._decisions(np.arange(len(self.first)), self.cell, len(self.first))

    def by_unit(self, unit: Integers) -> Iterator[Decisions]:
        """The decisions of each unit (a motion, a judge); `unit` is that of each row."""
        cells = len(self.first)
        entries, entry = np.unique(unit * cells + self.cell, return_inverse=True)
        decisions = self._decisions(entries % cells, entry, len(entries))
        starts = np.flatnonzero(np.diff(entries // cells, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(entries)], strict=True):
            yield decisions.part(slice(int(start), int(stop)))

    def _decisions(self, cell: Integers, row: Integers, count: int) -> Decisions:
        sums = sums_by(row, self.values, count)
        return Decisions(
            self.models, self.first[cell], self.second[cell], self.covariates[cell],
            sums[:, 0], sums[:, 1], sums[:, 2], self.davidson,
        )  # fmt: skip


def count_judgments(
    table: JudgmentTable,
    columns: Floats,
    *,
    debate_weight: DebateWeight,
    pair_weight: PairWeight,
    davidson: bool = False,
) -> CountedJudgments:
    """Count the decided rows of a table. `columns` are the covariates of its rows."""
    weight = row_weights(table, debate_weight, pair_weight)
    count = len(table.models)
    key = table.pro * count + table.con
    for column in columns.T:
        values, codes = np.unique(column, return_inverse=True)
        if len(values) > 1:
            # Numbered anew each time, so that the products stay small.
            key = np.unique(key * len(values) + codes, return_inverse=True)[1]
    _, first_of, cell = np.unique(key, return_index=True, return_inverse=True)
    sums = np.stack([weight, weight * table.score, weight * (table.score == 0.5)], axis=1)
    return CountedJudgments(
        count, table.pro[first_of], table.con[first_of], columns[first_of], cell, sums, davidson
    )


def row_weights(table: JudgmentTable, debate_weight: DebateWeight, pair_weight: PairWeight) -> Floats:
    """What each row counts; the sum does not change by `equal` pairs."""
    weight = np.ones(len(table))
    if debate_weight == "debate" and len(table):
        weight = 1.0 / np.bincount(table.debate)[table.debate]
    if pair_weight == "equal" and len(table):
        low, high = np.minimum(table.pro, table.con), np.maximum(table.pro, table.con)
        pairs, pair = np.unique(low * len(table.models) + high, return_inverse=True)
        held = np.bincount(pair, weight)
        weight = weight * (weight.sum() / len(pairs) / held)[pair]
    return weight
