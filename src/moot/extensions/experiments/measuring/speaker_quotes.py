"""What each speaker quoted from the passage in a debate on a question: how much of it stands there.

The marks are those that judges read (`prompts/quotations.py`). A false quotation is one of three words or
more in quotation marks that does not stand in the passage word for word, whatever was meant by the marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from moot.core.state import Debate
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.prompts.quotations import checked_parts, words_left


class SpeakerQuotes(Struct, frozen=True, omit_defaults=True):
    """The quotations of one speaker in one debate."""

    model: str
    argued_right: bool
    group: str
    """The passage."""
    found: int = 0
    missing: int = 0
    """Those that do not stand in the passage."""
    over: int = 0
    """Those that do, beyond the words that may be quoted."""
    words: int = 0
    """Of the quotations that were found."""

    @property
    def count(self) -> int:
        return self.found + self.missing + self.over


def speaker_quotes(debate: Debate, group: str, right_choice: int) -> Iterator[SpeakerQuotes]:
    """`right_choice` is the index of the right answer among those of the debate. Nothing where there is no
    passage, or nobody argues."""
    question = debate.setup.question
    if question is None or not question.passage or debate.format.result == "none":
        return
    for seat in debate.seats:
        choice = question.choice_of(seat.side)
        if choice is None:
            continue
        marks, words = Counter[str](), 0
        for turn in debate.turns:
            if turn.seat == seat.id and turn.has_words:
                for part in checked_parts(
                    debate.heard_text(turn), question.passage, words_left(debate, turn)
                ):
                    marks[part.mark or ""] += 1
                    words += part.words if part.mark == "found" else 0
        yield SpeakerQuotes(
            model=contestant_name(seat.model),
            argued_right=choice == right_choice,
            group=group,
            found=marks["found"],
            missing=marks["missing"],
            over=marks["over"],
            words=words,
        )
