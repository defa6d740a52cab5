"""Quotations in a speech, compared with the text that they are said to come from.

A judge that may not read the text is told of each quotation whether it stands there word for word. The mark
has the secret name of the judge's fence, so that no speaker can write one. Upper and
lower case, spaces and the shapes of quotation marks, apostrophes and dashes make no difference; anything else
does, also where it would not change the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from moot.core.terms import DebateQuestion
from moot.prompts.fences import Fence
from moot.prompts.templates import section

MIN_QUOTED_WORDS = 3
"""Shorter ones are names and single words, which stand in quotation marks for other reasons."""
_QUOTED = re.compile(r'["“”„«»]([^"“”„«»]{1,1500})["“”„«»]')
_SHAPES = str.maketrans({"’": "'", "‘": "'", "–": "-", "—": "-", "‑": "-", "…": " "})


class SpeechPart(Struct, frozen=True):
    """A part of a speech that ends with a quotation, or its rest."""

    text: str
    found: bool | None = None
    """Whether the quotation stands in the text; None where the part ends with none."""


def with_checked_quotes(text: str, question: DebateQuestion | None, fence: Fence) -> str:
    """The text escaped. Where the question is about a text that only the speakers read, each quotation gets a
    mark that says whether it stands there."""
    if question is None or not question.passage:
        return fence.hold(text)
    return "".join(
        fence.hold(part.text) + ("" if part.found is None else quote_mark(fence, part.found))
        for part in checked_parts(text, question.passage)
    )


def quote_mark(fence: Fence, found: bool) -> str:
    return f" [{fence.name}: {'in the text' if found else 'not in the text'}]"


def quote_rules(question: DebateQuestion, fence: Fence) -> str:
    """What a judge is told about quotations."""
    marks = {"found": quote_mark(fence, True).strip(), "missing": quote_mark(fence, False).strip()}
    return section("question", "judge-quotes" if question.passage else "judge-unchecked", **marks) + "\n"


def checked_parts(speech: str, passage: str) -> Iterator[SpeechPart]:
    """The speech in parts; joined, their texts are the speech.

    >>> said = 'It says "the well is dry" and "it never rains there".'
    >>> [part.found for part in checked_parts(said, "In May the well is dry.")]
    [True, False, None]
    """
    plain, end = _plain(passage), 0
    for match in _QUOTED.finditer(speech):
        quoted = _plain(match[1])
        if len(quoted.split()) >= MIN_QUOTED_WORDS:
            yield SpeechPart(speech[end : match.end()], _stands_in(quoted, plain))
            end = match.end()
    if end < len(speech):
        yield SpeechPart(speech[end:])


def _stands_in(quoted: str, plain: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(quoted)}(?!\w)", plain) is not None


def _plain(text: str) -> str:
    folded = " ".join(text.translate(_SHAPES).casefold().split())
    return folded.strip(" .,;:!?-")
