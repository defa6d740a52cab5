"""Which words of a speech Moot wrote itself, and how long a speech of a very small model gets.

A very small model is sent the first words of its speech, and continues them (`small_model_prompts`). They are
stored as part of the speech, so readers are told which words are not the model's own. The first words are
recognised by their form, so that this holds for debates of any version.
"""

from __future__ import annotations

import re

from moot.core.state import Debate, Turn
from moot.core.terms import EXCHANGE_TONES, Seat, Tone
from moot.core.word_count import count_words

SPEECH_WORDS = 80
"""About the length of a speech: `small_model_prompts.MAX_TOKENS` and the first words."""
EXCHANGE_WORDS = 55
"""The same for a question or an answer."""

_MATTER = r"(?:benefit of|problem with) .{1,400}?"
_FIRST_WORDS = re.compile(
    rf"(?:.{{1,520}}?\. The greatest {_MATTER} is that"
    rf"|(?:My opponent (?:attacks|defends) .{{1,900}}?\. But|I disagree, and) another {_MATTER} is that"
    r"|In the end, .{1,520}?\. The (?:benefits|problems) are clear:"
    rf"|(?:You say that .{{1,600}}?\. )?What do you say to this: one {_MATTER} is that"
    rf"|My answer is simple: the real {_MATTER} is that)",
    re.DOTALL,
)


def is_begun_by_moot(seat: Seat) -> bool:
    """Whether Moot writes the first words of what this seat says."""
    return seat.model.small and seat.role == "debater" and seat.side != "neutral"


def first_words(seat: Seat, text: str) -> str:
    """The words at the start of a speech that Moot wrote; empty where the model or a person wrote all."""
    begun = _FIRST_WORDS.match(text) if is_begun_by_moot(seat) else None
    return begun[0] if begun else ""


def count_first_words(debate: Debate, turn: Turn) -> int:
    return count_words(first_words(debate.seat(turn.seat), turn.text))


def expected_words(seat: Seat, tone: Tone, budget: int) -> int:
    """The words that a speech can have: its budget, or less where the model is too small to fill it."""
    if not seat.model.small:
        return budget
    longest = EXCHANGE_WORDS if tone in EXCHANGE_TONES else SPEECH_WORDS
    return min(budget, longest) if budget else longest


def first_words_note(debate: Debate) -> str:
    """One sentence for readers; empty where every model begins its speeches itself."""
    models = dict.fromkeys(seat.model.name for seat in debate.seats if is_begun_by_moot(seat))
    if not models:
        return ""
    names = " and ".join(models)
    small = "is very small" if len(models) == 1 else "are very small"
    return (
        f"{names} {small}: Moot writes the first words of each speech, also where they quote the opponent. "
        "The rest is the model's own."
    )
