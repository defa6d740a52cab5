"""How far judges can be relied on: agreement, flips, biases, and what ratings owe to each of them.

All intervals are by motions. Where a judge read a debate twice, its decision is the one that both
readings share; if they differ, it counts as undecided, and as a flip. Biases are effects of the same fit that
rates the models, one for each judge, so that a judge who saw stronger models on one side is not blamed.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from msgspec import Struct, structs

from moot.core.errors import Invalid
from moot.experiments.ratings import rate_models
from moot.experiments.resampling import (
    DIFFERENCE,
    Estimate,
    jackknife_estimate,
    ratio_estimate,
    share_estimate,
)
from moot.experiments.tables import Floats, Integers, JudgmentTable, as_table

BIAS_TERMS = ("side:judge", "order:judge", "length:judge", "family:judge", "self")


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


class JudgeMeasures(Struct, frozen=True, kw_only=True):
    """One judge. Effects are in log-odds; None where the data does not show them."""

    judge: str
    judgments: int
    undecided: int
    """Ballots that could not be read."""
    pro_share: Estimate
    """How often the side for the motion won, ties as halves."""
    flips: Estimate
    """How often another result was named in the second reading."""
    same_side: Estimate
    """In groups held with both sides: how often the same side won both times, not the same model."""
    side: Estimate | None
    order: Estimate | None
    length: Estimate | None
    family: Estimate | None

    def row(self) -> dict[str, Any]:
        """The figures as a flat dictionary: `flips`, `flips_low`, `flips_high` and so on."""
        flat: dict[str, Any] = {"judge": self.judge, "judgments": self.judgments, "undecided": self.undecided}
        for name in ("pro_share", "flips", "same_side", "side", "order", "length", "family"):
            found: Estimate | None = getattr(self, name)
            flat[name] = found.value if found else None
            flat[f"{name}_low"] = found.low if found else None
            flat[f"{name}_high"] = found.high if found else None
        return flat


class JudgeReport(Struct, frozen=True, kw_only=True):
    """Agreement and biases of all judges of the data; `rows()` has one row for each judge."""

    agreement: JudgeAgreement
    judges: tuple[JudgeMeasures, ...]
    self_preference: Estimate | None
    """The effect of judging one's own speeches, beyond that of the family."""
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        return [judge.row() for judge in self.judges]


class RatingShift(Struct, frozen=True, kw_only=True):
    """A model's rating with all judges, and without one of them."""

    model: str
    without: str
    rating: float
    rating_without: float
    rank: int
    rank_without: int

    def row(self) -> dict[str, Any]:
        return {**structs.asdict(self), "shift": self.rating_without - self.rating}


def judge_agreement(data: object) -> JudgeAgreement:
    """How often judges of the same debate name the same result.

    >>> rows = [dict(motion="m", debate=str(d), pro="a", con="b", judge=j, winner="pro" if d < 3 else "con")
    ...         for d in range(6) for j in "xyz"]
    >>> judge_agreement(rows).alpha.value
    1.0
    """
    decisions = _decisions(as_table(data))
    counts = np.zeros((int(decisions.debate.max(initial=-1)) + 1, 3))
    np.add.at(counts, (decisions.debate, decisions.result), 1.0)
    motion = np.zeros(len(counts), np.intp)
    motion[decisions.debate] = decisions.motion
    several = counts.sum(axis=1) > 1
    counts, motion = counts[several], motion[several]
    judges = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1)
    all_same = (counts.max(axis=1, initial=0) == judges).astype(float)
    raw = ratio_estimate("agreement", motion, same, judges * (judges - 1))
    pairs = [
        _pair_agreement(decisions, one, other) for one, other in combinations(range(len(decisions.names)), 2)
    ]
    return JudgeAgreement(
        raw=raw,
        unanimous=share_estimate("unanimous", motion, all_same),
        alpha=_alpha(counts, motion),
        pairs=tuple(pair for pair in pairs if pair.value is not None),
        debates=len(counts),
    )


