"""Wire formats: how to ask a kind of service, and how to read its reply.

A family is two pure modules, `NAME_request.py` (address, headers, body) and `NAME_decoder.py` (bytes of the
reply to chunks); `contract.py` says what each must offer. To add one, write the two, put its name into
`FamilyName`, and let `tests/providers/test_provider_contract.py` run over it. Nothing else knows a format.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.providers.families.contract import Family

FamilyName = Literal["openai_responses", "openai_chat", "anthropic", "google"]


def load_family(name: FamilyName, accent: str = "plain") -> Family:
    """The family of this name. Its modules are loaded with its first use.

    `accent` names the variant of `openai_chat` that a service expects; the other families have none. Raises
    Invalid if there is no such accent.
    """
    module = import_module(f"moot.providers.families.{name}_request")
    if name != "openai_chat":
        return module.FAMILY
    if accent not in module.ACCENTS:
        raise Invalid(f"There is no accent called {accent!r}: {', '.join(module.ACCENTS)}.")
    return module.family(module.ACCENTS[accent])
