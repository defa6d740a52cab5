"""Keys: where one comes from, and that nobody gets to see it.

The environment comes first, then `[keys]` in `moot.toml`. What is told about a key is the name of its
variable. `Secret` and `Environ` hold words that must not turn up in a repr, a traceback or a log.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

FILE = "moot.toml"


class Secret:
    """A word that shows itself only to whoever asks for it by name."""

    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        self._word = word

    def reveal(self) -> str:
        return self._word

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._word == self._word

    def __hash__(self) -> int:
        return hash(self._word)

    def __repr__(self) -> str:
        return "Secret(…)"


class Environ(dict[str, str]):
    """The environment, of which a repr tells nothing but the size: keys and passwords live in it."""

    def __repr__(self) -> str:
        return f"<{len(self)} variables>"


class Key(Struct, frozen=True):
    """A key and where it was found."""

    secret: Secret
    source: str
    """The name of its variable, or of the file."""


def find_key(
    name: str, variables: tuple[str, ...], environ: Mapping[str, str], kept: Mapping[str, Secret]
) -> Key | None:
    for variable in variables:
        if word := environ.get(variable, "").strip():
            return Key(Secret(word), variable)
    return Key(kept[name], FILE) if name in kept else None
