"""How the commands of experiments reach the store, and the experiment of a name in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter

from moot.cli.run_command import run

if TYPE_CHECKING:
    from moot.engine.arena import Arena
    from moot.extensions.experiments.runner import ExperimentRunner
    from moot.extensions.experiments.store import StoredExperiment

T = TypeVar("T")
Name = Annotated[str, Parameter(help="The name of an experiment: `moot experiment list`.")]


def in_arena(work: Callable[[Arena], Awaitable[T]], *, plan_only: bool = False) -> T:
    async def open_and_work() -> T:
        from moot.engine.arena import Arena

        async with Arena.open(plan_only=plan_only) as arena:
            return await work(arena)

    return run(open_and_work())


async def find_experiment(arena: Arena, name: str) -> StoredExperiment:
    from moot.extensions.experiments.stored_tables import find_experiment

    return await find_experiment(arena.store, name)


def runner_of(arena: Arena, stored: StoredExperiment) -> ExperimentRunner:
    """With the definition that the experiment was last run with."""
    from moot.extensions.experiments.measuring.definition import from_json
    from moot.extensions.experiments.runner import ExperimentRunner

    return ExperimentRunner(arena, from_json(stored.definition))
