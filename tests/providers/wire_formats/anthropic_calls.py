"""A request and a call in this dialect."""

from __future__ import annotations

from typing import Any

from moot.core.choices import Effort
from moot.core.terms import ChatMessage, Model, Request
from moot.providers.contract import Traits
from moot.providers.wire_formats import anthropic_request

NEW = Traits(thinks=True, efforts=("low", "high"), sampling=False)
PLAIN = Traits()


def ask(*, effort: Effort | None = None, temperature: float | None = None, **changes: Any) -> Request:
    words: dict[str, Any] = {
        "model": Model("anthropic", "claude-x", temperature=temperature, effort=effort),
        "instructions": "Argue.",
        "messages": (ChatMessage("user", "Go."),),
        "max_tokens": 4000,
    }
    return Request(**{**words, **changes})


def body(request: Request, traits: Traits = PLAIN) -> dict[str, Any]:
    return anthropic_request.body(request, traits)
