"""Prices of models: found under every name of a model, and under its own provider only."""

from __future__ import annotations

from decimal import Decimal

import pytest

from moot.core.terms import FREE, ModelPrice, PriceTier
from moot.providers.prices import listed_models, price_of


@pytest.mark.parametrize(
    ("given", "as_listed"),
    [
        ("openai/gpt-5-mini-2025-08-07", "openai/gpt-5-mini"),
        ("anthropic/claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"),
        ("google/gemini-flash-latest", "google/gemini-3.8-flash"),
        ("google/models/gemini-2.5-flash", "google/gemini-2.5-flash"),
        ("mistral/mistral-small-latest", "mistral/mistral-small-2603"),
        ("groq/openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"),
        ("openrouter/openai/gpt-6-luna", "openrouter/openai/gpt-6-luna"),
        ("xai/grok-4.3", "xai/grok-4.3"),
    ],
)
def test_snapshots_and_aliases_find_their_price(given: str, as_listed: str) -> None:
    price = price_of(*given.split("/", 1))
    assert price is not None
    assert price == price_of(*as_listed.split("/", 1))


def test_a_price_is_looked_up_under_the_right_provider_only() -> None:
    assert price_of("openai", "gpt-99") is None
    assert price_of("my-openai", "gpt-5-mini") is None
    assert price_of("together", "no-such-model") is None
    assert listed_models("my-openai") == ()


def test_the_dearest_hour_counts() -> None:
    price = price_of("deepseek", "deepseek-flash")
    assert price is not None
    assert price.input == (PriceTier(0, Decimal("0.3")),)


def test_a_price_of_ones_own_may_hold_for_all_models_of_a_provider() -> None:
    own = {"mine/*": FREE, "mine/big": ModelPrice((PriceTier(0, Decimal(1)),), (PriceTier(0, Decimal(2)),))}
    assert price_of("mine", "small", own) == FREE
    assert price_of("mine", "big", own) == own["mine/big"]
    assert price_of("ollama", "anything") == FREE
