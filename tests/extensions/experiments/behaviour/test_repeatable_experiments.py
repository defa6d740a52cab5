"""The same file and seed give the same experiment again: every word, every label, every ballot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from moot import Arena
from moot.core.terms import Request
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.leg_results import LegResult, read_result
from moot.extensions.experiments.measuring.questions import Question
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, improvise
from tests.engine.conftest import OpenArena
from tests.extensions.experiments.test_runner import LEAGUE, settings

VARIES = {"debate", "seconds", "pro_seconds", "con_seconds", "judge_seconds"}
REPEATED = replace(
    LEAGUE,
    models=("scripted/a", "scripted/b"),
    judges=("scripted/owl", "scripted/raven"),
    repeats=2,
    seed=7,
    options={"reading": "by-side", "beliefs": True},
)
TRUTH = ExperimentDefinition(
    name="league",
    models=("scripted/a", "scripted/b"),
    judges=("scripted/owl",),
    format="",
    questions=(Question("q", "What is heavier?", ("Lead", "Cork"), 0, "p"),),
    passages={"p": "Lead is heavier than cork."},
    protocols=("debate", "open-debate", "consultancy", "naive"),
)


def comparable(value: Any) -> Any:
    """Without ids and times."""
    match value:
        case dict():
            named = cast("dict[str, Any]", value)
            return {name: comparable(each) for name, each in named.items() if name not in VARIES}
        case list():
            return [comparable(each) for each in cast("list[Any]", value)]
        case _:
            return value


async def held(arena: Arena, definition: ExperimentDefinition) -> dict[str, LegResult]:
    await ExperimentRunner(arena, definition).run()
    legs = await arena.store.tables(EXPERIMENTS).legs(definition.name)
    return {leg.leg: read_result(leg.result or "") for leg in legs}


def as_bytes(results: dict[str, LegResult]) -> bytes:
    rows = msgspec.json.decode(msgspec.json.encode(results))
    return msgspec.json.encode(comparable(rows), order="sorted")


@pytest.mark.parametrize("definition", [REPEATED, TRUTH], ids=["motions", "questions"])
async def test_a_second_run_elsewhere_is_the_same_byte_for_byte(
    tmp_path: Path, definition: ExperimentDefinition
) -> None:
    found: list[bytes] = []
    for number in (1, 4):
        async with Arena.open(settings(tmp_path / str(number))) as arena:
            found.append(as_bytes(await held(arena, replace(definition, concurrency=number))))
    assert found[0] == found[1]
    assert b'"transcript"' in found[0]


async def test_each_repeat_has_other_speeches_and_another_seed(open_arena: OpenArena) -> None:
    async with open_arena() as arena:
        results = (await held(arena, REPEATED)).values()
    assert len({result.transcript for result in results}) == len(results) == 8
    assert {(result.repeat, result.seed) for result in results} == {(1, 7), (2, 10_007)}
    assert len({row.group for result in results for row in result.judgments}) == 2


async def test_models_that_ignore_the_seed_are_told_and_their_repeats_count_once(
    open_arena: OpenArena,
) -> None:
    def deaf(request: Request) -> Iterable[Cue]:
        return improvise(request) if request.schema else [SayCue(f"I am {request.model.name}, and right.")]

    async with open_arena(ScriptedProvider(deaf)) as arena:
        progress = await ExperimentRunner(arena, replace(REPEATED, options={})).run()
        report = await ExperimentRunner(arena, replace(REPEATED, options={})).report("1")
    assert progress.repeated.startswith("4 of 8 debates repeat another word for word")
    assert progress.repeated in report.notes
    assert report.ratings is not None
    assert report.ratings.debates == 4


async def test_one_motion_can_be_met_on_again_and_again(open_arena: OpenArena) -> None:
    def met(results: dict[str, LegResult]) -> Sequence[int]:
        return sorted(result.repeat for result in results.values())

    swiss = replace(REPEATED, motions=LEAGUE.motions[:1], pairing="swiss", matchups=3, repeats=1)
    async with open_arena() as arena:
        assert met(await held(arena, swiss)) == [1, 1, 2, 2, 3, 3]