def judge_report(data: object) -> JudgeReport:
    """Agreement, flips and biases of every judge of the data."""
    table = as_table(data)
    used = table.where(table.decided)
    if not len(used):
        raise Invalid("There is no judgment that names a winner or a tie.")
    board = rate_models(structs.replace(table, eligible=np.ones(len(table), bool)), terms=BIAS_TERMS)
    measures: list[JudgeMeasures] = []
    for code in np.unique(table.judge):
        name, own = table.judges[int(code)], used.where(used.judge == code)
        measures.append(
            JudgeMeasures(
                judge=name,
                judgments=len(own),
                undecided=int(((table.judge == code) & ~table.decided).sum()),
                pro_share=share_estimate("pro_share", own.units(), own.score),
                flips=_flips(own),
                same_side=_same_side(own),
                side=board.effect(f"side:{name}"),
                order=board.effect(f"order:{name}"),
                length=board.effect(f"length:{name}"),
                family=board.effect(f"family:{name}"),
            )
        )
    return JudgeReport(
        agreement=judge_agreement(used),
        judges=tuple(measures),
        self_preference=board.effect("self"),
        notes=board.notes,
    )


def leave_one_judge_out(data: object, **options: Any) -> tuple[RatingShift, ...]:
    """The rating of each model without each judge; judges without whom the models fall apart are left out."""
    table = as_table(data)
    everyone = rate_models(table, **options)
    shifts: list[RatingShift] = []
    for code in np.unique(table.judge):
        try:
            rest = rate_models(table.where(table.judge != code), **options)
        except Invalid:
            continue
        left = {row.model: row for row in rest.models}
        shifts += [
            RatingShift(
                model=row.model,
                without=table.judges[int(code)],
                rating=row.rating,
                rating_without=left[row.model].rating,
                rank=row.rank,
                rank_without=left[row.model].rank,
            )
            for row in everyone.models
            if row.model in left
        ]
    return tuple(shifts)


def agreement_with_people(data: object, people: object) -> tuple[Estimate, ...]:
    """How often each judge, and the majority of the judges, names what most people named.

    `people` are votes as rows, with the voter as judge; debates are matched by their ids. Debates in which
    people are evenly split are left out.
    """
    judges, voters = _decisions(as_table(data)), as_table(people)
    voters = voters.where(voters.decided)
    means = {
        name: float(voters.score[voters.debate == code].mean())
        for code, name in enumerate(voters.debates)
        if (voters.debate == code).any()
    }
    expected = np.array([_majority(means.get(name, 0.5)) for name in judges.debates], np.intp)
    known = expected[judges.debate] != TIE
    same = (judges.result == expected[judges.debate]).astype(float)
    found: list[Estimate] = []
    for code, name in enumerate(judges.names):
        rows = known & (judges.judge == code)
        found.append(share_estimate(name, judges.motion[rows], same[rows]))
    panel, motion, right = _panel(judges, expected)
    found.append(share_estimate("panel", motion[panel], right[panel]))
    return tuple(found)


# --- decisions ----------------------------------------------------------------------------------------

CON, TIE, PRO = 0, 1, 2


class _Decisions(Struct, frozen=True, eq=False):
    """One result for each judge and debate: 0 con, 1 tie, 2 pro."""

    names: tuple[str, ...]
    debates: tuple[str, ...]
    judge: Integers
    debate: Integers
    motion: Integers
    result: Integers


def _decisions(table: JudgmentTable) -> _Decisions:
    table = table.where(table.decided)
    keys, first, codes = np.unique(
        table.debate * len(table.judges) + table.judge, return_index=True, return_inverse=True
    )
    # Readings that differ have a mean between 0 and 1, and so count as undecided.
    low = np.ones(len(keys))
    high = np.zeros(len(keys))
    np.minimum.at(low, codes, table.score)
    np.maximum.at(high, codes, table.score)
    result = np.where(low == high, (low * 2).astype(np.intp), TIE)
    return _Decisions(
        table.judges, table.debates, table.judge[first], table.debate[first], table.units()[first], result
    )


