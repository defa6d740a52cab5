"""What this server has: formats, providers and keys, as the check of a request asks for it."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import Headers

from moot import formats
from moot.arena import Arena
from moot.models import known
from moot.providers.contract import Traits
from moot.providers.endpoints import traits_of
from moot.providers.keys import Secret
from moot.providers.table import SHORT
from moot.terms import Effort, Format, Model
from moot.wire.problems import Problem

KEY_HEADER = "x-provider-key-"
LONGEST_KEY = 512
FIRST_FORMATS = ("oxford", "lincoln-douglas", "roundtable")
FIRST_PROVIDERS = ("anthropic", "openai", "google", "mistral")


class House:
    def __init__(self, arena: Arena, lent: Mapping[str, Secret] | None = None) -> None:
        """`lent` are the keys that came with the request."""
        self._arena = arena
        self._lent = lent or {}
        self.formats = _first(FIRST_FORMATS, formats.names())
        self.providers = _first(FIRST_PROVIDERS, arena.providers.names())

    def has_key(self, provider: str) -> bool:
        return provider in self._lent or self._arena.providers.has_key(provider)

    def knows(self, provider: str, model: str) -> bool:
        """Of a model on this machine we know whether it is here; a service must tell by itself."""
        if provider != "local":
            return True
        manager = self._arena.providers.manager
        return model in manager.catalogue or model in manager.installed()

    def format(self, name: str) -> Format:
        return formats.load(name)

    def model(
        self, provider: str, name: str, temperature: float, max_tokens: int, effort: Effort | None
    ) -> Model:
        """Priced, with the room that the model itself needs where nobody says how much."""
        traits = self._traits(provider, name)
        room = known.room(traits) if traits.deadlines else SHORT
        return Model(
            provider,
            name,
            temperature=temperature,
            max_tokens=max_tokens or room,
            effort=effort if effort in traits.efforts else None,
            small=traits.small,
            price=self._arena.price(provider, name),
        )

    def _traits(self, provider: str, name: str) -> Traits:
        """Without asking the provider itself, which may lack a key until the debate begins."""
        endpoint = self._arena.providers.endpoints.get(provider)
        return traits_of(endpoint, name) if endpoint else self._arena.providers.traits(provider, name)


def lent_keys(headers: Headers, arena: Arena) -> dict[str, Secret]:
    """Keys of the asker's own, one header each; they are told to nobody, not even in a complaint."""
    keys: dict[str, Secret] = {}
    for header, value in headers.items():
        if not header.startswith(KEY_HEADER):
            continue
        name = header.removeprefix(KEY_HEADER)
        endpoint = arena.providers.endpoints.get(name)
        if endpoint is None or not endpoint.keys:
            raise Problem("validation", errors={"X-Provider-Key": ["Unknown provider"]})
        if not 1 <= len(value) <= LONGEST_KEY or not (value.isascii() and value.isprintable()):
            raise Problem("validation", errors={f"X-Provider-Key-{name}": ["Not a key"]})
        keys[name] = Secret(value)
    return keys


def _first(first: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*(name for name in first if name in names), *names)))
