"""The formats, providers and keys of this server, for the validation of requests."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace
from starlette.datastructures import Headers

from moot import formats
from moot.api.problems import Problem
from moot.api.v1.fields import FORMATS, PROVIDERS, contract_first
from moot.core.choices import Effort
from moot.core.terms import FREE, HUMAN, Format, Model
from moot.engine.arena import Arena
from moot.providers import known_models
from moot.providers.contract import Traits
from moot.providers.endpoints import BUILT_IN, traits_of
from moot.providers.keys import Secret
from moot.providers.saved_keys import MAX_KEY_LENGTH
from moot.web.logging_setup import hide_secret

KEY_HEADER = "x-provider-key-"
NO_LENT_KEYS = "Keys cannot be lent on this server: its debates run on other machines"


class ServerCapabilities:
    def __init__(self, arena: Arena, keys: Mapping[str, Secret] | None = None) -> None:
        """`keys` are the keys that came with the request."""
        self._arena = arena
        self._lent_keys = keys or {}
        self.formats = contract_first(formats.names(arena.settings.formats), FORMATS)
        self.providers = contract_first(arena.providers.names(), PROVIDERS)
        self.tools = arena.tools.names()

    def format(self, name: str) -> Format:
        return formats.load(name, self._arena.settings.formats)

    def has_key(self, provider: str) -> bool:
        return provider in self._lent_keys or self._arena.providers.has_key(provider)

    def knows(self, provider: str, model: str) -> bool:
        """Whether the model exists; only local models are checked. A service reports an unknown one."""
        if provider == HUMAN:
            return model == HUMAN
        if provider != "local":
            return True
        model_files = self._arena.providers.model_files
        return model in model_files.catalogue or model in model_files.installed()

    def has_tool(self, name: str) -> bool:
        """Whether the settings have the tool server; its tools are checked when the debate is opened."""
        return self._arena.tools.knows(name)

    def model(
        self, provider: str, name: str, temperature: float | None, max_tokens: int, effort: Effort | None
    ) -> Model:
        """The model with its price; `max_tokens` = 0 stands for what the model itself needs."""
        if provider == HUMAN:
            return Model(HUMAN, HUMAN, price=FREE)
        traits = self._traits(provider, name)
        model = known_models.with_traits(provider, name, traits)
        return replace(
            model,
            temperature=temperature,
            max_tokens=max_tokens or model.max_tokens,
            own_limit=bool(max_tokens),
            effort=effort if effort in traits.efforts else None,
            price=self._arena.price(provider, name),
        )

    def _traits(self, provider: str, name: str) -> Traits:
        """Found without the provider, which may have no key before the debate begins."""
        endpoint = self._arena.providers.endpoints.get(provider)
        return traits_of(endpoint, name) if endpoint else self._arena.providers.traits(provider, name)


class BuiltInCapabilities(ServerCapabilities):
    """What every server has, whatever its operator has added."""

    def __init__(self, arena: Arena) -> None:
        super().__init__(arena)
        services = BUILT_IN.values()
        self.formats = contract_first(formats.BUILT_IN, FORMATS)
        self.providers = contract_first(("local", *BUILT_IN), PROVIDERS)
        self.tools = ()
        self.lendable = tuple(service.name for service in services if service.keys and service.base_url)
        self.local_model = next(iter(arena.providers.model_files.catalogue))

    def has_key(self, provider: str) -> bool:
        return False


def lendable_providers(arena: Arena) -> tuple[str, ...]:
    """The services for which a client may send its own key; none where other processes run the debates."""
    if _has_remote_workers(arena):
        return ()
    services = arena.providers.endpoints.values()
    return tuple(service.name for service in services if service.keys and service.base_url)


def lent_keys(headers: Headers, arena: Arena) -> dict[str, Secret]:
    """The client's own provider keys, one header each. No error message contains a key."""
    keys: dict[str, Secret] = {}
    for header, value in headers.items():
        if not header.startswith(KEY_HEADER):
            continue
        if _has_remote_workers(arena):
            raise Problem("validation", errors={"X-Provider-Key": [NO_LENT_KEYS]})
        name = header.removeprefix(KEY_HEADER)
        if name not in lendable_providers(arena):
            raise Problem("validation", errors={"X-Provider-Key": ["Unknown provider"]})
        if not 1 <= len(value) <= MAX_KEY_LENGTH or not (value.isascii() and value.isprintable()):
            raise Problem("validation", errors={f"X-Provider-Key-{name}": ["Not a key"]})
        hide_secret(value)
        keys[name] = Secret(value)
    return keys


def _has_remote_workers(arena: Arena) -> bool:
    """Whether other processes run the debates: a key of a client stays in the process that received it."""
    return arena.settings.cluster.store is not None
