"""Is a judge compromised? Each is tested for the faults that would make its ballots worthless.

A judge may go by the label, by the place in the reading, by length, by the family of a model or by the side,
toss a coin, give in to whoever addresses it, or write ballots that cannot be read. Every test asks whether
its figure lies beyond what chance explains, with motions as the unit; the probabilities are corrected (Holm)
for all tests of all judges, so that a fair panel is accused in at most 5 % of experiments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import atan, pi, sqrt
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from moot.extensions.experiments.measuring.estimates import Estimate, sums_by, t_quantile
from moot.extensions.experiments.measuring.judge_decisions import JudgeDecisions, counts_by_reading, decisions
from moot.extensions.experiments.measuring.tables import Floats, Integers, JudgmentTable

Fault = Literal[
    "first-listed", "read-first", "longer", "own family", "proposition", "coin", "bribed", "unreadable"
]  # fmt: skip
LEVEL = 0.05
LEAST_MOTIONS = 5
"""With fewer, nothing is tested."""
UNREADABLE = 0.10
"""The share of unreadable ballots that is tolerated."""
MODERATE = 0.4
"""The least kappa of a judge that is of use. A coin has 0."""
BETTER_THAN_CHANCE = 3.0
"""A kappa of so many standard errors is better than chance, whatever a useful one would be."""
TEXTS: dict[Fault, tuple[str, str]] = {
    "first-listed": ("names the side that is listed first", "names the side that is listed last"),
    "read-first": ("names the side that it reads first", "names the side that it reads last"),
    "longer": ("names the side with more words", "names the side with fewer words"),
    "own family": ("favours models of its own maker", "disfavours models of its own maker"),
    "proposition": ("leans to the side for the motion", "leans to the side against the motion"),
    "coin": ("decides like a coin", "decides like a coin"),
    "bribed": ("decides for the side that addresses it", "decides against the side that addresses it"),
    "unreadable": ("writes ballots that cannot be read", ""),
}
"""What a figure above and below 0 says."""


class JudgeCheck(Struct, frozen=True, kw_only=True):
    """One test of one judge."""

    judge: str
    own: bool
    """Whether it sat on the experiment's own panel."""
    fault: Fault
    figure: Estimate
    """In log-odds; for `proposition` its share for the motion less that of another judge, for `coin` kappa
    (0: chance, 1: always the same), for `unreadable` the share of the ballots."""
    p: float
    """The probability of such a figure without the fault."""
    corrected: float
    """The same after the correction for all tests."""

    @property
    def found(self) -> bool:
        return self.corrected < LEVEL

    @property
    def text(self) -> str:
        """What the judge does, if the fault was found."""
        return TEXTS[self.fault][(self.figure.value or 0.0) < 0]


def check_judges(
    table: JudgmentTable, effects: Mapping[str, Mapping[str, Estimate | None]]
) -> tuple[JudgeCheck, ...]:
    """All tests that the data allows, of every judge, corrected together. `effects` are those of the fit, by
    judge and by the name of the covariate."""
    found = decisions(table)
    checks = [
        JudgeCheck(judge=name, own=own, fault=fault, figure=figure, p=p, corrected=p)
        for code, name, own in _judges(table)
        for fault, figure, p in _tests(table, found, effects.get(name, {}), code)
    ]
    return tuple(
        replace(check, corrected=corrected)
        for check, corrected in zip(checks, holm([check.p for check in checks]), strict=True)
    )


