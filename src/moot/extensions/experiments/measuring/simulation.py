"""Judgments of made-up models whose strengths, and of judges whose biases, are known.

Estimates are tested on them: do the intervals hold the truth as often as they say, and are planted biases
found? Decisions of one debate, and of one group, depend on each other because judges share a draw with the
given probability; those of one motion, because it suits some models, or one of the sides. The same seed gives
the same table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.covariates import family_of
from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.tables import Floats, Integers, JudgmentTable, coded
from moot.judging.neutral_labels import LABELS

Unit = tuple[str, str, str]
"""Motion and the two models, which argue both sides of it."""


class SimulatedJudge(Struct, frozen=True, kw_only=True):
    """A judge with its biases, in log-odds; 0 is none."""

    name: str
    side: float = 0.0
    """For whoever argues for the motion."""
    order: float = 0.0
    """For the side that is shown first."""
    length: float = 0.0
    """For each doubling of the words."""
    family: float = 0.0
    """For models of its own maker."""
    tastes: dict[str, float] = {}
    """For single models."""
    label: float = 0.0
    """For the side whose label is listed first."""
    primacy: float = 0.0
    """For the side that is read first; less than 0: for the one that is read last."""
    bribe: float = 0.0
    """For a side that addresses the judge, where the other does not."""
    coin: float = 0.0
    """The share of its ballots that a coin decides."""
    unreadable: float = 0.0
    """The share of its ballots that cannot be read."""


class SimulatedWorld(Struct, frozen=True, kw_only=True):
    """Models, judges and effects whose true values are known."""

    strengths: dict[str, float]
    """In log-odds."""
    judges: tuple[SimulatedJudge, ...] = (SimulatedJudge(name="judge"),)
    side: float = 0.0
    """The advantage of arguing for the motion, with every judge."""
    last_word: float = 0.0
    tie: float | None = None
    """The parameter of Davidson's model; None: there are no ties."""
    debate_share: float = 0.0
    """How often judges of a debate decide by the same draw."""
    group_share: float = 0.0
    """How often the judges of both debates of a group do."""
    motion_sd: float = 0.0
    """How much the strength of a model varies from motion to motion: a standard deviation in log-odds."""
    motion_side_sd: float = 0.0
    """How much the advantage of the side does."""
    pair_effects: dict[tuple[str, str], float] = {}
    """For the first model against the second, beyond their strengths: models that beat each other in a
    circle."""
    length_sd: float = 0.3
    """Spread of the lengths, in doublings; longer or shorter at random."""
    both_orders: bool = False
    """Each judge reads each debate twice, with the other side first."""
    by_side: bool = False
    """The side that is read first changes too, apart from the labels. Otherwise `pro` is always read
    first."""
    addresses: float = 0.0
    """How often a side addresses the judge."""


