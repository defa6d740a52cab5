"""Panels with one judge whose fault is known, and panels of fair judges: who is accused of what?

    python -m tests.extensions.experiments.planted_judges [--seeds 20]

Every panel has three judges, who read 200 debates (20 motions, five pairs of five models on each, both sides)
twice, by side. Fair judges decide alike in most debates, and motions suit some models and sides. With 20
seeds, the table is written into docs/experiments.md.
"""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from pathlib import Path

from msgspec import Struct

from moot.experiments import SimulatedJudge, SimulatedWorld, judge_report, simulate
from moot.extensions.experiments.measuring.judge_checks import Fault, JudgeCheck

PAGE = Path(__file__).parents[3] / "docs" / "experiments.md"
BEGIN, END = (
    f"<!-- python -m tests.extensions.experiments.planted_judges: {part} -->" for part in ("begin", "end")
)
SEEDS = 20
FAIR_PANELS = 300
MODELS = {"claude-a": 0.5, "claude-b": -0.3, "gpt-a": 0.2, "qwen-a": 0.0, "gemini-a": -0.4}
MOTIONS = 20
SUSPECT = "claude-judge"
FAIR = (SimulatedJudge(name="mistral-judge"), SimulatedJudge(name="grok-judge"))


class Planted(Struct, frozen=True):
    fault: Fault | None
    """What must be found; None: nothing."""
    title: str
    strength: str
    biases: dict[str, float]

    @property
    def judge(self) -> SimulatedJudge:
        return SimulatedJudge(name=SUSPECT, **self.biases)


PLANTED = (
    Planted("first-listed", "first listed", "1.0: 73 % for the first label", {"label": 1.0}),
    Planted("read-first", "last read", "1.0: 73 % for the side read last", {"primacy": -1.0}),
    Planted("longer", "longer", "4.0 a doubling: 79 % for a quarter more words", {"length": 4.0}),
    Planted("own family", "own family", "1.5: 82 % for its own family", {"family": 1.5}),
    Planted("proposition", "proposition", "1.5: 82 % for the motion", {"side": 1.5}),
    Planted("coin", "coin", "all ballots", {"coin": 1.0}),
    Planted("bribed", "bribed", "2.0: 88 % for the side that addresses it", {"bribe": 2.0}),
    Planted("unreadable", "unreadable", "30 % of the ballots", {"unreadable": 0.3}),
    Planted(None, "fair", "none", {}),
)


def checked(planted: Planted, seed: int) -> tuple[JudgeCheck, ...]:
    """The checks of one panel with this judge on it."""
    pairs = list(combinations(MODELS, 2))
    units = [
        (f"motion {motion}", *pairs[(5 * motion + place) % len(pairs)])
        for motion in range(MOTIONS)
        for place in range(5)
    ]
    world = SimulatedWorld(
        strengths=MODELS, judges=(planted.judge, *FAIR), side=0.3, debate_share=0.8, both_orders=True,
        by_side=True, addresses=0.2, motion_sd=0.3, motion_side_sd=0.5,
    )  # fmt: skip
    return judge_report(simulate(world, units, seed=seed)).checks


def is_found(planted: Planted, checks: tuple[JudgeCheck, ...]) -> bool:
    return any(check.found and check.judge == SUSPECT and check.fault == planted.fault for check in checks)


def false_accusations(planted: Planted, checks: tuple[JudgeCheck, ...]) -> tuple[int, int]:
    """How many tests of fair judges accuse them, and of how many."""
    fair = [check for check in checks if check.judge != SUSPECT or planted.fault is None]
    return sum(check.found for check in fair), len(fair)


def table_line(planted: Planted, seeds: int) -> str:
    runs = [checked(planted, seed) for seed in range(seeds)]
    accused = [false_accusations(planted, checks) for checks in runs]
    wrong, tests = sum(found for found, _ in accused), sum(count for _, count in accused)
    found = f"{sum(is_found(planted, checks) for checks in runs)} of {seeds}"
    if planted.fault is None:
        found = f"{sum(wrong > 0 for wrong, _ in accused)} of {seeds} panels"
    return f"| {planted.title} | {planted.strength} | {found} | {wrong} of {tests:,} ({wrong / tests:.1%}) |"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", type=int, default=SEEDS)
    seeds = arguments.parse_args().seeds
    lines = ["| judge | planted | found | tests that accuse a fair judge |", "|---|---|---|---|"]
    for planted in PLANTED:
        lines.append(table_line(planted, seeds if planted.fault else seeds * FAIR_PANELS // SEEDS))
        sys.stdout.write(f"{lines[-1]}\n")
        sys.stdout.flush()
    if seeds == SEEDS:
        before, rest = PAGE.read_text("utf-8").split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, "utf-8")


if __name__ == "__main__":
    main()
