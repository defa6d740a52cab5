"""Models by the names that people have for them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot.engine.arena import Arena
from moot.providers.keys import Secret
from moot.settings import Settings
from moot.store.memory import MemoryStore
from moot.web.model_names import resolve_model


@asynccontextmanager
async def opened(data: Path, *keyed: str, model: str = "") -> AsyncGenerator[Arena]:
    keys = {name: Secret("sk-0123456789abcdef") for name in keyed}
    async with Arena.open(Settings(data=data, keys=keys, model=model), store=MemoryStore()) as arena:
        yield arena


def label(arena: Arena, name: str) -> str | None:
    found = resolve_model(arena, name)
    return found and found.label


@pytest.mark.parametrize(
    ("name", "keyed", "meant"),
    [
        ("openai/gpt-4o", (), "openai/gpt-4o"),
        ("gpt-4o", (), "openai/gpt-4o"),
        ("gpt-5-2025-08-07", (), "openai/gpt-5-2025-08-07"),
        ("claude-3-5-sonnet-20241022", ("google",), "anthropic/claude-3-5-sonnet-20241022"),
        ("claude-3.5-sonnet", ("openrouter",), "openrouter/anthropic/claude-3.5-sonnet"),
        ("anthropic/claude-3.5-sonnet", ("openrouter",), "openrouter/anthropic/claude-3.5-sonnet"),
        ("anthropic/claude-3.5-sonnet", ("openrouter", "anthropic"), "anthropic/claude-3.5-sonnet"),
        ("meta-llama/llama-4-scout", (), "openrouter/meta-llama/llama-4-scout"),
        ("smollm2-135m", (), "local/smollm2-135m"),
        ("local/smollm2-135m", (), "local/smollm2-135m"),
        ("local/nothing", (), None),
        ("gpt-0", (), None),
        ("human", (), None),
        ("human/human", (), None),
        ("openai/", (), None),
        ("openai", (), None),
    ],
)
async def test_a_name_leads_to_the_model_that_is_meant(
    tmp_path: Path, name: str, keyed: tuple[str, ...], meant: str | None
) -> None:
    async with opened(tmp_path, *keyed) as arena:
        assert label(arena, name) == meant


async def test_what_is_found_is_priced_and_has_room(tmp_path: Path) -> None:
    async with opened(tmp_path, model="ollama/some-model") as arena:
        model = resolve_model(arena, "gpt-4o")
        assert model is not None
        assert (model.price is not None, model.max_tokens, model.temperature) == (True, 4096, None)
        assert label(arena, "some-model") == "ollama/some-model", "the usual one by its own name"
