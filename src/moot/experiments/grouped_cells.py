"""From judgments to the sums that a fit needs, and to the same sums of a thousand resampled groups.

Groups with the same decisions are one *pattern*: a resample is how often each pattern was drawn, and its cell
sums are one weighted count. So the work does not grow with the number of rows once they are counted.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct

from moot.experiments.bradley_terry import Cells, CellSums
from moot.experiments.resampling import sums_by
from moot.experiments.tables import Floats, Integers, JudgmentTable

DebateWeight = Literal["debate", "judgment"]
"""What counts once: a debate, shared by its judges, or each judgment."""
PairWeight = Literal["held", "equal"]
"""Whether pairs count as often as they met, or all the same."""


class GroupedCells(Struct, frozen=True, eq=False):
    cells: Cells
    groups: int
    pattern: Integers
    """The pattern of each group."""
    entry_pattern: Integers
    entry_cell: Integers
    entry_sums: Floats
    """Entries by weight, score and ties."""

    def totals(self) -> CellSums:
        """The sums of the data as it is, as a single resample."""
        return self._sums(np.bincount(self.pattern)[None, :])

    def resampled(self, bootstraps: int, seed: int) -> CellSums:
        """The sums of each resample of the groups."""
        random = np.random.default_rng(seed)
        patterns = int(self.pattern.max()) + 1
        drawn = np.empty((bootstraps, patterns), np.int32)
        for number in range(bootstraps):
            groups = random.integers(0, self.groups, self.groups, dtype=np.int32)
            drawn[number] = np.bincount(self.pattern[groups], minlength=patterns)
        return self._sums(drawn)

    def _sums(self, drawn: Integers | np.typing.NDArray[np.int32]) -> CellSums:
        count = len(self.cells.first)
        sums = np.zeros((3, len(drawn), count))
        ties = bool(self.entry_sums[:, 2].any())
        for number, patterns in enumerate(drawn):
            times = patterns[self.entry_pattern]
            for kind in range(3 if ties else 2):
                sums[kind, number] = np.bincount(self.entry_cell, times * self.entry_sums[:, kind], count)
        return CellSums(*sums)


def grouped_cells(
    table: JudgmentTable,
    columns: Floats,
    *,
    cluster: Integers,
    debate_weight: DebateWeight,
    pair_weight: PairWeight,
) -> GroupedCells:
    """Count the decided rows of a table. `columns` are the covariates of its rows, `cluster` says which rows
    are resampled together."""
    weight = row_weights(table, debate_weight, pair_weight)
    cell, cells = _cells(table, columns)
    names, group = np.unique(cluster, return_inverse=True)
    entries, entry = np.unique(group * len(cells.first) + cell, return_inverse=True)
    values = np.stack([weight, weight * table.score, weight * (table.score == 0.5)], axis=1)
    sums = sums_by(entry, values, len(entries))
    entry_group, entry_cell = entries // len(cells.first), entries % len(cells.first)
    pattern, first_of = _patterns(entry_group, entry_cell, sums, len(names))
    shown = np.isin(entry_group, first_of)
    return GroupedCells(
        cells, len(names), pattern, pattern[entry_group[shown]], entry_cell[shown], sums[shown]
    )


def row_weights(table: JudgmentTable, debate_weight: DebateWeight, pair_weight: PairWeight) -> Floats:
    """How much each row counts. The weights of `equal` pairs keep their mean, so that sums are comparable."""
    weight = np.ones(len(table))
    if debate_weight == "debate":
        weight = 1.0 / np.bincount(table.debate)[table.debate]
    if pair_weight == "equal" and len(table):
        low, high = np.minimum(table.pro, table.con), np.maximum(table.pro, table.con)
        pairs, pair = np.unique(low * len(table.models) + high, return_inverse=True)
        held = np.bincount(pair, weight)
        weight = weight * (weight.sum() / len(pairs) / held)[pair]
    return weight


def _cells(table: JudgmentTable, columns: Floats) -> tuple[Integers, Cells]:
    count = len(table.models)
    key = table.pro * count + table.con
    for column in columns.T:
        values, codes = np.unique(column, return_inverse=True)
        if len(values) > 1:
            # Numbered anew each time, so that the products stay small.
            key = np.unique(key * len(values) + codes, return_inverse=True)[1]
    _, first_of, cell = np.unique(key, return_index=True, return_inverse=True)
    return cell, Cells(count, table.pro[first_of], table.con[first_of], columns[first_of])


def _patterns(group: Integers, cell: Integers, sums: Floats, groups: int) -> tuple[Integers, Integers]:
    """The pattern of each group, and one group for each pattern. Groups are equal if a random number for
    each of their entries has the same sum."""
    kinds = np.round(sums * 2**20).astype(np.int64)
    codes = cell.astype(np.uint64)
    for column in kinds.T:
        codes = _mixed(codes ^ (column.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)))
    hashes = np.zeros(groups, np.uint64)
    np.add.at(hashes, group, codes)
    _, first_of, pattern = np.unique(hashes, return_index=True, return_inverse=True)
    return pattern, first_of


def _mixed(values: np.typing.NDArray[np.uint64]) -> np.typing.NDArray[np.uint64]:
    """The finalizer of splitmix64: numbers that differ a little become numbers that differ everywhere."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
