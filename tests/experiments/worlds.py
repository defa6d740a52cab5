"""Simulated worlds for the tests: who meets whom, and how strong they are."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from moot.experiments import SimulatedJudge, SimulatedWorld
from moot.experiments.simulation import Unit

JUDGES = tuple(SimulatedJudge(name=f"judge {number}") for number in range(3))


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
    settings = {"judges": JUDGES, "debate_share": 0.3, "group_share": 0.2, "side": 0.4, **changes}
    return SimulatedWorld(strengths=models, **settings)  # pyright: ignore[reportArgumentType]
