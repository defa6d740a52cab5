"""Model names of the compatibility APIs: in full, as a bare id, or as OpenRouter lists them.

`gpt-4o` is the model of that name in the price list, preferably at a service that has a key. In
`meta-llama/llama-4` the first part is no provider of ours, so it is OpenRouter's name; and so is
`anthropic/claude-opus-5` where only OpenRouter has a key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec.structs import replace

from moot.core.choices import Effort
from moot.core.terms import HUMAN, Model
from moot.engine.arena import Arena
from moot.providers import known_models
from moot.providers.keys import Secret
from moot.providers.prices import listed_models, price_of
from moot.web.server_capabilities import ServerCapabilities

ROUTER = "openrouter"
LOCAL = "local"


class ServerModelResolver(ServerCapabilities):
    """The capabilities of the server, with models by any name that people use."""

    def resolve(self, name: str) -> Model | None:
        return resolve_model(self._arena, name, self._lent_keys)


def resolve_model(
    arena: Arena, name: str, keys: Mapping[str, Secret] | None = None, *, effort: Effort | None = None
) -> Model | None:
    """The model, ready for a debate; None for an unknown name.

    `keys` are the keys that came with the request: a service with a key is preferred.
    """
    capabilities = ServerCapabilities(arena, keys)
    candidates = [choice for choice in _candidates(arena, name) if capabilities.knows(*choice)]
    choice = next((one for one in candidates if capabilities.has_key(one[0])), None) or next(
        iter(candidates), None
    )
    return capabilities.model(*choice, None, 0, effort) if choice else None


def with_alias(model: Model, name: str) -> Model:
    """The model under the name by which its client knows it."""
    return replace(model, alias="" if name == model.name else name)


def _candidates(arena: Arena, name: str) -> Iterator[tuple[str, str]]:
    """Pairs of provider and model name that may be meant, the likeliest first."""
    provider, slash, model = name.partition("/")
    services = arena.providers.endpoints
    if provider == HUMAN or (slash and not model):
        return
    if slash:
        is_known = provider in arena.providers.names()
        if is_known:
            yield provider, model
        if ROUTER in services and (not is_known or provider in services) and provider != ROUTER:
            yield ROUTER, name
        return
    default_provider, _, default_model = arena.settings.model.partition("/")
    if default_model == name:
        yield default_provider, name
    model_files = arena.providers.model_files
    if name in model_files.catalogue or name in model_files.installed():
        yield LOCAL, name
    rule = known_models.rule_for(name)
    makers = [one for one in services if one != ROUTER and (not rule or not rule.at or one in rule.at)]
    for sells in (_lists, _prices):
        yield from ((maker, name) for maker in makers if sells(maker, name))
    if ROUTER in services:
        yield from ((ROUTER, f"{maker}/{name}") for maker in makers if _lists(ROUTER, f"{maker}/{name}"))


@lru_cache(maxsize=4096)
def _lists(service: str, name: str) -> bool:
    return any(row.id == name for row in listed_models(service))


@lru_cache(maxsize=4096)
def _prices(service: str, name: str) -> bool:
    """By the rules of the price list, which know dates and aliases. Local services price any name."""
    price = price_of(service, name)
    return price is not None and price.source != "local"
