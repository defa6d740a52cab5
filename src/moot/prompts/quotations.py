"""Quotations in a speech, compared with the text that they are said to come from.

A judge that may not read the text is told of each quotation whether it stands there word for word. The mark
has the secret name of the judge's fence, so that no speaker can write one. Where it is limited how
much a speaker may quote, what exceeds it is not vouched for. Upper and lower case, spaces and the shapes of
quotation marks, apostrophes and dashes make no difference; anything else does, also where it would not change
the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from moot.core.state import Debate, Turn
from moot.core.terms import DebateQuestion
from moot.prompts.fences import Fence
from moot.prompts.templates import section

MIN_QUOTED_WORDS = 3
"""Shorter ones are names and single words, which stand in quotation marks for other reasons."""
_QUOTED = re.compile(r'["“”„«»]([^"“”„«»]{1,1500})["“”„«»]')
_SHAPES = str.maketrans({"’": "'", "‘": "'", "–": "-", "—": "-", "‑": "-", "…": " "})


QuoteMark = Literal["found", "missing", "over"]
"""Whether a quotation stands in the text; `over`: it does, beyond the words that its speaker may quote."""
MARKS: Mapping[QuoteMark, str] = {
    "found": "in the text",
    "missing": "not in the text",
    "over": "not checked, too many quotations",
}


class SpeechPart(Struct, frozen=True):
    """A part of a speech that ends with a quotation, or its rest."""

    text: str
    mark: QuoteMark | None = None
    """None where the part ends with no quotation."""
    words: int = 0
    """Of the quotation."""


def checked_speech(debate: Debate, turn: Turn | None, text: str, fence: Fence) -> str:
    """The text of a speech escaped. Where the question is about a text that only the speakers read, each
    quotation gets a mark that says whether it stands there."""
    question = debate.setup.question
    if question is None or not question.passage:
        return fence.hold(text)
    left = words_left(debate, turn) if turn else question.quote_words
    return "".join(
        fence.hold(part.text) + (quote_mark(fence, part.mark) if part.mark else "")
        for part in checked_parts(text, question.passage, left)
    )


def words_left(debate: Debate, turn: Turn) -> int | None:
    """How many words the speaker of this turn may still quote; None where that is not limited."""
    question = debate.setup.question
    if question is None or question.quote_words is None:
        return None
    left = question.quote_words
    for other in sorted(debate.turns, key=lambda other: other.number):
        if other.seat == turn.seat and other.number < turn.number:
            parts = checked_parts(debate.heard_text(other), question.passage, left)
            left -= sum(part.words for part in parts if part.mark == "found")
    return left


def quote_mark(fence: Fence, mark: QuoteMark) -> str:
    return f" [{fence.name}: {MARKS[mark]}]"


def quote_rules(question: DebateQuestion, fence: Fence) -> str:
    """What a judge is told about quotations."""
    if not question.passage:
        return section("question", "judge-unchecked") + "\n"
    marks = {name: quote_mark(fence, name).strip() for name in MARKS}
    over = "" if question.quote_words is None else section("question", "judge-over", **marks) + "\n"
    return section("question", "judge-quotes", **marks) + "\n" + over


def checked_parts(speech: str, passage: str, words_left: int | None = None) -> Iterator[SpeechPart]:
    """The speech in parts; joined, their texts are the speech. Only quotations that stand in the passage
    count towards the words that are left.

    >>> said = 'It says "the well is dry" and "it never rains there".'
    >>> [part.mark for part in checked_parts(said, "In May the well is dry.")]
    ['found', 'missing', None]
    >>> [part.mark for part in checked_parts(said, "In May the well is dry.", 3)]
    ['over', 'missing', None]
    """
    plain, end = _plain(passage), 0
    for match in _QUOTED.finditer(speech):
        quoted = _plain(match[1])
        words = len(quoted.split())
        if words >= MIN_QUOTED_WORDS:
            mark: QuoteMark = "found" if _stands_in(quoted, plain) else "missing"
            if mark == "found" and words_left is not None:
                mark, words_left = (
                    ("found", words_left - words) if words <= words_left else ("over", words_left)
                )
            yield SpeechPart(speech[end : match.end()], mark, words)
            end = match.end()
    if end < len(speech):
        yield SpeechPart(speech[end:])


def _stands_in(quoted: str, plain: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(quoted)}(?!\w)", plain) is not None


def _plain(text: str) -> str:
    folded = " ".join(text.translate(_SHAPES).casefold().split())
    return folded.strip(" .,;:!?-")
