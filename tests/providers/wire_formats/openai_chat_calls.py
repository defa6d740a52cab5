"""A request of the chat-completions dialect."""

from __future__ import annotations

from typing import Any

from moot.core.terms import ChatMessage, Model, Request

MODEL = Model("local", "m", temperature=0.5)


def ask(**changes: Any) -> Request:
    words: dict[str, Any] = {
        "model": MODEL,
        "instructions": "Argue.",
        "messages": (ChatMessage("user", "Go."),),
        "max_tokens": 50,
    }
    return Request(**{**words, **changes})
