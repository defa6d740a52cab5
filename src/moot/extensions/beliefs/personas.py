"""The personas of the model audience: read from `prompts/personas.toml`, by id and in the order of the file.

The log names a persona by its id. A persona that is taken out of the file would leave old logs without its
name, so entries stay; a changed view gets a new id.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct


class AudiencePersona(Struct, frozen=True, forbid_unknown_fields=True):
    """A member of the model audience: who votes, and how this person looks at things."""

    id: str
    name: str
    view: str


class _PersonaFile(Struct, frozen=True, forbid_unknown_fields=True):
    personas: tuple[AudiencePersona, ...]


@cache
def personas() -> dict[str, AudiencePersona]:
    text = files("moot.extensions.beliefs").joinpath("prompts/personas.toml").read_text("utf-8")
    read = msgspec.convert(tomllib.loads(text), _PersonaFile)
    return {persona.id: persona for persona in read.personas}