def _majority(mean: float) -> int:
    return PRO if mean > 0.5 else CON if mean < 0.5 else TIE


def _panel(judges: _Decisions, expected: Integers) -> tuple[np.ndarray, Integers, Floats]:
    """The debates that count, their motions, and whether most judges named what most people did."""
    count = len(judges.debates)
    held = np.bincount(judges.debate, minlength=count)
    lean = np.bincount(judges.debate, judges.result - 1.0, count)
    majority = np.where(lean > 0, PRO, np.where(lean < 0, CON, TIE))
    motion = np.zeros(count, np.intp)
    motion[judges.debate] = judges.motion
    return (held > 0) & (expected != TIE), motion, (majority == expected).astype(float)


def _alpha(counts: Floats, motion: Integers) -> Estimate:
    """Krippendorff's alpha for nominal data, from the counts of each result in each debate."""
    if not len(counts):
        return Estimate("alpha", None, None, None, 0)
    judges = counts.sum(axis=1, keepdims=True)
    same = (counts * (counts - 1) / (judges - 1)).sum(axis=1, keepdims=True)
    columns = np.concatenate([same, counts], axis=1)
    size = np.ones(len(counts))
    return jackknife_estimate("alpha", motion, columns, _alpha_of, size=size, within=DIFFERENCE)


def _alpha_of(sums: Floats) -> Floats:
    same, counts = sums[:, 0], sums[:, 1:]
    total = counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = 1 - same / total
        expected = 1 - (counts * (counts - 1)).sum(axis=1) / (total * (total - 1))
        # Judges who all say the same of everything agree perfectly, though nothing was to be expected.
        return np.where(expected > 0, 1 - observed / expected, 1.0)


def _pair_agreement(decisions: _Decisions, one: int, other: int) -> Estimate:
    name = f"{decisions.names[one]} / {decisions.names[other]}"
    count = len(decisions.debates)
    results = np.full((2, count), -1)
    for row, judge in enumerate((one, other)):
        own = decisions.judge == judge
        results[row, decisions.debate[own]] = decisions.result[own]
    both = (results >= 0).all(axis=0)
    motion = np.zeros(count, np.intp)
    motion[decisions.debate] = decisions.motion
    same = (results[0] == results[1]).astype(float)
    return share_estimate(name, motion[both], same[both])


def _flips(table: JudgmentTable) -> Estimate:
    """Of debates that one judge read twice, how often the two results differ."""
    means = [_by_debate(table.where(table.order == order)) for order in (0, 1)]
    both = ~np.isnan(means[0]) & ~np.isnan(means[1])
    motion = np.zeros(len(table.debates), np.intp)
    motion[table.debate] = table.units()
    changed = (means[0] != means[1]).astype(float)
    return share_estimate("flips", motion[both], changed[both])


def _by_debate(table: JudgmentTable) -> Floats:
    """The mean score of each debate; NaN where there is none."""
    count = np.bincount(table.debate, minlength=len(table.debates))
    with np.errstate(invalid="ignore"):
        return np.bincount(table.debate, table.score, len(table.debates)) / count


def _same_side(table: JudgmentTable) -> Estimate:
    """Of groups held with both sides that one judge decided twice, how often the same side won."""
    turned = table.pro > table.con
    sums = np.zeros((2, len(table.groups)))
    counts = np.zeros((2, len(table.groups)))
    for row, rows in enumerate((turned, ~turned)):
        sums[row] = np.bincount(table.group[rows], table.score[rows] - 0.5, len(table.groups))
        counts[row] = np.bincount(table.group[rows], minlength=len(table.groups))
    decided = (counts > 0).all(axis=0) & (sums[0] != 0) & (sums[1] != 0)
    same = (sums[0] * sums[1] > 0).astype(float)
    motion = np.zeros(len(table.groups), np.intp)
    motion[table.group] = table.units()
    return share_estimate("same_side", motion[decided], same[decided])
