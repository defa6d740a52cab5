"""Words and colours made inert for an HTML page: whatever somebody wrote, it stays text."""

from __future__ import annotations

import re
from html import escape

from moot.views.participants import ParticipantView
from moot.views.safe_text import clean, single_line

PALETTE = ("#0b6e6e", "#b3432b", "#6d4aa2", "#8a6d1b")
_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z|#[0-9a-fA-F]{3}\Z")


def escape_text(words: str) -> str:
    return escape(clean(words))


def escape_line(words: str) -> str:
    """On a single line."""
    return escape(single_line(words))


def seat_style(seat: ParticipantView) -> str:
    """The seat's own colour, where it is one: a style is no place for anything else."""
    colour = seat.colour if _HEX.match(seat.colour) else PALETTE[seat.place % len(PALETTE)]
    return f"--seat: {colour}"


def plural(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
