"""Keys: where they come from, and types that do not show them.

A saved key (`saved_keys.py`) comes first, then the environment, then `[keys]` in `moot.toml`. Messages name
the variable of a key, never the key. `Secret` and `Environ` hold values that must not appear in a repr, a
traceback or a log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

SETTINGS_FILE = "moot.toml"
SAVED_KEY = "the saved key"
KeyOrigin = Literal["settings", "environment", "file"]
"""Where a key comes from: saved in the settings, a variable, or `moot.toml`."""
MASK = "…"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _./:@-]{0,63}")
KEY_BEGINS = re.compile(
    r"(?:sk|pk|rk|xai|gsk|hf|gh[pousr]|github_pat|glpat|npm|r8|xox[abprs]|moot)[-_]|AIza|AKIA|ASIA|eyJ"
)
ROW = re.compile(r"[A-Za-z0-9]{24}|(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{16}")
"""A long row of letters, or of letters and digits, is a key, not a name."""
QUOTED = re.compile(
    r"""
    (?<=unknown[ ]field[ ]`) .+? (?=` (?: [ ]-[ ]at[ ]` | $))
    | (?<=') [^']{3,} (?=')
    | (?<=") [^"]{3,} (?=")
    """,
    re.VERBOSE | re.DOTALL,
)
"""The parts of a file that messages of tomllib and msgspec repeat."""


class Secret:
    """A value that is shown only by `reveal()`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret(…)"


def is_name(text: str) -> bool:
    """Whether it looks like a name, and not like a key."""
    return bool(NAME.fullmatch(text)) and not KEY_BEGINS.match(text) and not ROW.search(text)


def shown(name: str) -> str:
    """The name as a message may repeat it: masked if it may be a key."""
    return name if is_name(name) else MASK


def shown_in(message: str) -> str:
    """A library's message about a file, with everything masked that it quotes and that may be a key."""
    return QUOTED.sub(lambda match: shown(match[0]), message)


class Environ(dict[str, str]):
    """The environment. Its repr shows only its size, since it holds keys and passwords."""

    def __repr__(self) -> str:
        return f"<{len(self)} variables>"


class ApiKey(Struct, frozen=True):
    """A key and its origin."""

    secret: Secret
    source: str
    """The name of its variable, or of the file, or `SAVED_KEY`."""

    @property
    def origin(self) -> KeyOrigin:
        if self.source == SAVED_KEY:
            return "settings"
        return "file" if self.source == SETTINGS_FILE else "environment"


def find_key(
    name: str,
    variables: tuple[str, ...],
    environ: Mapping[str, str],
    file_keys: Mapping[str, Secret],
    saved: Mapping[str, Secret],
) -> ApiKey | None:
    if name in saved:
        return ApiKey(saved[name], SAVED_KEY)
    for variable in variables:
        if value := environ.get(variable, "").strip():
            return ApiKey(Secret(value), variable)
    return ApiKey(file_keys[name], SETTINGS_FILE) if name in file_keys else None
