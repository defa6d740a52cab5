"""A model is the same in a debate, whichever door the debate comes through."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.engine.arena import Arena
from moot.models.catalogue import CATALOGUE
from moot.settings import load
from moot.web.server_capabilities import ServerCapabilities


@pytest.mark.parametrize("name", CATALOGUE)
async def test_the_api_records_of_a_model_what_terminal_and_library_do(tmp_path: Path, name: str) -> None:
    async with Arena.open(load({"MOOT_DATA": str(tmp_path), "MOOT_OFFLINE": "1"})) as arena:
        known = arena.providers.model(f"local/{name}")
        asked = ServerCapabilities(arena).model("local", name, known.temperature, 0, None)
    assert replace(asked, price=known.price) == known


async def test_the_smallest_model_is_asked_for_one_word_over_the_api(tmp_path: Path) -> None:
    async with Arena.open(load({"MOOT_DATA": str(tmp_path), "MOOT_OFFLINE": "1"})) as arena:
        assert ServerCapabilities(arena).model("local", "smollm2-135m", None, 0, None).answers == "word"
