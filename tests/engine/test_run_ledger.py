"""A run remembers names and sums of its debates, and neither their results nor their states."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from moot import Arena, Settings
from moot.engine.experiment_runner import ExperimentRunner
from moot.engine.run_ledger import RunLedger
from moot.experiments.definition import ExperimentDefinition
from moot.experiments.judgments import Judgment
from moot.experiments.leg_results import LegResult
from moot.store.experiment_rows import ExperimentLeg
from moot.store.experiment_tables import EXPERIMENTS

LEAGUE = ExperimentDefinition(
    name="league",
    models=("scripted/a", "scripted/b"),
    motions=("Homework should be banned", "Zoos do more good than harm"),
    judges=("scripted/owl",),
    format="free",
    options={"turns": 2},
    concurrency=1,
)


def result(number: int, *, status: str = "completed", cost: float | None = 0.01) -> LegResult:
    row = Judgment(
        group=f"{number // 2}", debate=f"deb_{number}", pro="a", con="b", judge="owl", winner="pro",
        motion="A motion of ordinary length, as people write them", pro_words=200, con_words=201,
    )  # fmt: skip
    rows = (row,) * 6
    return LegResult(
        row.debate, status, row.motion, "Proposition wins", cost, 1.0, rows, transcript=f"{number:032}"
    )


def leg(number: int, spent: int = 10_000) -> ExperimentLeg:
    return ExperimentLeg(f"leg {number}", f"deb_{number}", spent)


def test_a_leg_counts_once_however_often_its_debate_goes_on() -> None:
    ledger = RunLedger(3, None, keep_rows=False)
    ledger.begin(leg(1, 500_000))
    assert ("leg 1" in ledger, ledger.is_over("leg 1"), ledger.begun, ledger.spent) == (True, False, 1, 0)
    ledger.settle(leg(1), result(1, status="error", cost=None))
    assert (ledger.finished, ledger.failed, ledger.unpriced, list(ledger.open)) == (0, 1, True, ["leg 1"])
    ledger.settle(leg(1, 30_000), result(1))
    assert (ledger.finished, ledger.failed, ledger.unpriced, list(ledger.open)) == (1, 0, False, [])
    assert (float(ledger.spent), ledger.begun) == (0.03, 1)


def test_a_leg_that_is_held_again_is_not_over() -> None:
    ledger = RunLedger(1, None, keep_rows=False)
    ledger.settle(ExperimentLeg("leg 1", "deb_1", 10, held=4), result(1))
    assert (ledger.has_result("leg 1"), ledger.is_over("leg 1"), list(ledger.open)) == (
        True,
        False,
        ["leg 1"],
    )


def test_what_is_kept_of_a_debate_is_small() -> None:
    ledger = RunLedger(1000, None, keep_rows=False)
    tracemalloc.start()
    for number in range(1000):
        ledger.settle(leg(number), result(number))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept / 1000 < 1000, "bytes a debate"


def test_rows_for_the_pairing_come_in_the_order_of_the_legs() -> None:
    ledger = RunLedger(2, None, keep_rows=True)
    for number in (2, 1):
        ledger.settle(leg(number), result(number))
    assert [row.debate for row in ledger.rows()][::6] == ["deb_1", "deb_2"]
    assert {row.winner for row in ledger.rows()} == {"pro"}


async def test_the_states_of_debates_that_are_over_are_not_kept(tmp_path: Path) -> None:
    async with Arena.open(Settings(data=tmp_path, scripted=True, model="scripted/demo")) as arena:
        await ExperimentRunner(arena, LEAGUE).run()
        assert await ExperimentRunner(arena, LEAGUE).rejudge(["scripted/raven"]) == 4
        legs = await arena.store.tables(EXPERIMENTS).legs("league")
    # The last ones may still be put away by their runners when the experiment is over.
    assert sum(arena.store.cached_state(one.debate) is not None for one in legs) <= LEAGUE.concurrency
