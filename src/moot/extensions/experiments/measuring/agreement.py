"""How often judges decide alike: with each other, with themselves in another reading, and with people.

Every figure is the probability that two decisions are the same (`judge_decisions.py`). Two judges who toss
coins agree in half of the debates, and have an alpha of 0, whatever number of ballots they are asked for.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from msgspec import Struct

from moot.extensions.experiments.measuring.estimates import (
    DIFFERENCE,
    Estimate,
    jackknife_estimate,
    ratio_estimate,
    share_estimate,
)
from moot.extensions.experiments.measuring.judge_decisions import (
    CON,
    PRO,
    JudgeDecisions,
    counts_by_reading,
    decisions,
    panel_majority,
)
from moot.extensions.experiments.measuring.tables import Floats, Integers, JudgmentTable, as_table


class JudgeAgreement(Struct, frozen=True, kw_only=True):
    """How often judges of the same debate decide the same."""

    raw: Estimate
    """The share of pairs of judges of a debate that name the same result."""
    unanimous: Estimate
    """The share of debates in which all judges name the same result."""
    alpha: Estimate
    """Krippendorff's alpha (nominal): 1 perfect, 0 as by chance."""
    pairs: tuple[Estimate, ...]
    """Raw agreement of each two judges."""
    debates: int
    """Debates with at least two judges."""

    def rows(self) -> list[dict[str, Any]]:
        return [estimate.row() for estimate in (self.raw, self.unanimous, self.alpha, *self.pairs)]


def judge_agreement(data: object, *, each_pair: bool = True) -> JudgeAgreement:
    """How often judges of the same debate name the same result, all together and, if wanted, each two.

    >>> rows = [dict(motion="m", debate=str(d), pro="a", con="b", judge=j, winner="pro" if d < 3 else "con")
    ...         for d in range(6) for j in "xyz"]
    >>> judge_agreement(rows).alpha.value
    1.0
    """
    found = decisions(as_table(data))
    sums, squares, products = _by_debate(found)
    judges = sums.sum(axis=1)
    several = judges > 1.5
    cluster, judges = found.cluster_of_debates()[several], judges[several]
    sums, squares, products = sums[several], squares[several], products[several]
    same = (sums**2 - squares).sum(axis=1)
    raw = ratio_estimate("agreement", cluster, same, judges * (judges - 1))
    chosen = combinations(range(len(found.judges) if each_pair else 0), 2)
    pairs = [_pair_agreement(found, one, other) for one, other in chosen]
    return JudgeAgreement(
        raw=raw,
        unanimous=share_estimate("unanimous", cluster, products.sum(axis=1)),
        alpha=_alpha(sums, squares, cluster),
        pairs=tuple(pair for pair in pairs if pair.value is not None),
        debates=len(sums),
    )


def agreement_with_people(data: object, people: object) -> tuple[Estimate, ...]:
    """How often each judge, and the majority of the judges, names what most people named.

    `people` are votes as rows, with the voter as judge; debates are matched by their ids. Debates in which
    people are evenly split are left out.
    """
    found = decisions(as_table(data))
    most = people_majorities(people)
    same = same_as_people(found.debates, found.debate, found.shares, most)
    estimates = [
        _known_mean(name, found.cluster, np.where(found.judge == code, same, np.nan))
        for code, name in enumerate(found.judges)
    ]
    panel = panel_majority(found)
    everyone = np.arange(len(found.debates))
    together = same_as_people(found.debates, everyone, panel, most)
    together = np.where(panel.sum(axis=1) > 0, together, np.nan)
    return (*estimates, _known_mean("panel", found.cluster_of_debates(), together))


def people_majorities(people: object) -> dict[str, int]:
    """What most people named, by debate; debates in which they are evenly split are left out."""
    voters = decisions(as_table(people))
    majorities = panel_majority(voters)
    return {
        name: side for name, each in zip(voters.debates, majorities, strict=True)
        for side in (CON, PRO) if each[side] == 1
    }  # fmt: skip


