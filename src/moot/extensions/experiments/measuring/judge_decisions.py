"""What a judge decided about a debate: the majority of its ballots, however many it was asked for.

All readings and repeats of one judge are one decision. Where its ballots are level, it stands between the
sides: half a decision for each, as if it tossed a coin, so that a judge who does toss coins looks the same
with one ballot or with eight. A tie that the judge itself named is a result of its own. Agreement, alpha,
agreement with people and the majority of a panel are all computed from these decisions.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from moot.extensions.experiments.measuring.tables import Floats, Integers, JudgmentTable

CON, TIE, PRO = 0, 1, 2


class JudgeDecisions(Struct, frozen=True, eq=False):
    """One row for each judge and debate; `shares` has a column for con, tie and pro, whose sum is 1."""

    judges: tuple[str, ...]
    debates: tuple[str, ...]
    judge: Integers
    debate: Integers
    cluster: Integers
    """What is left out at a time for intervals: the motion, or the group where motions are not known."""
    shares: Floats

    def of_pair(self, one: int, other: int) -> Floats:
        """What two judges decided: judges by debates by results, NaN where one did not decide."""
        shares = np.full((2, len(self.debates), 3), np.nan)
        for row, judge in enumerate((one, other)):
            own = self.judge == judge
            shares[row, self.debate[own]] = self.shares[own]
        return shares

    def cluster_of_debates(self) -> Integers:
        cluster = np.zeros(len(self.debates), np.intp)
        cluster[self.debate] = self.cluster
        return cluster


def decisions(table: JudgmentTable) -> JudgeDecisions:
    """The decision of every judge on every debate, from all its ballots that could be read."""
    table = table.where(table.decided)
    keys, first, codes = np.unique(
        table.debate * max(len(table.judges), 1) + table.judge, return_index=True, return_inverse=True
    )
    return JudgeDecisions(
        table.judges,
        table.debates,
        table.judge[first],
        table.debate[first],
        table.units()[first],
        majority(ballot_counts(codes, table.score, len(keys))),
    )


def counts_by_reading(table: JudgmentTable) -> Floats:
    """How many ballots of the first and of the second reading each debate has for con, tie and pro."""
    readings = (table.order == 0, table.order == 1)
    debates = len(table.debates)
    return np.stack([ballot_counts(table.debate[rows], table.score[rows], debates) for rows in readings])


def ballot_counts(codes: Integers, score: Floats, count: int) -> Floats:
    """How many ballots each code has for con, tie and pro."""
    counts = np.zeros((count, 3))
    np.add.at(counts, (codes, np.round(score * 2).astype(np.intp)), 1.0)
    return counts


def majority(counts: Floats) -> Floats:
    """From the ballots (or shares of judges) for con, tie and pro to the decision.

    >>> majority(np.array([[1.0, 0, 2], [1, 0, 1], [0, 2, 0], [0, 1, 1]])).tolist()
    [[0.0, 0.0, 1.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    lean = np.sign(np.round(counts[:, PRO] - counts[:, CON], 9))
    sided = (counts[:, PRO] + counts[:, CON] > 0).astype(float)
    return np.stack([sided * (1 - lean) / 2, 1 - sided, sided * (1 + lean) / 2], axis=1)


def panel_majority(found: JudgeDecisions) -> Floats:
    """What most judges of each debate decided; all zeros for a debate that nobody decided."""
    counts = np.zeros((len(found.debates), 3))
    np.add.at(counts, found.debate, found.shares)
    return majority(counts) * (counts.sum(axis=1, keepdims=True) > 0)