def simulate(world: SimulatedWorld, units: Sequence[Unit], seed: int = 0) -> JudgmentTable:
    """The judgments of the units, each held with both sides and judged by all judges of the world. Units with
    the same motion and models are repeats of one group."""
    if not units or not world.judges:
        raise Invalid("A simulation needs at least one unit and one judge.")
    random = np.random.default_rng(seed)
    models, motions, pairs = tuple(world.strengths), *_coded_units(world, units)
    count, judges, readings = len(units), len(world.judges), 1 + world.both_orders
    # One axis each: units, the two debates, judges, readings.
    shape = (count, 2, judges, readings)
    pro = np.stack([pairs[:, 0], pairs[:, 1]], axis=1)
    con = pro[:, ::-1]
    # Rounded as words would be.
    length = np.round(random.normal(0.0, world.length_sd, (count, 2)), 2)
    last = np.where(random.random((count, 2)) < 0.5, 1, -1)
    first = np.broadcast_to(random.integers(0, 2, (count, 2, judges, 1)), shape)
    order = (first + np.arange(readings)) % 2
    odds = _odds(world, pro, con, length, last, order)
    odds += _motion_effects(world, motions[1], pro, con, random)[:, :, None, None]
    shown = _shown(world, order, seed)
    odds += shown.shift
    score = _spoiled(world, _scores(world, odds, random), seed)
    groups, group = coded([" | ".join((motion, *sorted(pair))) for motion, *pair in units])
    debate = np.arange(count * 2).reshape(count, 2)

    def spread(values: np.ndarray) -> np.ndarray:
        extended = values.reshape(values.shape + (1,) * (4 - values.ndim))
        return np.broadcast_to(extended, shape).ravel()

    return JudgmentTable(
        models=models,
        judges=tuple(judge.name for judge in world.judges),
        groups=groups,
        debates=tuple(f"debate {number}" for number in range(count * 2)),
        motions=motions[0],
        formats=("simulated",),
        pro=spread(pro), con=spread(con), group=spread(group), debate=spread(debate),
        judge=np.broadcast_to(np.arange(judges)[None, None, :, None], shape).ravel(),
        motion=spread(motions[1]), format=np.zeros(score.size, np.intp),
        score=score.ravel(),
        order=order.ravel(), read_first=shown.read_first.ravel(), label=shown.label.ravel(),
        address=spread(shown.address),
        last_word=spread(last), length=spread(length),
        markup=np.full(score.size, np.nan), eligible=np.ones(score.size, bool),
        own=np.ones(score.size, bool),
    )  # fmt: skip


class _Shown(Struct, frozen=True, eq=False):
    """What judges are shown beside the speeches, and what that adds to the odds."""

    read_first: Integers
    label: Integers
    address: Integers
    shift: Floats


def _shown(world: SimulatedWorld, order: Integers, seed: int) -> _Shown:
    # Random numbers of their own: worlds without such judges stay as they are.
    random = np.random.default_rng((seed, 1))
    place = 1 - 2 * order
    chance = np.where(random.random((*order.shape[:2], 1, 1)) < 0.5, 1, -1)
    label = place * chance if world.by_side else place
    read_first = place if world.by_side else np.ones_like(place)
    speaks = (random.random((2, *order.shape[:2])) < world.addresses).astype(np.intp)
    address = speaks[0] - speaks[1]
    shift = np.zeros(order.shape)
    for number, judge in enumerate(world.judges):
        shift[:, :, number] = judge.label * label[:, :, number] + judge.primacy * read_first[:, :, number]
        shift[:, :, number] += (judge.bribe * address)[:, :, None]
    return _Shown(read_first, label, address, shift)


def _spoiled(world: SimulatedWorld, score: Floats, seed: int) -> Floats:
    """The scores with those that a coin decides, and without those that cannot be read."""
    random = np.random.default_rng((seed, 2))
    which, coin, lost = random.random((3, *score.shape))
    coins = np.array([judge.coin for judge in world.judges])[None, None, :, None]
    unreadable = np.array([judge.unreadable for judge in world.judges])[None, None, :, None]
    tossed = np.where(which < coins, (coin < 0.5).astype(float), score)
    return np.where(lost < unreadable, np.nan, tossed)


def _coded_units(
    world: SimulatedWorld, units: Sequence[Unit]
) -> tuple[tuple[tuple[str, ...], Integers], Integers]:
    numbers = {name: number for number, name in enumerate(world.strengths)}
    unknown = {name for _, one, other in units for name in (one, other)} - set(numbers)
    if unknown:
        raise Invalid(f"No strength is given for {', '.join(sorted(unknown))}.")
    pairs = np.array([[numbers[one], numbers[other]] for _, one, other in units], np.intp)
    return coded([motion for motion, _, _ in units]), pairs


