"""The next pairs where intervals shrink most, and how wide intervals will be before anything is held.

Both come from the curvature of the Bradley-Terry likelihood: a debate between models with odds p adds
p (1 - p) to what is known about their difference. Adaptive pairing takes the pair that lowers the mean
variance of all differences most, given what is known; some pairs are drawn at random all the same, so that
no pair is left out because of a few early results. The forecast adds what varies from motion to motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.bradley_terry import Decisions
from moot.extensions.experiments.measuring.estimates import FEW_MOTIONS, t_quantile
from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.leaderboard import SCALE
from moot.extensions.experiments.measuring.likelihood import most_likely
from moot.extensions.experiments.measuring.pairing import Matchup, check_models_and_motions, next_motion
from moot.extensions.experiments.measuring.ratings import PRIOR_SD
from moot.extensions.experiments.measuring.tables import Floats, Integers, as_table, coded
from moot.views.text import plural

EXPLORE = 0.2
MOTION_SD = 0.3
"""How much models are assumed to be stronger or weaker from motion to motion, in log-odds."""
POWER = 0.84
"""In standard errors beyond the interval: what is so far away is told apart in 80 of 100 experiments."""


def adaptive_round(
    models: Sequence[str],
    motions: Sequence[str],
    results: Sequence[Judgment] = (),
    *,
    count: int = 1,
    explore: float = EXPLORE,
    seed: int = 0,
) -> tuple[Matchup, ...]:
    """The next matchups, each chosen as if those before it had been held. `explore` of them are drawn at
    random."""
    check_models_and_motions(models, motions)
    names = sorted(models)
    rows = [row for row in results if row.pro in models and row.con in models]
    random = np.random.default_rng([seed, len(rows)])
    strengths, known = _present_knowledge(names, rows)
    first, second = np.triu_indices(len(names), 1)
    held = list(rows)
    chosen: list[Matchup] = []
    for _ in range(count):
        covariance = np.linalg.inv(known).astype(float)
        gain = _gain(covariance, strengths, first, second)
        at = int(random.integers(len(first))) if random.random() < explore else _largest(gain, random)
        one, other = int(first[at]), int(second[at])
        unit = next_motion(motions, held, names[one], names[other], seed=seed)
        chosen.append(unit)
        held.append(
            Judgment(
                group=unit.group, debate="", pro=unit.first, con=unit.second, judge="", winner="none",
                motion=unit.motion, repeat=unit.repeat,
            )
        )  # fmt: skip
        contrast = np.zeros(len(names))
        contrast[one], contrast[other] = 1.0, -1.0
        known = known + 2 * _odds_weight(strengths[one] - strengths[other]) * np.outer(contrast, contrast)
    return tuple(chosen)


def pair_gains(models: Sequence[str], results: Sequence[Judgment] = ()) -> dict[tuple[str, str], float]:
    """How much each pair, if it met next, would lower the summed variance of all differences; the names of a
    pair are in alphabetical order."""
    names = sorted(models)
    rows = [row for row in results if row.pro in names and row.con in names]
    strengths, known = _present_knowledge(names, rows)
    first, second = np.triu_indices(len(names), 1)
    gains = _gain(np.linalg.inv(known).astype(float), strengths, first, second)
    pairs = [(names[int(one)], names[int(other)]) for one, other in zip(first, second, strict=True)]
    return dict(zip(pairs, gains.tolist(), strict=True))


def _present_knowledge(names: list[str], rows: list[Judgment]) -> tuple[Floats, Floats]:
    """Strengths and the curvature, of debates that count once however many judges they had."""
    precision = np.eye(len(names)) / PRIOR_SD**2
    decided = [row for row in rows if row.winner != "none"]
    if not decided:
        return np.zeros(len(names)), precision
    table = as_table(decided)
    numbers = np.array([names.index(model) for model in table.models], np.intp)
    pro, con = numbers[table.pro], numbers[table.con]
    weight = 1.0 / np.bincount(table.debate)[table.debate]
    pairs, cell = np.unique(pro * len(names) + con, return_inverse=True)
    totals = np.bincount(cell, weight).astype(float)
    scores = np.bincount(cell, weight * table.score).astype(float)
    first, second, side = pairs // len(names), pairs % len(names), np.ones((len(pairs), 1))
    decisions = Decisions(len(names), first, second, side, totals, scores, np.zeros_like(totals))
    strengths = most_likely(decisions, prior_sd=PRIOR_SD)[: len(names)]
    return strengths, precision + _curvature(strengths, first, second, totals)


def _curvature(strengths: Floats, first: Integers, second: Integers, weight: Floats) -> Floats:
    count = len(strengths)
    matrix = np.zeros((count, count))
    values = weight * _odds_weight(strengths[first] - strengths[second])
    np.add.at(matrix, (first, first), values)
    np.add.at(matrix, (second, second), values)
    np.add.at(matrix, (first, second), -values)
    np.add.at(matrix, (second, first), -values)
    return matrix


def _odds_weight(difference: Floats | float) -> Floats:
    share = 1.0 / (1.0 + np.exp(-np.asarray(difference, float)))
    return share * (1.0 - share)


def _gain(covariance: Floats, strengths: Floats, first: Integers, second: Integers) -> Floats:
    """By how much each pair, held with both sides, lowers the summed variance of all differences."""
    weight = 2 * _odds_weight(strengths[first] - strengths[second])
    moved = covariance[:, first] - covariance[:, second]
    centred = moved - moved.mean(axis=0)
    own = moved[first, np.arange(len(first))] - moved[second, np.arange(len(first))]
    return weight * (centred**2).sum(axis=0) / (1.0 + weight * own)


def _largest(gain: Floats, random: np.random.Generator) -> int:
    """Of pairs that are equally good, one at random."""
    best = np.flatnonzero(gain >= gain.max() * (1 - 1e-9))
    return int(random.choice(best))


# --- how wide intervals will be -----------------------------------------------------------------------


class ExpectedWidths(Struct, frozen=True, kw_only=True):
    """What a plan can show, in points of rating; widths go from the lower to the upper end."""

    rating_width: float
    """Of the interval of a model's rating, on average."""
    widest_rating: float
    difference_width: float
    """Of the interval of the difference of two models, on average."""
    detectable: float
    """Two models so far apart are called separable in 80 of 100 experiments."""
    groups: int
    debates: int
    motions: int
    notes: tuple[str, ...] = ()


