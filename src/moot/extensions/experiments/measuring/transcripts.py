"""What two debates have in common if they are the same word for word: the digest of what was heard.

The digest is made of the motion (with its answers, where it is a question) and of every speech in order: its
side, its model and its text as the others heard it. Ids, times and what is over a budget do not count.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from moot.core.state import Debate
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.judging.judged_speeches import speeches


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
    question = debate.manner.question
    said = (debate.motion, question.choices if question else (), heard)
    return sha256(msgspec.json.encode(said)).hexdigest()[:32] if heard else ""
