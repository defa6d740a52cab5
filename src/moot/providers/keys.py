"""Keys: where one comes from, and that nobody gets to see it.

The environment comes first, then `[keys]` in `moot.toml`. What is told about a key is the name of its
variable. `Secret` and `Environ` hold words that must not turn up in a repr, a traceback or a log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

SETTINGS_FILE = "moot.toml"
MASK = "…"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _./:@-]{0,63}")
KEY_BEGINS = re.compile(
    r"(?:sk|pk|rk|xai|gsk|hf|gh[pousr]|github_pat|glpat|npm|r8|xox[abprs]|moot)[-_]|AIza|AKIA|ASIA|eyJ"
)
ROW = re.compile(r"[A-Za-z0-9]{24}|(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{16}")
"""A long row of letters, or of letters and figures: no word that somebody chose, but a key."""
QUOTED = re.compile(
    r"""
    (?<=unknown[ ]field[ ]`) .+? (?=` (?: [ ]-[ ]at[ ]` | $))
    | (?<=') [^']{3,} (?=')
    | (?<=") [^"]{3,} (?=")
    """,
    re.VERBOSE | re.DOTALL,
)
"""What tomllib and msgspec repeat of a file."""


class Secret:
    """A word that shows itself only to whoever asks for it by name."""

    __slots__ = ("_value",)

    def __init__(self, word: str) -> None:
        self._value = word

    def reveal(self) -> str:
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret(…)"


def is_name(text: str) -> bool:
    """Whether it looks like a name that somebody chose, and not like a key."""
    return bool(NAME.fullmatch(text)) and not KEY_BEGINS.match(text) and not ROW.search(text)


def shown(name: str) -> str:
    """A name of the file as a message may repeat it: what does not look like one may be a key."""
    return name if is_name(name) else MASK


def shown_in(message: str) -> str:
    """What a library says of a file, without the words that it repeats and that do not look like names."""
    return QUOTED.sub(lambda found: shown(found[0]), message)


class Environ(dict[str, str]):
    """The environment, of which a repr tells nothing but the size: keys and passwords live in it."""

    def __repr__(self) -> str:
        return f"<{len(self)} variables>"


class ApiKey(Struct, frozen=True):
    """A key and where it was found."""

    secret: Secret
    source: str
    """The name of its variable, or of the file."""


def find_key(
    name: str, variables: tuple[str, ...], environ: Mapping[str, str], kept: Mapping[str, Secret]
) -> ApiKey | None:
    for variable in variables:
        if word := environ.get(variable, "").strip():
            return ApiKey(Secret(word), variable)
    return ApiKey(kept[name], SETTINGS_FILE) if name in kept else None
