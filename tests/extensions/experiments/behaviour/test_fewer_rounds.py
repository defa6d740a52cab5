"""Where a fixed table of speeches holds fewer rounds than were asked for, an experiment says so."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from moot import Arena, Settings
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.runner import ExperimentRunner
from tests.web.behaviour.test_fewer_rounds import ASKED, sentence


async def test_it_is_told_before_the_start(tmp_path: Path) -> None:
    name = "lincoln-douglas"
    wished = ExperimentDefinition(
        name="league",
        models=("scripted/a", "scripted/b"),
        motions=("Homework should be banned",),
        format=name,
        rounds=ASKED,
        judges=("scripted/owl",),
    )
    async with Arena.open(Settings(data=tmp_path, scripted=True, model="scripted/demo")) as arena:
        found = await ExperimentRunner(arena, wished).estimate()
        usual = await ExperimentRunner(arena, replace(wished, rounds=None)).estimate()
    assert found.warnings == (sentence(name),)
    assert usual.warnings == ()
