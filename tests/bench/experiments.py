"""Large experiments: scheduling their debates, progress, a report and an export over 10,000 of them.

The debates are made up, with two judges that read each twice: what is measured is the experiment,
not the debates. Memory is what the process has at its peak beyond what it had before.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from threading import Event, Thread

import msgspec
import numpy as np
import psutil

from moot import Arena, Settings
from moot.engine.experiment_runner import ExperimentRunner
from moot.engine.stored_tables import experiment_debates, write_tables
from moot.experiments.definition import ExperimentDefinition
from moot.experiments.judgments import Judgment
from moot.experiments.leg_results import LegResult, read_result
from moot.experiments.planned_debates import PlannedDebate, all_legs
from moot.store.experiment_tables import EXPERIMENTS
from tests.bench.figures import Figure, figure
from tests.bench.measure import measured, temporary_folder

SCHEDULED, LARGE = 1_000, 10_000
POLLS = 50
MODELS = 20
JUDGES = ("judge/one", "judge/two")


async def bench() -> AsyncIterator[Figure]:
    with temporary_folder() as folder:
        async with Arena.open(Settings(data=folder, scripted=True, model="scripted/demo")) as arena:
            yield await _scheduling(arena, folder)
            definition = _definition("large", LARGE)
            results = await _fill(arena, definition)
            yield await _progress(arena, definition, folder)
            yield await _report(arena, definition, results)
            yield await _export(arena, definition, results, folder)


def _definition(name: str, debates: int) -> ExperimentDefinition:
    models = tuple(f"scripted/{number}" for number in range(MODELS))
    pairs = len(list(combinations(models, 2)))
    motions = tuple(f"Motion number {number} should pass" for number in range(-(-debates // (2 * pairs))))
    return ExperimentDefinition(
        name=name, models=models, motions=motions, judges=JUDGES, matchups=debates // 2
    )


async def _scheduling(arena: Arena, folder: Path) -> Figure:
    """What an experiment adds to each of its debates: the plan, the reservation and the result."""
    definition = _definition("scheduled", SCHEDULED)
    await arena.store.tables(EXPERIMENTS).save(definition.name, definition.to_json())
    with measured() as spent:
        legs = all_legs(definition, 2)
        for number, leg in enumerate(legs):
            await arena.store.tables(EXPERIMENTS).reserve(
                definition.name, 1, leg.leg, f"sched_{number}", 1000, 10**9
            )
        results = [(leg, _result(leg, number)) for number, leg in enumerate(legs)]
        for leg, result in results:
            await arena.store.tables(EXPERIMENTS).settle(
                definition.name, leg.leg, 900, result.to_json(), pro_share=result.pro_share
            )
    return figure(
        f"scheduling, {SCHEDULED:,} debates with a budget",
        spent.cpu / SCHEDULED * 1e3,
        "ms CPU a debate",
        limit=("bare sqlite3, the same rows and commits", _bare(folder / "bare.db", results)),
        goal=1.0,
        goal_for="value",
    )


def _bare(path: Path, results: Sequence[tuple[PlannedDebate, LegResult]]) -> float:
    """ms of CPU a debate, of one insert and one update, each in a durable transaction."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE legs (leg TEXT PRIMARY KEY, reserved INTEGER, result TEXT)")
    encoded = [(leg.leg, result.to_json()) for leg, result in results]
    with measured() as spent:
        for leg, _ in encoded:
            database.execute("INSERT INTO legs VALUES (?, 1000, NULL)", (leg,))
        for leg, result in encoded:
            database.execute("UPDATE legs SET reserved = 900, result = ? WHERE leg = ?", (result, leg))
    database.close()
    return spent.cpu / len(results) * 1e3


async def _fill(arena: Arena, definition: ExperimentDefinition) -> list[str]:
    """An experiment whose debates are all over; returns their results."""
    store, written = arena.store.tables(EXPERIMENTS), list[str]()
    await store.save(definition.name, definition.to_json())
    legs = all_legs(definition, 2)

    async def settled(number: int, leg: PlannedDebate) -> None:
        await store.reserve(definition.name, 1, leg.leg, f"large_{number}", 1000, None)
        result = _result(leg, number)
        written.append(result.to_json())
        await store.settle(definition.name, leg.leg, 900, written[-1], pro_share=result.pro_share)

    for start in range(0, len(legs), 200):
        chunk = enumerate(legs[start : start + 200], start)
        await asyncio.gather(*(settled(number, leg) for number, leg in chunk))
    await store.set_state(definition.name, "done")
    return written


