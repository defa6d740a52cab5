"""How often intervals hold the truth in simulated experiments: python -m tests.experiments [--runs 400].

Every line is one kind of experiment, with the share of 95 % intervals that hold the true rating, the true
difference of two models and the true effect of the side. All should lie between 93 and 97 %.
"""

from __future__ import annotations

import argparse

import numpy as np
from msgspec import Struct

from moot.experiments import SimulatedJudge, rate_models, simulate
from moot.experiments.leaderboard import SCALE
from moot.experiments.simulation import covered
from tests.experiments.worlds import round_robin_units, strengths, world

SIDE = 0.4


class Kind(Struct, frozen=True):
    title: str
    models: int
    rounds: int
    settings: dict[str, object] = {}
    options: dict[str, object] = {}


BIASED = (
    SimulatedJudge(name="first", order=0.6),
    SimulatedJudge(name="wordy", order=0.6, length=1.0),
    SimulatedJudge(name="plain", length=0.5),
)
KINDS = (
    Kind("small: 6 models, 60 groups", 6, 4),
    Kind("6 models, 150 groups", 6, 10),
    Kind("10 models, 225 groups", 10, 5),
    Kind("10 models, 900 groups", 10, 20),
    Kind("20 models, 760 groups", 20, 4),
    Kind("one judge", 8, 8, {"judges": (SimulatedJudge(name="one"),), "debate_share": 0.0}),
    Kind("ties, Davidson", 8, 10, {"tie": 1.0}, {"ties": "davidson"}),
    Kind(
        "biased judges, with terms", 8, 10, {"judges": BIASED},
        {"terms": ("side", "order:judge", "length:judge")},
    ),
    Kind("equal pairs", 8, 10, {}, {"pair_weight": "equal"}),
)  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=400)
    runs = arguments.parse_args().runs
    print(f"{'experiment':32} {'ratings':>8} {'pairs':>8} {'side':>8}   of {runs} runs")
    for kind in KINDS:
        shares = np.array([one_run(kind, run) for run in range(runs)]).mean(axis=0)
        print(f"{kind.title:32} " + " ".join(f"{share:8.1%}" for share in shares), flush=True)


def one_run(kind: Kind, run: int) -> tuple[float, float, float]:
    models = strengths(kind.models, run)
    table = simulate(
        world(models, side=SIDE, **kind.settings), round_robin_units(models, kind.rounds), seed=run
    )
    board = rate_models(table, bootstraps=400, seed=run, **kind.options)
    truth = [1500 + SCALE * models[row.model] for row in board.models]
    gaps = [SCALE * (models[one.better] - models[one.worse]) for one in board.differences]
    side = board.effect("side")
    assert side is not None
    return (
        covered([(row.low, row.high) for row in board.models], truth),
        covered([(one.low, one.high) for one in board.differences], gaps),
        covered([(side.low, side.high)], [SIDE]),
    )


if __name__ == "__main__":
    main()