def expected_widths(
    plan: Sequence[Matchup],
    *,
    judges: int = 1,
    strengths: Mapping[str, float] | None = None,
    spread: float = 0.7,
    judge_correlation: float = 0.25,
    group_correlation: float = 0.0,
    motion_sd: float = MOTION_SD,
) -> ExpectedWidths:
    """How wide the intervals of a plan will be; infinite with one motion, which has none.

    Strengths are in log-odds; where none are known, models are assumed to be spread evenly with the standard
    deviation `spread`. The correlations are those of two judges of a debate, and of the two debates of a
    group, beyond what the strengths explain: 0 independent, 1 always the same. The defaults are about what
    3,544 public judgments show (0.21 and -0.13), rounded to the careful side. `motion_sd` is how much the
    strength of a model varies from motion to motion: that part shrinks with more motions alone.

    >>> from moot.extensions.experiments.measuring.pairing import round_robin
    >>> few = expected_widths(round_robin(["a", "b", "c"], [f"m{n}" for n in range(10)]))
    >>> many = expected_widths(round_robin(["a", "b", "c"], [f"m{n}" for n in range(40)]))
    >>> few.rating_width > 1.8 * many.rating_width
    True
    """
    if not plan or judges < 1:
        raise Invalid("A plan needs at least one matchup and one judge.")
    return expected_team_widths(
        [(unit.first, unit.second) for unit in plan],
        motions=[unit.motion for unit in plan],
        judges=judges,
        strengths=strengths,
        spread=spread,
        judge_correlation=judge_correlation,
        group_correlation=group_correlation,
        motion_sd=motion_sd,
    )


