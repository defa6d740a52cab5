"""Wire formats: how to ask a kind of service, and how to read its reply.

A wire format is two pure modules, `NAME_request.py` (address, headers, body) and `NAME_decoder.py` (bytes of
the reply to chunks); `contract.py` says what each must offer. To add one, write the two and put its name into
`WireFormatName`; CONTRIBUTING.md lists the tables that may need a row. In `moot.toml` it is called `family`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.providers.wire_formats.contract import WireFormat

WireFormatName = Literal["openai_responses", "openai_chat", "anthropic", "google"]


def load_wire_format(name: WireFormatName, accent: str = "plain") -> WireFormat:
    """The wire format of this name. Its modules are loaded with its first use.

    `accent` names the variant of `openai_chat` that a service expects; the others have none. Raises Invalid
    if there is no such accent.
    """
    module = import_module(f"moot.providers.wire_formats.{name}_request")
    if name != "openai_chat":
        return module.WIRE_FORMAT
    if accent not in module.ACCENTS:
        raise Invalid(f"There is no accent called {accent!r}: {', '.join(module.ACCENTS)}.")
    return module.wire_format(module.ACCENTS[accent])