def _odds(
    world: SimulatedWorld,
    pro: np.ndarray,
    con: np.ndarray,
    length: Floats,
    last: np.ndarray,
    order: np.ndarray,
) -> Floats:
    strengths = np.array(list(world.strengths.values()))
    gaps = strengths[:, None] - strengths[None, :]
    names = list(world.strengths)
    for (one, other), effect in world.pair_effects.items():
        gaps[names.index(one), names.index(other)] += effect
        gaps[names.index(other), names.index(one)] -= effect
    families = np.array([family_of(name) or name for name in world.strengths])
    odds = (gaps[pro, con] + world.side + world.last_word * last)[:, :, None, None]
    odds = np.broadcast_to(odds, order.shape).copy()
    for number, judge in enumerate(world.judges):
        own = family_of(judge.name) or judge.name
        kin = (families[pro] == own).astype(float) - (families[con] == own)
        tastes = np.array([judge.tastes.get(name, 0.0) for name in names])
        shift = judge.side + judge.length * length + judge.family * kin + tastes[pro] - tastes[con]
        odds[:, :, number, :] += shift[:, :, None] + judge.order * (1 - 2 * order[:, :, number, :])
    return odds


def _motion_effects(
    world: SimulatedWorld, motion: Integers, pro: Integers, con: Integers, random: np.random.Generator
) -> Floats:
    """What the motion adds to the odds of each debate."""
    if not world.motion_sd and not world.motion_side_sd:
        return np.zeros(pro.shape)
    count = int(motion.max()) + 1
    suits = random.normal(0.0, world.motion_sd, (count, len(world.strengths)))
    sides = random.normal(0.0, world.motion_side_sd, count)
    return suits[motion[:, None], pro] - suits[motion[:, None], con] + sides[motion][:, None]


def _scores(world: SimulatedWorld, odds: Floats, random: np.random.Generator) -> Floats:
    groups = odds.shape[0]
    draw = random.random(odds.shape)
    which = random.random(odds.shape)
    shared = np.broadcast_to(random.random((groups, 2, 1, 1)), odds.shape)
    # In the second debate of a group the models have changed sides: so does the draw.
    common = random.random((groups, 1, 1, 1))
    common = np.broadcast_to(np.concatenate([common, 1 - common], axis=1), odds.shape)
    draw = np.where(which < world.group_share, common, draw)
    debate_limit = world.group_share + world.debate_share
    draw = np.where((which >= world.group_share) & (which < debate_limit), shared, draw)
    if world.tie is None:
        return (draw < 1 / (1 + np.exp(-odds))).astype(float)
    win, loss = np.exp(odds / 2), np.exp(-odds / 2)
    total = win + loss + world.tie
    return np.where(draw < win / total, 1.0, np.where(draw < (win + world.tie) / total, 0.5, 0.0))


def rows_of(table: JudgmentTable) -> tuple[Judgment, ...]:
    """The rows of a table, for files and for reading."""
    return tuple(_row(table, at) for at in range(len(table)))


def _row(table: JudgmentTable, at: int) -> Judgment:
    score, order, last = float(table.score[at]), int(table.order[at]), int(table.last_word[at])
    return Judgment(
        group=table.groups[int(table.group[at])],
        debate=table.debates[int(table.debate[at])],
        pro=table.models[int(table.pro[at])],
        con=table.models[int(table.con[at])],
        judge=table.judges[int(table.judge[at])],
        winner="none" if np.isnan(score) else "tie" if score == 0.5 else "pro" if score else "con",
        motion=table.motions[int(table.motion[at])],
        format=table.formats[int(table.format[at])],
        order=None if order < 0 else order,
        read_first=_side(int(table.read_first[at])),
        pro_label=_label(int(table.label[at])),
        con_label=_label(-int(table.label[at])),
        pro_addresses=int(table.address[at] > 0),
        con_addresses=int(table.address[at] < 0),
        last_word=_side(last),
        pro_words=_words(float(table.length[at])),
        con_words=_words(-float(table.length[at])),
        eligible=bool(table.eligible[at]),
    )


def _side(sign: int) -> Literal["pro", "con"] | None:
    return "pro" if sign > 0 else "con" if sign < 0 else None


def _label(sign: int) -> str:
    return LABELS[0] if sign > 0 else LABELS[1] if sign < 0 else ""


def _words(doublings: float) -> int | None:
    return None if np.isnan(doublings) else round(600 * 2 ** (doublings / 2))
