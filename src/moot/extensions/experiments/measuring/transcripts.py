"""What two debates have in common if they are the same word for word: the digest of what was heard.

The digest is made of the motion (with its answers, where it is a question) and of every speech in order: its
side, its model and its text as the others heard it. Ids, times and what is over a budget do not count.

Models that ignore the seed, or have a temperature of 0, write the same speeches in every repeat. Such repeats
tell nothing new about the debaters, only about how steadily the judges judge: they count once, and are told.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from moot.core.state import Debate
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.judging.judged_speeches import speeches
from moot.views.text import plural

if TYPE_CHECKING:
    from moot.extensions.experiments.measuring.leg_results import LegResult


def debate_seed(debate: Debate) -> int | None:
    """The first seed that was sent to a model; each seat has the next."""
    return next((seat.model.seed for seat in debate.seats if seat.model.seed is not None), None)


def transcript_digest(debate: Debate) -> str:
    """Of the motion, and of who said what as it was heard; empty where nothing was said."""
    heard = [
        (seat.side, contestant_name(seat.model), debate.heard_text(turn))
        for turn in speeches(debate)
        if turn.has_words and (seat := debate.seat(turn.seat))
    ]
    question = debate.setup.question
    said = (debate.motion, question.choices if question else (), heard)
    return sha256(msgspec.json.encode(said)).hexdigest()[:32] if heard else ""


class TranscriptCount:
    """Counts judged debates, and those of them that repeat another."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._repeats: set[str] = set()
        self._judged: set[str] = set()

    def add(self, result: LegResult) -> None:
        """The same debate may be added again, once it has been judged again."""
        if not result.transcript or not (result.judgments or result.rankings):
            return
        self._judged.add(result.debate)
        if self._first.setdefault(result.transcript, result.debate) != result.debate:
            self._repeats.add(result.debate)

    @property
    def note(self) -> str:
        """One sentence; empty where no debate repeats another."""
        count = len(self._repeats)
        if not count:
            return ""
        verbs = ("repeats", "counts") if count == 1 else ("repeat", "count")
        return (
            f"{count:,} of {plural(len(self._judged), 'debate')} {verbs[0]} another word for word, and "
            f"{verbs[1]} with it once: the models write the same whatever the seed. Set a temperature."
        )