def same_as_people(
    debates: tuple[str, ...], debate: Integers, shares: Floats, most: dict[str, int]
) -> Floats:
    """The probability that each decision is that of most people; NaN where that is not known."""
    sides = np.array([most.get(name, -1) for name in debates], np.intp)[debate]
    return np.where(sides < 0, np.nan, shares[np.arange(len(debate)), sides])


def _known_mean(name: str, cluster: Integers, values: Floats) -> Estimate:
    known = ~np.isnan(values)
    return share_estimate(name, cluster[known], values[known])


def flips(table: JudgmentTable) -> Estimate:
    """Of all pairs of a first and a second reading of a debate, the share whose results differ; each debate
    counts once, however often it was read."""
    table = table.where(table.decided)
    readings = counts_by_reading(table)
    pairs = readings[0].sum(axis=1) * readings[1].sum(axis=1)
    both = pairs > 0
    changed = 1 - (readings[0] * readings[1]).sum(axis=1)[both] / pairs[both]
    return share_estimate("flips", table.cluster_of_debates()[both], changed)


def same_side(table: JudgmentTable) -> Estimate:
    """Of pairs of debates with the sides swapped that one judge decided, the share that the same side won."""
    found = decisions(table)
    turned = np.zeros(len(table.debates), bool)
    turned[table.debate] = table.pro > table.con
    group = np.zeros(len(table.debates), np.intp)
    group[table.debate] = table.group
    sides = np.zeros((2, len(table.groups), 2))
    for way in (0, 1):
        rows = turned[found.debate] == bool(way)
        np.add.at(sides[way], group[found.debate[rows]], found.shares[rows][:, [CON, PRO]])
    same = (sides[0] * sides[1]).sum(axis=1)
    pairs = sides[0].sum(axis=1) * sides[1].sum(axis=1)
    cluster = np.zeros(len(table.groups), np.intp)
    cluster[table.group] = table.units()
    held = pairs > 0
    share = same[held] / pairs[held]
    return share_estimate("same_side", cluster[held], share)


# --- sums ---------------------------------------------------------------------------------------------


def _by_debate(found: JudgeDecisions) -> tuple[Floats, Floats, Floats]:
    """For each debate and result: the sum, the sum of squares and the product of the judges' shares."""
    shape = (len(found.debates), 3)
    sums, squares, products = np.zeros(shape), np.zeros(shape), np.ones(shape)
    np.add.at(sums, found.debate, found.shares)
    np.add.at(squares, found.debate, found.shares**2)
    np.multiply.at(products, found.debate, found.shares)
    return sums, squares, products


def _alpha(sums: Floats, squares: Floats, cluster: Integers) -> Estimate:
    """Krippendorff's alpha for nominal data; a level decision is half of each side."""
    if not len(sums):
        return Estimate("alpha", None, None, None, 0)
    judges = sums.sum(axis=1, keepdims=True)
    same = (sums**2 - squares).sum(axis=1, keepdims=True) / (judges - 1)
    columns = np.concatenate([same, squares.sum(axis=1, keepdims=True), sums], axis=1)
    size = np.ones(len(sums))
    return jackknife_estimate("alpha", cluster, columns, _alpha_of, size=size, within=DIFFERENCE)


def _alpha_of(columns: Floats) -> Floats:
    same, squares, sums = columns[:, 0], columns[:, 1], columns[:, 2:]
    total = sums.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = 1 - same / total
        expected = 1 - ((sums**2).sum(axis=1) - squares) / (total * (total - 1))
        # Judges who all say the same of everything agree perfectly, though nothing was to be expected.
        return np.where(expected > 1e-12, 1 - observed / expected, 1.0)


def _pair_agreement(found: JudgeDecisions, one: int, other: int) -> Estimate:
    name = f"{found.judges[one]} / {found.judges[other]}"
    shares = found.of_pair(one, other)
    same = (shares[0] * shares[1]).sum(axis=1)
    return _known_mean(name, found.cluster_of_debates(), same)
