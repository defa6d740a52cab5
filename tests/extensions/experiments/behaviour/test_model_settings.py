"""Settings of a model in an experiment's file: two efforts are two contestants, and refusals are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from moot import Arena, Settings
from moot.core.errors import Invalid
from moot.extensions.experiments.measuring.definition import read_definition
from moot.extensions.experiments.measuring.leg_results import read_result
from moot.extensions.experiments.models import contestant
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.providers.scripted import ScriptedProvider
from tests.engine.conftest import OpenArena

FILE = """
name = "efforts"
models = ["scripted/one", {model = "scripted/one", effort = "high", max_tokens = 900}]
motions = ["Homework should be banned"]
judges = ["scripted/coin", {model = "scripted/coin", temperature = 0.5}]
format = "free"
options = {turns = 2}
"""
HARD = "scripted/one (effort high, max_tokens 900)"


def written(folder: Path, text: str) -> Path:
    path = folder / "efforts.toml"
    path.write_text(text)
    return path


async def test_a_model_with_two_efforts_is_two_contestants(tmp_path: Path, open_arena: OpenArena) -> None:
    definition, provider = read_definition(written(tmp_path, FILE)), ScriptedProvider()
    assert definition.models == ("scripted/one", HARD)
    async with open_arena(provider) as arena:
        await ExperimentRunner(arena, definition).run()
        legs = await arena.store.tables(EXPERIMENTS).legs("efforts")
        rows = [row for leg in legs for row in read_result(leg.result or "").judgments]
        opened = await arena.state(legs[0].debate)
        assert await ExperimentRunner(arena, definition).rejudge() == 0, "these judges have judged it"
    assert {(row.pro, row.con) for row in rows} == {("scripted/one", HARD), (HARD, "scripted/one")}
    assert {row.judge for row in rows} == {"scripted/coin", "scripted/coin (temperature 0.5)"}
    assert {seat.model.max_tokens for seat in opened.seats} == {900, 4096}
    asked = {(call.model.name, call.model.effort, call.model.temperature) for call in provider.calls}
    assert asked == {("one", None, None), ("one", "high", None), ("coin", None, None), ("coin", None, 0.5)}


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("openai/gpt-6-luna (temperature 0.5)", "does not take a temperature"),
        ("local/smollm2-135m (effort high)", "does not take the effort high"),
        ("mistral/mistral-small-latest (service_tier flex)", "the service tier flex"),
        ("scripted/one (effort turbo)", "Invalid enum value 'turbo'"),
        ("scripted/one (temperature 9)", "temperature"),
    ],
)
async def test_what_a_service_refuses_is_told_before_anything_is_held(
    tmp_path: Path, model: str, problem: str
) -> None:
    definition = replace(read_definition(written(tmp_path, FILE)), models=("scripted/one", model))
    async with Arena.open(Settings(data=tmp_path, scripted=True, environ={}), plan_only=True) as arena:
        with pytest.raises(Invalid, match=problem):
            await ExperimentRunner(arena, definition).estimate()


def test_a_field_that_there_is_not_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"Did you mean effort\? Known fields: effort, temperature"):
        read_definition(written(tmp_path, FILE.replace("effort =", "efort =")))


async def test_without_settings_it_is_the_model_as_always(open_arena: OpenArena) -> None:
    async with open_arena() as arena:
        assert contestant(arena, "scripted/one") == arena.model("scripted/one")
