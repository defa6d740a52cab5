"""An experiment is planned and priced without keys; all that its models lack is told at once, and no unknown
price is told as nothing."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot import Arena, Settings
from moot.core.errors import Invalid, Unavailable
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.questions import Question
from moot.extensions.experiments.models import missing_for
from moot.extensions.experiments.progress import ExperimentProgress
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.providers.scripted import ScriptedProvider

STUDY = ExperimentDefinition(
    name="study",
    models=("openai/gpt-6-luna", "anthropic/claude-haiku-5-5"),
    motions=("Homework should be banned",),
    rounds=1,
    judges=("openai/gpt-6-sol",),
)
QUESTION = Question("q1", "Who wrote the letter?", ("Ann", "Ben"), 0)


def settings(folder: Path) -> Settings:
    return Settings(data=folder, scripted=True, model="scripted/demo", environ={})


@pytest.mark.parametrize(
    "study", [STUDY, replace(STUDY, motions=(), questions=(QUESTION,), protocols=("debate",), pairing="self")]
)
async def test_without_keys_it_is_priced_and_all_missing_keys_are_named_at_once(
    tmp_path: Path, study: ExperimentDefinition
) -> None:
    async with Arena.open(settings(tmp_path), plan_only=True) as arena:
        runner = ExperimentRunner(arena, study)
        found = await runner.estimate()
        [sentence] = missing_for(arena.providers, runner.models())
    assert found.low
    assert found.cheaper is not None
    assert found.cheaper.models == ("openai/gpt-6-luna", "openai/gpt-6-sol")
    assert 0 < found.cheaper.share <= 0.5
    assert "OPENAI_API_KEY (openai/gpt-6-luna, openai/gpt-6-sol), ANTHROPIC_API_KEY (anth" in sentence
    assert "`moot keys set openai`, `moot keys set anthropic`" in sentence


async def test_a_run_names_all_missing_keys_before_anything_is_stored(tmp_path: Path) -> None:
    async with Arena.open(settings(tmp_path)) as arena:
        with pytest.raises(Unavailable, match=r"OPENAI_API_KEY .* ANTHROPIC_API_KEY"):
            await ExperimentRunner(arena, STUDY).run()
        assert await arena.store.tables(EXPERIMENTS).experiment("study") is None


async def test_all_names_that_cannot_be_models_are_told_at_once(tmp_path: Path) -> None:
    mistyped = replace(STUDY, models=("opnai/gpt-6-luna", "antropic/claude"), judges=("scripted/owl",))
    async with Arena.open(settings(tmp_path), plan_only=True) as arena:
        with pytest.raises(Invalid, match=r"'opnai'. Did you mean openai\? .*'antropic'"):
            await ExperimentRunner(arena, mistyped).estimate()


async def test_what_unpriced_models_cost_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    providers = {"other": ScriptedProvider()}
    unpriced = replace(STUDY, models=("scripted/a", "other/b"), judges=("scripted/owl",))
    seen = list[ExperimentProgress]()
    async with Arena.open(settings(tmp_path), providers=providers) as arena:
        runner = ExperimentRunner(arena, unpriced, seen.append)
        assert (await runner.stored_progress()).spent_text == "$0.00", "nothing is held yet"
        assert (await runner.estimate()).low is None
        assert (await runner.run()).spent_text == "unknown cost"
        assert (await ExperimentRunner(arena, unpriced).stored_progress()).spent_text == "unknown cost"


@pytest.mark.parametrize(("spent", "text"), [("0", "unknown cost"), ("1.5", "at least $1.50")])
def test_what_is_known_of_the_cost_is_told_as_the_least(spent: str, text: str) -> None:
    progress = ExperimentProgress(1, 1, 0, 0, 0, 0.0, Decimal(spent), None, unpriced=True)
    assert progress.spent_text == text
