"""The length of a text in words and in tokens, in any script.

Words are separated by spaces. Scripts without spaces are counted by characters, two to a word, so that a
budget means about the same in Chinese as in English. A clipped text ends with a mark.

Where a service does not report tokens, they are estimated upwards by the UTF-8 length of each character: four
ASCII characters make a token, two characters of two bytes (Cyrillic, Greek, Arabic, Hebrew, accented Latin),
one of three bytes (Chinese, Japanese, Korean, Hindi, Thai), and one of four bytes makes two. How many tokens
a text can have at most is in `token_bounds.py`.
"""

from __future__ import annotations

import re

CLIPPED_MARK = " […]"
OVERRUN_FACTOR = 1.25
"""A speech may finish its sentence up to a quarter beyond its budget."""

# Han, kana, Thai, Lao, Khmer and Burmese are written without spaces between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f"
)
_STOPS = "\u3000-\u303f\uff00-\uff65"
_PIECE = re.compile(rf"[{_UNSPACED}]{{1,2}}[{_STOPS}]*|[^\s{_UNSPACED}]+")
QUARTERS = 4
"""Tokens are added up in quarters, so that the pieces of a text come to as much as the text."""
_TWO_BYTES, _THREE_BYTES, _FOUR_BYTES = (bytes(range(start)) for start in (0xC0, 0xE0, 0xF0))
"""All bytes except those that begin a character of at least so many bytes."""
_SENTENCE = re.compile(r"[.!?…][\"')\]”’]*(?=\s|$)|[。！？][”’」』）]*")


def count_words(text: str) -> int:
    # The fast way for most texts: some are a megabyte long.
    return len(text.split()) if text.isascii() else len(_PIECE.findall(text))


def tokens(text: str) -> int:
    """The estimated tokens of a text, rather too many than too few."""
    return -(-quarter_tokens(text) // QUARTERS)


def whole_tokens(quarters: int) -> int:
    return -(-quarters // QUARTERS)


def quarter_tokens(text: str) -> int:
    """An ASCII character is a quarter of a token; one of two, three, four bytes is two, four, eight."""
    if text.isascii():
        return len(text)
    data = text.encode()
    longer = (len(data.translate(None, others)) for others in (_TWO_BYTES, _THREE_BYTES, _FOUR_BYTES))
    two, three, four = longer
    return len(text) + two + 2 * three + 4 * four


def first_tokens(text: str, quarters: int) -> str:
    """The beginning of a text that fits into these quarters of tokens."""
    if text.isascii() or quarter_tokens(text) <= quarters:
        return text[: max(0, quarters)]
    end, left = 0, quarters
    while end < len(text) and (left := left - quarter_tokens(text[end])) >= 0:
        end += 1
    return text[:end]


def first_words(text: str, most: int) -> str:
    """The first so many words, and a mark if something is left out."""
    end = _end(text, most)
    return text if end is None else text[:end] + CLIPPED_MARK


def words_within_budget(text: str, budget: int) -> int:
    """How many words of a speech count: up to the end of the sentence in which its budget is reached, at most
    a quarter more. 0 where all of them do."""
    most = int(budget * OVERRUN_FACTOR)
    beyond = _end(text, most)
    if beyond is None:
        return 0
    within = _end(text, budget) or 0
    ends = [match.end() for match in _SENTENCE.finditer(text, 0, beyond) if match.end() >= within]
    return count_words(text[: ends[0]]) if ends else most


def _end(text: str, most: int) -> int | None:
    """Where the word number `most` ends; None if there are no more than that."""
    end = 0
    for number, word in enumerate(_PIECE.finditer(text), 1):
        if number > most:
            return end
        end = word.end()
    return None
