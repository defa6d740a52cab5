"""Names and other short texts as people see them: what shows nothing, and which names look alike."""

from __future__ import annotations

import unicodedata

_INVISIBLE = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
"""Characters that show nothing: a text of nothing else is empty."""
_WIDTHS = "".join(map(chr, range(0x2000, 0x200B)))
BLANK = f"\t\n \u00a0\u1680{_WIDTHS}\u2028\u2029\u202f\u205f\u3000{_INVISIBLE}"
"""Whitespace, and characters that show nothing."""


def trim(text: str) -> str:
    """Return the text without whitespace and invisible characters at either end."""
    return text.strip(BLANK)


def fold_name(name: str) -> str:
    """Return a form that is equal for names that look alike."""
    return trim(unicodedata.normalize("NFKC", name)).casefold()
