"""A request and a call in this dialect."""

from __future__ import annotations

from typing import Any

from moot.core.terms import ChatMessage, EncryptedReasoning, Model, Request
from moot.providers.contract import Chunk, ReplyDelta, Traits

MODEL = Model("openai", "gpt-5-mini", temperature=0.5, effort="low", verbosity="high")
CHAINING = Traits(chaining=True)
THINKING = Traits(chaining=True, thinks=True, efforts=("low", "high"), sampling=False, verbosity=True)
HISTORY = (
    ChatMessage("user", "Open."),
    ChatMessage(
        "assistant", "I say.", sealed=(EncryptedReasoning("rs_1", "abc"), EncryptedReasoning("rs_2", "def"))
    ),
    ChatMessage("user", "Go on."),
)


def ask(**changes: Any) -> Request:
    words: dict[str, Any] = {
        "model": MODEL,
        "instructions": "Argue.",
        "messages": (ChatMessage("user", "Go."),),
        "max_tokens": 50,
    }
    return Request(**{**words, **changes})


def words(chunks: list[Chunk], kind: str = "text") -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta) and chunk.kind == kind)
