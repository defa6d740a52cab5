"""Finds words in the manual, section by section.

A section counts more the more of the words it has: in its heading most, then in the title of its page, then
in its text. Words match from their beginning, so that results appear while one types. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape

from msgspec import Struct

MOST_RESULTS = 30
MOST_WORDS = 12
LONGEST_EXCERPT = 240
IN_HEADING, IN_TITLE, AS_WRITTEN, MOST_IN_TEXT, LONG_TEXT = 12, 6, 20, 4, 3000
"""What a word counts in the heading and in the title of the page; what the whole query counts as it is
written; how often a word counts in the text; and the length from which it counts less there."""
SENTENCE = re.compile(r"\n|(?<=[.?!])\s+")


class IndexedSection(Struct, frozen=True):
    address: str
    """Of the section below /manual/, with its anchor."""
    page: str
    """The title of the page."""
    heading: str
    text: str
    is_background: bool = False
    """Told to those who want to know why: it comes after what tells how."""


class SearchResult(Struct, frozen=True):
    address: str
    page: str
    heading: str
    excerpt: tuple[str, ...]
    """The sentence around the words: text, match, text, match, …, text."""

    @property
    def excerpt_html(self) -> str:
        parts = (escape(part) for part in self.excerpt)
        return "".join(f"<mark>{part}</mark>" if place % 2 else part for place, part in enumerate(parts))


def find(query: str, sections: Iterable[IndexedSection]) -> list[SearchResult]:
    """The best sections first. Those with only some of the words count where none has all."""
    words = list(dict.fromkeys(re.findall(r"[^\s\"“”?,;!]+", query.lower())))[:MOST_WORDS]
    if not words:
        return []
    patterns = [_word(word) for word in words]
    ranked = [(_rank(section, patterns, " ".join(words)), section) for section in sections]
    most = max((found for (found, _), _ in ranked), default=0)
    if not most:
        return []
    best = sorted((row for row in ranked if row[0][0] == most), key=lambda row: -row[0][1])
    return [_result(section, patterns) for _, section in best[:MOST_RESULTS]]


def _word(word: str) -> re.Pattern[str]:
    """From its beginning, which in `MOOT_DATA` is also the D; languages without blanks have none."""
    start = r"(?<![^\W_])" if word.isascii() else ""
    return re.compile(start + re.escape(word), re.IGNORECASE)


def _rank(section: IndexedSection, patterns: Sequence[re.Pattern[str]], whole: str) -> tuple[int, float]:
    """How many of the words are there, and how much they count."""
    in_titles = [_in_titles(section, pattern) for pattern in patterns]
    in_text = [min(MOST_IN_TEXT, len(pattern.findall(section.text))) for pattern in patterns]
    found = sum(1 for counts in zip(in_titles, in_text, strict=True) if any(counts))
    text = sum(in_text) + (AS_WRITTEN / 2 if whole in section.text.lower() else 0)
    text /= (1 + len(section.text) / LONG_TEXT) * (2 if section.is_background else 1)
    heading = section.heading.lower()
    as_written = AS_WRITTEN * ((whole in heading) + (whole == heading))
    return found, sum(in_titles) + as_written + text


def _in_titles(section: IndexedSection, pattern: re.Pattern[str]) -> int:
    in_heading = IN_HEADING if pattern.search(section.heading) else 0
    return in_heading + (IN_TITLE if pattern.search(section.page) else 0)


def _result(section: IndexedSection, patterns: Sequence[re.Pattern[str]]) -> SearchResult:
    sentences = [sentence for sentence in SENTENCE.split(section.text) if sentence.strip()]
    best = max(sentences, key=partial(_matches, patterns), default="")
    either = re.compile("|".join(f"(?:{pattern.pattern})" for pattern in patterns), re.IGNORECASE)
    parts = _marked(_shortened(best, either), either)
    return SearchResult(section.address, section.page, section.heading, parts)


def _matches(patterns: Sequence[re.Pattern[str]], sentence: str) -> int:
    return sum(1 for pattern in patterns if pattern.search(sentence))


def _shortened(sentence: str, either: re.Pattern[str]) -> str:
    if len(sentence) <= LONGEST_EXCERPT:
        return sentence
    match = either.search(sentence)
    start = max(0, (match.start() if match else 0) - LONGEST_EXCERPT // 3)
    end = start + LONGEST_EXCERPT
    shown = sentence[start:end]
    if start:
        shown = "…" + shown.partition(" ")[2]
    return shown.rpartition(" ")[0] + "…" if end < len(sentence) else shown


def _marked(text: str, either: re.Pattern[str]) -> tuple[str, ...]:
    parts, at = list[str](), 0
    for match in either.finditer(text):
        parts += [text[at : match.start()], match[0]]
        at = match.end()
    return (*parts, text[at:])
