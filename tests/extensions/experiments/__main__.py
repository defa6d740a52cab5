"""How often intervals hold the truth in simulations: python -m tests.extensions.experiments [--runs 400].

Every line is one kind of experiment, with the share of 95 % intervals that hold the true rating, the true
difference of two models and the true effect of the side. All should lie between 93 and 97 %. With 400 runs,
the table is written into docs/experiments.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from msgspec import Struct

from moot.experiments import SimulatedJudge, SimulatedWorld, rate_models, simulate
from moot.extensions.experiments.measuring.leaderboard import SCALE
from moot.extensions.experiments.measuring.simulation import Unit
from tests.extensions.experiments import worlds

PAGE = Path(__file__).parents[3] / "docs" / "experiments.md"
BEGIN, END = (
    "<!-- python -m tests.extensions.experiments: begin -->",
    "<!-- python -m tests.extensions.experiments: end -->",
)
TASTES = 0.5
UnitsOf = Callable[[dict[str, float], int, int], list[Unit]]


def round_robin(models: dict[str, float], motions: int, run: int) -> list[Unit]:
    return worlds.round_robin_units(models, motions)


def repeated(models: dict[str, float], motions: int, run: int) -> list[Unit]:
    return worlds.round_robin_units(models, motions) * 3


class Kind(Struct, frozen=True, eq=False):
    title: str
    models: int
    motions: int
    settings: Mapping[str, object] = {}
    options: Mapping[str, object] = {}
    units: UnitsOf = round_robin
    judges_with_tastes: int = 0
    circle: float = 0.0


BIASED = (
    SimulatedJudge(name="first", order=0.6),
    SimulatedJudge(name="wordy", order=0.6, length=1.0),
    SimulatedJudge(name="plain", length=0.5),
)
SUITS = {"motion_sd": 0.5}
KINDS = (
    Kind("independent motions", 6, 20),
    Kind("motions suit some models", 6, 20, SUITS),
    Kind("one-sided motions", 6, 20, {"motion_side_sd": 1.0}),
    Kind("both", 6, 20, {**SUITS, "motion_side_sd": 1.0}),
    Kind("6 motions, both", 6, 6, {**SUITS, "motion_side_sd": 1.0}),
    Kind("10 motions, both", 6, 10, {**SUITS, "motion_side_sd": 1.0}),
    Kind("60 motions, 12 models, both", 12, 60, {**SUITS, "motion_side_sd": 1.0}),
    Kind("judges who agree", 6, 20, {**SUITS, "debate_share": 0.8, "group_share": 0.0}),
    Kind("judges with tastes, these judges", 6, 20, SUITS, judges_with_tastes=5),
    Kind("judges with tastes, over judges", 6, 20, SUITS, {"over": "judges"}, judges_with_tastes=5),
    Kind("12 judges with tastes, over judges", 6, 20, SUITS, {"over": "judges"}, judges_with_tastes=12),
    Kind("motions and pairs of unequal numbers", 6, 30, SUITS, units=worlds.uneven_units),
    Kind("models that beat each other in a circle", 6, 20, SUITS, circle=0.8),
    Kind("ties as halves", 6, 20, {**SUITS, "tie": 1.0}),
    Kind("ties, Davidson", 6, 20, {**SUITS, "tie": 1.0}, {"ties": "davidson"}),
    Kind("three repeats", 6, 20, SUITS, units=repeated),
    Kind("one judge", 6, 20, {**SUITS, "judges": (SimulatedJudge(name="one"),), "debate_share": 0.0}),
    Kind(
        "biased judges, with terms", 6, 20, {"judges": BIASED},
        {"terms": ("side", "order:judge", "length:judge")},
    ),
    Kind("equal pairs, unequal numbers", 6, 30, SUITS, {"pair_weight": "equal"}, worlds.uneven_units),
)  # fmt: skip


def one_run(kind: Kind, run: int) -> tuple[float, float, float]:
    """The shares of ratings, differences and side effects whose interval holds the truth."""
    world, truth = _world(kind, run)
    models = world.strengths
    table = simulate(world, kind.units(models, kind.motions, run), seed=run)
    board = rate_models(table, **kind.options)
    seen = [truth.strengths[row.model] for row in board.models]
    expected = [1500 + SCALE * (one - float(np.mean(seen))) for one in seen]
    gaps = [SCALE * (truth.strengths[one.better] - truth.strengths[one.worse]) for one in board.differences]
    side = board.effect("side")
    assert side is not None
    return (
        worlds.covered([(row.low, row.high) for row in board.models], expected),
        worlds.covered([(one.low, one.high) for one in board.differences], gaps),
        worlds.covered([(side.low, side.high)], [truth.side]),
    )


def _world(kind: Kind, run: int) -> tuple[SimulatedWorld, worlds.Truth]:
    models = worlds.strengths(kind.models, run)
    settings = dict(kind.settings)
    if kind.judges_with_tastes:
        settings["judges"] = worlds.tasteful_judges(kind.judges_with_tastes, models, TASTES, run)
    if kind.circle:
        settings["pair_effects"] = worlds.in_a_circle(models, kind.circle)
    made = worlds.world(models, **settings)
    others = kind.options.get("over") == "judges"
    davidson = kind.options.get("ties") == "davidson"
    if kind.options.get("terms"):
        return made, worlds.Truth(models, worlds.SIDE)
    return made, worlds.population_truth(made, taste_sd=TASTES if others else 0.0, davidson=davidson)


def as_table(found: dict[Kind, np.ndarray]) -> str:
    lines = ["| experiments | ratings | pairs | side |", "|---|---|---|---|"]
    for kind, runs in found.items():
        error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
        cells = [f"{share:.1%} ± {one:.1%}" for share, one in zip(runs.mean(axis=0), error, strict=True)]
        lines.append(f"| {kind.title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=400)
    arguments.add_argument("--only", default="", help="kinds whose title has this text")
    chosen = arguments.parse_args()
    kinds = [kind for kind in KINDS if chosen.only in kind.title]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read by the processes that are started below
    found: dict[Kind, np.ndarray] = {}
    with ProcessPoolExecutor(2) as pool:
        for kind in kinds:
            runs = pool.map(partial(one_run, kind), range(chosen.runs), chunksize=20)
            found[kind] = np.array(list(runs))
            sys.stdout.write(as_table({kind: found[kind]}).splitlines()[-1] + "\n")
            sys.stdout.flush()
    if chosen.runs == 400 and not chosen.only:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + as_table(found) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
