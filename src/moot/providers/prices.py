"""The price of a model, to be recorded in the log when a debate is opened.

`moot.toml` takes precedence over genai-prices; a model that is in neither has no price, and None never means
free. If the price depends on the hour, the highest counts: a debate may last into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from moot.core.terms import FREE, ModelPrice, Money, PriceTier
from moot.providers.contract import BUILT_IN_PROVIDERS, MODEL_SERVERS

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

FREE_PROVIDERS = (*BUILT_IN_PROVIDERS, *MODEL_SERVERS)
PRICE_LIST_NAMES = {"xai": "x-ai"}
"""Endpoints that have another name in the price list."""
SERVICE_TIERS = {
    ("openai", "flex"): {"service_tier": "flex"},
    ("google", "flex"): {"processing": "batch"},
}
"""How the price list names the price of a service tier. Google charges as much for flex as for batches, half
of the usual (ai.google.dev/gemini-api/docs/optimization, 2026-11). Groq's flex costs as much as its usual
tier, and for OpenRouter the list has no price: there the usual one counts."""


def price_of(
    provider: str, model: str, configured: Mapping[str, ModelPrice] | None = None, *, free: bool = False
) -> ModelPrice | None:
    """The price of a model, or None if it is not known.

    `configured` has prices by `provider/model`, or by `provider/*` for all models of a provider; `free` is
    for what runs on one's own machine.
    """
    for label in (f"{provider}/{model}", f"{provider}/*"):
        if configured and label in configured:
            return configured[label]
    if free or provider in FREE_PROVIDERS:
        return FREE
    return _look_up(
        PRICE_LIST_NAMES.get(provider, provider), model.removeprefix("models/"), datetime.now(UTC).date()
    )


def service_tier_price(
    provider: str, model: str, tier: str, configured: Mapping[str, ModelPrice] | None = None
) -> ModelPrice | None:
    """What the model costs at this tier of its service; None where that is not known to be less."""
    if configured and (f"{provider}/{model}" in configured or f"{provider}/*" in configured):
        return None
    today = datetime.now(UTC).date()
    return _look_up(PRICE_LIST_NAMES.get(provider, provider), model.removeprefix("models/"), today, tier)


def has_service_tier(provider: str, model: str, tier: str) -> bool:
    """Whether this model is sold at this tier; True where the price list does not tell."""
    if (provider, tier) not in SERVICE_TIERS or price_of(provider, model) is None:
        return True
    return service_tier_price(provider, model, tier) is not None


def flat_price(
    input_per_million: Decimal, output_per_million: Decimal, source: str = "moot.toml"
) -> ModelPrice:
    return ModelPrice(
        input=(PriceTier(0, input_per_million),), output=(PriceTier(0, output_per_million),), source=source
    )


def listed_models(provider: str) -> tuple[ModelInfo, ...]:
    """All models of this provider in the price list, whatever their use."""
    from genai_prices.data import providers  # heavy, and needed only where money is

    name = PRICE_LIST_NAMES.get(provider, provider)
    return tuple(model for entry in providers if entry.id == name for model in entry.models)


@lru_cache(maxsize=4096)
def _look_up(provider: str, model: str, day: date, tier: str = "") -> ModelPrice | None:
    """Cached for a day: a list of models looks up hundreds, and each lookup searches rules."""
    from genai_prices.data_snapshot import get_snapshot  # heavy, and needed only where money is

    snapshot = get_snapshot()
    # The library would guess a provider with a similar name: a wrong price is worse than none.
    if provider not in {known.id for known in snapshot.providers}:
        return None
    try:
        _, info = snapshot.find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    if not tier:
        return _price(_highest_prices(info, day))
    context = SERVICE_TIERS.get((provider, tier))
    if context is None or not any(variant.when == context for variant in info.price_variants or ()):
        return None
    return _price(_highest_prices(info, day, context))


def _price(known: Any) -> ModelPrice | None:
    if getattr(known, "input_mtok", None) is None or getattr(known, "output_mtok", None) is None:
        return None
    per_call = getattr(known, "requests_kcount", None)
    return ModelPrice(
        input=_tiers(known, "input_mtok"),
        output=_tiers(known, "output_mtok"),
        cached_input=_tiers(known, "cache_read_mtok"),
        cache_write=_tiers(known, "cache_write_mtok"),
        per_call=Money(per_call) / 1000 if isinstance(per_call, Decimal) else Money(0),
        source=f"genai-prices {genai_prices_version()}",
    )


def _highest_prices(model: ModelInfo, day: date, context: dict[str, str] | None = None) -> Any:
    noon = datetime.combine(day, time(12), UTC)
    if not isinstance(model.prices, list):
        return model.get_prices(noon, context)
    hours = [model.get_prices(noon.replace(hour=hour, minute=45), context) for hour in range(24)]
    return max(
        hours, key=lambda known: _highest_rate(known, "input_mtok") + _highest_rate(known, "output_mtok")
    )


def _highest_rate(known: Any, name: str) -> Decimal:
    return max((tier.per_million for tier in _tiers(known, name)), default=Decimal(0))


@cache
def genai_prices_version() -> str:
    """Cached: a list of models asks for it hundreds of times."""
    from importlib.metadata import version

    return version("genai-prices")


def _tiers(known: Any, name: str) -> tuple[PriceTier, ...]:
    value = getattr(known, name, None)
    if value is None:
        return ()
    if isinstance(value, Decimal):
        return (PriceTier(0, value),)
    return (PriceTier(0, value.base), *(PriceTier(int(tier.start), tier.price) for tier in value.tiers))