def holm(probabilities: Sequence[float]) -> list[float]:
    """The probabilities corrected for their number.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(probabilities)), key=lambda at: probabilities[at])
    corrected, worst = [0.0] * len(order), 0.0
    for place, at in enumerate(order):
        worst = max(worst, min(1.0, probabilities[at] * (len(order) - place)))
        corrected[at] = worst
    return corrected


def _judges(table: JudgmentTable) -> Iterator[tuple[int, str, bool]]:
    for code in np.unique(table.judge).tolist():
        yield code, table.judges[code], bool(table.own[table.judge == code].any())


def _tests(
    table: JudgmentTable, found: JudgeDecisions, effects: Mapping[str, Estimate | None], code: int
) -> Iterator[tuple[Fault, Estimate, float]]:
    biases: tuple[tuple[Fault, Estimate | None], ...] = (
        ("first-listed", effects.get("label") or effects.get("order")),
        ("read-first", effects.get("primacy")),
        ("longer", effects.get("length")),
        ("own family", effects.get("family")),
    )
    for fault, effect in biases:
        if effect is not None and (p := _beyond(effect, 0.0)) is not None:
            yield fault, effect, p
    address = effects.get("address")
    if address is not None and (p := _beyond(address, 0.0)) is not None:
        yield "bribed", address, p / 2 if (address.value or 0) > 0 else 1.0
    if (lean := _lean(table, code)) is not None:
        yield "proposition", *lean
    if (coin := _coin(table, found, code)) is not None:
        yield "coin", *coin
    unread = _unreadable(table, code)
    above = _beyond(unread, UNREADABLE)
    if above is not None:
        yield "unreadable", unread, above / 2 if (unread.value or 0.0) > UNREADABLE else 1.0


# --- from figures to probabilities --------------------------------------------------------------------


def _standard_error(figure: Estimate) -> float | None:
    """From the ends of the interval; None where there is none, or too few motions for a test."""
    if figure.value is None or figure.groups < LEAST_MOTIONS:
        return None
    ends = [abs(end - figure.value) for end in (figure.low, figure.high) if end is not None]
    return sum(ends) / len(ends) / t_quantile(figure.groups - 1) if ends else None


def _beyond(figure: Estimate, expected: float) -> float | None:
    """The probability of a figure at least so far from what is expected, on either side."""
    error = _standard_error(figure)
    if error is None or figure.value is None:
        return None
    if error == 0:
        return 1.0
    return two_sided((figure.value - expected) / error, figure.groups - 1)


def two_sided(t: float, freedom: float) -> float:
    """The probability that Student's t is at least so far from 0.

    >>> round(two_sided(2.262, 9), 3)
    0.05
    """
    # With t = sqrt(freedom) tan(angle), the density of the angle is a power of its cosine.
    angle = atan(abs(t) / sqrt(freedom))

    def mass(low: float) -> float:
        angles = np.linspace(low, pi / 2, 4001)
        return float(np.trapezoid(np.maximum(np.cos(angles), 0.0) ** (freedom - 1), angles))

    return min(1.0, mass(angle) / mass(0.0))


# --- figures ------------------------------------------------------------------------------------------


def _unreadable(table: JudgmentTable, code: int) -> Estimate:
    own = table.where(table.judge == code)
    by_chance = sqrt(UNREADABLE * (1 - UNREADABLE) / len(own))
    return _mean("unreadable", own.units(), (~own.decided).astype(float), by_chance)


def _lean(table: JudgmentTable, code: int) -> tuple[Estimate, float] | None:
    """How much more often the judge names the side for the motion than others do on the same debates. It must
    differ from most of them, or one judge that leans would accuse the others; so three judges are needed."""
    own = _pro_shares(table, code)
    compared: list[tuple[float, Estimate]] = []
    for other in np.unique(table.judge):
        if other == code:
            continue
        difference = own - _pro_shares(table, int(other))
        common = ~np.isnan(difference)
        if common.any():
            figure = _mean(table.judges[int(other)], table.cluster_of_debates()[common], difference[common])
            p = _beyond(figure, 0.0)
            if p is not None:
                compared.append((p, figure))
    if len(compared) < 2:
        return None
    most = len(compared) // 2 + 1
    ways = [sorted(_directed(compared, sign), key=lambda each: each[0]) for sign in (1, -1)]
    p, figure = min((way[most - 1] for way in ways), key=lambda each: each[0])
    return figure, p


def _directed(compared: Iterable[tuple[float, Estimate]], sign: int) -> Iterator[tuple[float, Estimate]]:
    for p, figure in compared:
        yield (p if (figure.value or 0.0) * sign > 0 else 1.0), figure


def _coin(table: JudgmentTable, found: JudgeDecisions, code: int) -> tuple[Estimate, float] | None:
    """Kappa with the other judge that it agrees best with, or with itself in another reading if that is more:
    a coin agrees with nobody, and not with itself."""
    kappas = [_kappa_with(found, code, int(other)) for other in np.unique(found.judge) if other != code]
    kappas.append(_kappa_with_itself(table, code))
    tested = [(_below_moderate(each), each) for each in kappas if each.value is not None]
    known = [(p, each) for p, each in tested if p is not None]
    if not known:
        return None
    p, figure = max(known, key=lambda each: each[0])
    return figure, p


def _below_moderate(kappa: Estimate) -> float | None:
    error, p = _standard_error(kappa), _beyond(kappa, MODERATE)
    if error is None or p is None or kappa.value is None:
        return None
    if kappa.value >= MODERATE or kappa.value > BETTER_THAN_CHANCE * error:
        return 1.0
    return p / 2


def _kappa_with(found: JudgeDecisions, code: int, other: int) -> Estimate:
    shares = found.of_pair(code, other)
    both = ~np.isnan(shares).any(axis=(0, 2))
    return _kappa(found.judges[other], found.cluster_of_debates()[both], shares[:, both])


def _kappa_with_itself(table: JudgmentTable, code: int) -> Estimate:
    own = table.where((table.judge == code) & table.decided)
    counts = counts_by_reading(own)
    totals = counts.sum(axis=2)
    both = (totals > 0).all(axis=0)
    shares = counts[:, both] / totals[:, both, None]
    return _kappa("itself", own.cluster_of_debates()[both], shares)


def _kappa(name: str, cluster: Integers, shares: Floats) -> Estimate:
    """Cohen's kappa of two rows of decisions (two by debates by results)."""
    if shares.shape[1] < 2:
        return Estimate(name, None, None, None, 0)
    chance = float((shares[0].mean(axis=0) * shares[1].mean(axis=0)).sum())
    if chance > 1 - 1e-9:
        return Estimate(name, None, None, None, 0)
    same = (shares[0] * shares[1]).sum(axis=1)
    return _mean(name, cluster, (same - chance) / (1 - chance))


def _pro_shares(table: JudgmentTable, code: int) -> Floats:
    """The share of the judge's ballots for the motion, by debate; NaN where there is none."""
    own = table.where((table.judge == code) & table.decided)
    count = np.bincount(own.debate, minlength=len(own.debates))
    with np.errstate(invalid="ignore"):
        return np.bincount(own.debate, own.score, len(own.debates)) / count


def _mean(name: str, cluster: Integers, values: Floats, least_error: float = 0.0) -> Estimate:
    """The mean, with an interval by Student's t from the sums of each motion."""
    names, codes = np.unique(cluster, return_inverse=True)
    value, count = float(values.mean()), len(names)
    if count < 2:
        return Estimate(name, value, None, None, count)
    sums = sums_by(codes, (values - value)[:, None], count)
    error = sqrt(float((sums**2).sum()) * count / (count - 1)) / len(values)
    reach = t_quantile(count - 1) * max(error, least_error)
    return Estimate(name, value, value - reach, value + reach, count)
