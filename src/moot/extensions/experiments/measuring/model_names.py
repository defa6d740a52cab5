"""Names of models with settings: `openai/gpt-6-luna (effort high)`. The same model with two efforts is two.

Such a name says all of it, so that plans, rows and reports need nothing else: `named_with` writes it,
`read_name` reads it, and a model that was made from one keeps it (`contestant_name`).
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from moot.core.choices import Effort, Verbosity
from moot.core.errors import Invalid
from moot.core.terms import Model

MOST_TOKENS = 1_000_000


class ModelSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What can be chosen for a model; None leaves it to the service."""

    effort: Effort | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    verbosity: Verbosity | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] | None = None
    service_tier: Annotated[str, Meta(pattern="^[a-z]+$")] | None = None


NAMES = ModelSettings.__struct_fields__
_NAMED = re.compile(rf"(.+) \(((?:{'|'.join(NAMES)}) [^()]*)\)")


def named_with(model: str, settings: ModelSettings) -> str:
    """
    >>> named_with("openai/gpt-6-luna", ModelSettings(effort="high", temperature=0.5))
    'openai/gpt-6-luna (effort high, temperature 0.5)'
    """
    chosen = [(name, getattr(settings, name)) for name in NAMES]
    texts = [
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in chosen
        if value is not None
    ]
    return f"{model} ({', '.join(texts)})" if texts else model


def read_name(name: str) -> tuple[str, ModelSettings]:
    """The model and its settings. Raises Invalid for settings that cannot be.

    >>> read_name("openai/gpt-6-luna (effort high)")[1].effort
    'high'
    """
    found = _NAMED.fullmatch(name)
    if found is None:
        return name, ModelSettings()
    pairs = (text.strip().partition(" ") for text in found[2].split(","))
    try:
        return found[1], msgspec.convert({key: value for key, _, value in pairs}, ModelSettings, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(f"{name}: {error}.") from None


def contestant_name(model: Model) -> str:
    """With its settings, if it was named with them."""
    return model.alias if model.alias.startswith(f"{model.label} (") else model.label