def expected_team_widths(
    groups: Sequence[Sequence[str]],
    *,
    motions: Sequence[str] | None = None,
    judges: int = 1,
    strengths: Mapping[str, float] | None = None,
    spread: float = 0.7,
    judge_correlation: float = 0.25,
    group_correlation: float = 0.0,
    motion_sd: float = MOTION_SD,
) -> ExpectedWidths:
    """The same for formats with three or more teams: each group is a set of models that meet in as many
    debates, so that each has every position once. `motions` are those of the groups; without them, each group
    has its own.

    A ranking of four teams says as much as 3.8 decisions between two of them, because what is known of one
    pair follows in part from the others.

    >>> many = expected_team_widths([("a", "b", "c", "d")] * 40)
    >>> few = expected_team_widths([("a", "b", "c", "d")] * 10)
    >>> 1.8 < few.rating_width / many.rating_width < 2.5
    True
    """
    if not groups or judges < 1:
        raise Invalid("A plan needs at least one group and one judge.")
    teams = len(groups[0])
    # The information of all choices of a ranking, spread evenly over its pairs.
    choices = sum(1 - 1 / left for left in range(2, teams + 1)) / (teams - 1)
    own = motions or [str(number) for number in range(len(groups))]
    pairs = [pair for group in groups for pair in combinations(group, 2)]
    motion_of = [motion for motion, group in zip(own, groups, strict=True) for _ in combinations(group, 2)]
    factor = dependence_factor(judges, judge_correlation, group_correlation)
    return _widths(
        pairs, motion_of, 4 * choices, factor, (strengths, spread), motion_sd,
        groups=len(groups), debates=teams * len(groups),
    )  # fmt: skip


def _widths(
    pairs: Sequence[tuple[str, str]],
    motion_of: Sequence[str],
    weight: float,
    factor: float,
    assumption: tuple[Mapping[str, float] | None, float],
    motion_sd: float,
    *,
    groups: int,
    debates: int,
) -> ExpectedWidths:
    """`motion_of`: the motion of each pair; `weight`: how many decisions each pair has."""
    names = sorted({name for pair in pairs for name in pair})
    assumed = _assumed(names, *assumption)
    codes = {name: number for number, name in enumerate(names)}
    first = np.array([codes[one] for one, _ in pairs], np.intp)
    second = np.array([codes[other] for _, other in pairs], np.intp)
    weights = np.full(len(pairs), weight)
    inverse = np.linalg.inv(_curvature(assumed, first, second, weights) + np.eye(len(names)) / PRIOR_SD**2)
    motions, motion = coded(motion_of)
    covariance = inverse.astype(float) * factor
    for number in range(len(motions)):
        rows = motion == number
        pulled = inverse @ _curvature(assumed, first[rows], second[rows], weights[rows])
        covariance += motion_sd**2 * pulled @ pulled.T
    centring = np.eye(len(names)) - 1 / len(names)
    covariance = centring @ covariance @ centring
    own = np.diag(covariance)
    one, other = np.triu_indices(len(names), 1)
    gaps = np.sqrt(own[one] + own[other] - 2 * covariance[one, other])
    reach = t_quantile(len(motions) - 1)
    widths = 2 * reach * SCALE * np.sqrt(own)
    notes: list[str] = []
    if len(motions) < FEW_MOTIONS:
        notes.append(
            f"Only {plural(len(motions), 'motion')}: more motions narrow the intervals, more repeats hardly."
        )
    return ExpectedWidths(
        rating_width=float(widths.mean()),
        widest_rating=float(widths.max()),
        difference_width=float(2 * reach * SCALE * gaps.mean()),
        detectable=float((reach + POWER) * SCALE * gaps.mean()),
        groups=groups,
        debates=debates,
        motions=len(motions),
        notes=tuple(notes),
    )


def dependence_factor(judges: int, judge_correlation: float, group_correlation: float) -> float:
    """The variance of the result of a debate, where that of one independent judgment is 1."""
    return (1 + (judges - 1) * judge_correlation + judges * group_correlation) / judges


def _assumed(names: Sequence[str], strengths: Mapping[str, float] | None, spread: float) -> Floats:
    if strengths is not None:
        return np.array([strengths.get(name, 0.0) for name in names])
    even = np.linspace(-1, 1, len(names))
    return even / max(float(even.std()), 1e-9) * spread