def _result(leg: PlannedDebate, number: int) -> LegResult:
    random = np.random.default_rng(number)
    strengths = [int(model.partition("/")[2]) / 10 for model in leg.models]
    chance = 1 / (1 + np.exp(strengths[1] - strengths[0]))
    ballots = tuple(
        Judgment(
            group=leg.group, debate=f"large_{number}", pro=leg.models[0], con=leg.models[1], judge=judge,
            winner="pro" if random.random() < chance else "con", margin=5.0, experiment="large",
            motion=leg.motion, format="oxford", pro_seat="seat_1", con_seat="seat_2", order=order,
            last_word="con", pro_words=300 + number % 90, con_words=310, pro_markup=2, con_markup=1,
            pro_cost=0.001, con_cost=0.002, pro_seconds=10.0, con_seconds=11.0, judge_cost=0.0005,
            judge_seconds=4.0,
        )
        for judge in JUDGES
        for order in (0, 1)
    )  # fmt: skip
    return LegResult(
        debate=f"large_{number}", status="completed", motion=leg.motion, cost=0.01, seconds=60.0,
        headline="A wins, arguing for", judgments=ballots,
    )  # fmt: skip


async def _progress(arena: Arena, definition: ExperimentDefinition, folder: Path) -> Figure:
    runner = ExperimentRunner(arena, definition)
    with measured() as spent:
        for _ in range(POLLS):
            await runner.stored_progress()
    database = sqlite3.connect(folder / "moot.db")
    with measured() as bare:
        for _ in range(POLLS):
            database.execute("SELECT count(*) FROM experiment_legs WHERE experiment = 'large'").fetchall()
    database.close()
    return figure(
        f"progress, {LARGE:,} debates",
        spent.cpu / POLLS * 1e3,
        "ms CPU a poll",
        limit=("count(*) in sqlite3", bare.cpu / POLLS * 1e3),
        goal=10.0,
        goal_for="value",
    )


async def _report(arena: Arena, definition: ExperimentDefinition, results: Sequence[str]) -> Figure:
    with measured() as decoding:
        for result in results:
            read_result(result)
    with _memory() as memory, measured() as spent:
        report = await ExperimentRunner(arena, definition).report("bench")
    assert report.held == LARGE
    return figure(
        f"report, {LARGE:,} debates, {4 * LARGE:,} ballots",
        spent.cpu,
        "s CPU",
        limit=("decoding the stored results", decoding.cpu),
        goal=10.0,
        goal_for="value",
        note=f"{memory[0]:.0f} MB of memory; with intervals, leave-one-judge-out and style; no log is read",
    )


async def _export(
    arena: Arena, definition: ExperimentDefinition, results: Sequence[str], folder: Path
) -> Figure:
    rows = [msgspec.json.decode(result)["judgments"] for result in results]
    with (folder / "bare.jsonl").open("wb") as file, measured() as bare:
        for ballots in rows:
            for row in ballots:
                file.write(msgspec.json.encode(row) + b"\n")
    del rows
    with _memory() as memory, measured() as spent:
        debates = experiment_debates(arena.store, definition.name, ("ratings",))
        counts = await write_tables({"ballots": folder / "ballots.parquet"}, debates)
    assert counts["ballots"] == 4 * LARGE
    return figure(
        f"export to Parquet, {4 * LARGE:,} ballots",
        spent.cpu,
        "s CPU",
        limit=("encoding the same rows as JSON lines", bare.cpu),
        note=f"{memory[0]:.0f} MB of memory",
    )


@contextmanager
def _memory() -> Iterator[list[float]]:
    """The most MB that the process had beyond those at the start, seen every 20 ms."""
    process, over, peak = psutil.Process(), Event(), [0.0]
    before = process.memory_info().rss

    def watch() -> None:
        while not over.wait(0.02):
            peak[0] = max(peak[0], (process.memory_info().rss - before) / 1e6)

    watching = Thread(target=watch)
    watching.start()
    try:
        yield peak
    finally:
        over.set()
        watching.join()
