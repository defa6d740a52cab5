"""Looks a model's price up, to be written into the log when a debate is opened.

What `moot.toml` says comes first, then genai-prices; a model that neither knows has no price, and None is
never taken for free.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from moot.terms import FREE, Money, Price, Tier

LOCAL = ("local", "ollama", "lmstudio", "llamacpp", "vllm", "scripted", "human")
NAMES = {"xai": "x-ai"}


def price_of(provider: str, model: str, configured: Mapping[str, Price] | None = None) -> Price | None:
    label = f"{provider}/{model}"
    if configured and label in configured:
        return configured[label]
    if provider in LOCAL:
        return FREE
    return _looked_up(NAMES.get(provider, provider), model)


def flat(input_per_million: Decimal, output_per_million: Decimal, source: str = "moot.toml") -> Price:
    return Price(input=(Tier(0, input_per_million),), output=(Tier(0, output_per_million),), source=source)


def _looked_up(provider: str, model: str) -> Price | None:
    import genai_prices  # heavy, and needed only where money is

    try:
        found = genai_prices.calc_price(genai_prices.Usage(input_tokens=1), model, provider_id=provider)
    except LookupError:
        return None
    known = found.model_price
    if getattr(known, "input_mtok", None) is None or getattr(known, "output_mtok", None) is None:
        return None
    per_call = getattr(known, "requests_kcount", None)
    return Price(
        input=_tiers(known, "input_mtok"),
        output=_tiers(known, "output_mtok"),
        cached_input=_tiers(known, "cache_read_mtok"),
        cache_write=_tiers(known, "cache_write_mtok"),
        per_call=Money(per_call) / 1000 if isinstance(per_call, Decimal) else Money(0),
        source=f"genai-prices {genai_prices_version()}",
    )


def genai_prices_version() -> str:
    from importlib.metadata import version

    return version("genai-prices")


def _tiers(known: Any, name: str) -> tuple[Tier, ...]:
    value = getattr(known, name, None)
    if value is None:
        return ()
    if isinstance(value, Decimal):
        return (Tier(0, value),)
    return (Tier(0, value.base), *(Tier(int(tier.start), tier.price) for tier in value.tiers))
