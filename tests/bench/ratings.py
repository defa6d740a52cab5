"""Ratings of 100,000 simulated matchups on 500 motions, beside 500 fits by evalica."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import combinations, cycle, islice

import evalica
import numpy as np

from moot.experiments import JudgmentTable, SimulatedJudge, SimulatedWorld, rate_models, simulate
from tests.bench.figures import Figure, figure
from tests.bench.measure import measured

GROUPS, MOTIONS, FITS = 100_000, 500, 3


async def bench() -> AsyncIterator[Figure]:
    for models, judges in ((30, 1), (30, 3), (100, 1)):
        table = _table(models, judges)
        with measured() as ours:
            rate_models(table)
        yield figure(
            f"{GROUPS:,} groups, {models} models, {judges} judges, {MOTIONS:,} motions",
            ours.wall,
            "s",
            limit=("evalica, as many fits", _evalica(table)),
            goal=10.0,
            goal_for="value",
            note=f"evalica: by the time of {FITS} fits, without side term or intervals",
        )


def _table(models: int, judges: int) -> JudgmentTable:
    drawn = np.random.default_rng(0).normal(0, 0.7, models)
    strengths = {f"model {number}": float(one) for number, one in enumerate(drawn)}
    panel = tuple(SimulatedJudge(name=f"judge {number}") for number in range(judges))
    world = SimulatedWorld(strengths=strengths, judges=panel, side=0.3, debate_share=0.3)
    pairs = islice(cycle(combinations(strengths, 2)), GROUPS)
    return simulate(world, [(f"motion {number % MOTIONS}", *pair) for number, pair in enumerate(pairs)])


def _evalica(table: JudgmentTable) -> float:
    """Seconds of wall clock for as many fits as there are motions."""
    rows = (
        [table.models[int(code)] for code in table.pro],
        [table.models[int(code)] for code in table.con],
        [evalica.Winner.X if score else evalica.Winner.Y for score in table.score.tolist()],
    )
    with measured() as spent:
        for _ in range(FITS):
            evalica.bradley_terry(*rows)
    return spent.wall / FITS * MOTIONS
