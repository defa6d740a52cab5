"""How an answer to a question is given: the name of one of two answers, and how probable it is in percent.

Judges and seats reply in the same shape. The reply must be one JSON object of exactly that shape, without
repeated members. Anything else is no answer: neither the answer nor its probability is ever guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from moot.prompts.model_replies import UnreadableReply, read_json_reply

REASONING_CHARS, SMALL_REASONING_CHARS = 3000, 260
SMALL_STEPS = list(range(50, 101, 5))
"""Small models choose one of few numbers."""


class AnswerReply(Struct, forbid_unknown_fields=True):
    """`percent` is how probable the named answer is: at least 50, since it is the more probable one."""

    answer: str
    percent: Annotated[float, Meta(ge=50, le=100)]
    reasoning: str = ""
    """The smallest models are not asked for any: it would be most of their reply."""
    rests_on: list[str] = []


def answer_members(names: Sequence[str], *, small: bool) -> dict[str, Any]:
    """The members of the JSON schema, in the order in which they are written: reasoning comes first."""
    whole = {"type": "integer", "minimum": 50, "maximum": 100}
    brief = {"type": "string", "minLength": 20, "maxLength": SMALL_REASONING_CHARS}
    return {
        "reasoning": brief if small else {"type": "string", "maxLength": REASONING_CHARS},
        "answer": {"type": "string", "enum": list(names)},
        "percent": {"type": "integer", "enum": SMALL_STEPS} if small else whole,
    }


def read_answer_reply(reply: str, names: Sequence[str]) -> tuple[AnswerReply, tuple[float, ...]]:
    """The reply, and the probability of each of the named answers. Raises UnreadableReply."""
    found = read_json_reply(reply, AnswerReply)
    if found.answer not in names:
        raise UnreadableReply(f"answer must be one of: {', '.join(names)}")
    share = found.percent / 100
    rest = (1 - share) / (len(names) - 1)
    return found, tuple(round(share if name == found.answer else rest, 6) for name in names)
