"""Simulated worlds for the tests: who meets whom, how strong they are, and what intervals must hold.

The truth of an interval is the fit to the expected results, averaged over the population of motions (and of
judges, where asked for): where motions or judges differ, that is not the planted strength, because averaged
log-odds shrink.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
from msgspec import Struct

from moot.experiments import SimulatedJudge, SimulatedWorld
from moot.extensions.experiments.measuring.bradley_terry import Decisions
from moot.extensions.experiments.measuring.likelihood import most_likely
from moot.extensions.experiments.measuring.simulation import Unit

JUDGES = tuple(SimulatedJudge(name=f"judge {number}") for number in range(3))
SIDE = 0.4
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


def strengths(count: int, seed: int = 0, sd: float = 0.7) -> dict[str, float]:
    """Made-up models whose strengths have the mean 0."""
    drawn = np.random.default_rng(seed).normal(0, sd, count)
    return {f"model {number}": float(one) for number, one in enumerate(drawn - drawn.mean())}


def round_robin_units(models: dict[str, float], rounds: int) -> list[Unit]:
    return [
        (f"motion {number}", one, other) for number in range(rounds) for one, other in combinations(models, 2)
    ]


def world(models: dict[str, float], **changes: object) -> SimulatedWorld:
    """Judges of a debate agree more often than by chance, and so do the two debates of a group."""
    settings = {"judges": JUDGES, "debate_share": 0.3, "group_share": 0.2, "side": SIDE, **changes}
    return SimulatedWorld(strengths=models, **settings)  # pyright: ignore[reportArgumentType]


class Truth(Struct, frozen=True):
    """What the intervals must hold, in log-odds."""

    strengths: dict[str, float]
    side: float


def population_truth(world: SimulatedWorld, *, taste_sd: float = 0.0, davidson: bool = False) -> Truth:
    """The fit to what is expected of every pair and side over all motions; over these judges, or with
    `taste_sd` over a population of judges whose tastes vary so much."""
    names = list(world.strengths)
    both = list(permutations(range(len(names)), 2))
    pairs = np.array(both, np.intp)
    judges = world.judges if not taste_sd else (SimulatedJudge(name="any"),)
    spread = np.sqrt(2 * (world.motion_sd**2 + taste_sd**2) + world.motion_side_sd**2)
    wins, ties = np.zeros(len(pairs)), np.zeros(len(pairs))
    for judge in judges:
        odds = np.array([_odds(world, judge, names[a], names[b]) for a, b in both])
        for node, weight in zip(NODES * spread, NODE_WEIGHTS / NODE_WEIGHTS.sum(), strict=True):
            win, tie = _chances(world, odds + node)
            wins += win * weight / len(judges)
            ties += tie * weight / len(judges)
    ones = np.ones(len(pairs))
    expected = Decisions(
        len(names), pairs[:, 0], pairs[:, 1], ones[:, None], ones, wins + ties / 2, ties, davidson
    )
    found = most_likely(expected, prior_sd=1e3)
    return Truth(dict(zip(names, found.tolist(), strict=False)), float(found[len(names)]))


def _odds(world: SimulatedWorld, judge: SimulatedJudge, pro: str, con: str) -> float:
    circle = world.pair_effects.get((pro, con), 0.0) - world.pair_effects.get((con, pro), 0.0)
    taste = judge.tastes.get(pro, 0.0) - judge.tastes.get(con, 0.0)
    return world.strengths[pro] - world.strengths[con] + world.side + judge.side + circle + taste


def _chances(world: SimulatedWorld, odds: Any) -> tuple[Any, Any]:
    if world.tie is None:
        return 1 / (1 + np.exp(-odds)), 0.0
    win, loss = np.exp(odds / 2), np.exp(-odds / 2)
    return win / (win + loss + world.tie), world.tie / (win + loss + world.tie)


def tasteful_judges(count: int, models: dict[str, float], sd: float, seed: int) -> tuple[SimulatedJudge, ...]:
    """Judges who each prefer some models."""
    random = np.random.default_rng([seed, 77])
    return tuple(
        SimulatedJudge(
            name=f"judge {number}",
            tastes=dict(zip(models, random.normal(0, sd, len(models)).tolist(), strict=True)),
        )
        for number in range(count)
    )


def uneven_units(models: dict[str, float], motions: int, seed: int) -> list[Unit]:
    """Motions with 1 to all pairs, drawn unevenly: some models and some motions have many times more."""
    random = np.random.default_rng([seed, 78])
    pairs = list(combinations(models, 2))
    liked = random.dirichlet(np.full(len(pairs), 1.5))
    units: list[Unit] = []
    for number in range(motions):
        count = int(np.ceil(len(pairs) * random.random() ** 2.5))
        chosen: list[int] = random.choice(len(pairs), count, replace=False, p=liked).tolist()
        units += [(f"motion {number}", *pairs[at]) for at in chosen]
    return units


def in_a_circle(models: dict[str, float], size: float) -> dict[tuple[str, str], float]:
    """Each model does better against the next one than their strengths say, and the last against the
    first."""
    names = list(models)
    return {(one, names[(at + 1) % len(names)]): size for at, one in enumerate(names)}


def covered(estimates: Sequence[tuple[float | None, float | None]], truth: Sequence[float]) -> float:
    """The share of intervals that hold the truth; an open end holds everything on its side."""
    held = [
        (low is None or low <= true) and (high is None or true <= high)
        for (low, high), true in zip(estimates, truth, strict=True)
    ]
    return sum(held) / len(held)
