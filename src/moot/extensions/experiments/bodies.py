"""What is sent to the routes of experiments."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from moot.api.v1.bodies import LEFT_OUT, Body, Example
from moot.api.v1.people_bodies import MAX_NAME_LENGTH, OptionalNumber
from moot.api.v1.validation_messages import FixedMessage, between, line, lines, matching, one_of
from moot.core.json_types import DEBATE_ID
from moot.judging.ballots import MAX_REASONING_CHARS


class ExperimentVote(Body):
    example: ClassVar[Example] = {"voter": "Zoe", "debate": "deb_01HZ9X8K7M3QR5TNVWXYZ12345", "winner": "A"}
    voter: Annotated[str, line(1, MAX_NAME_LENGTH)]
    """Who votes; the same as in the queue."""
    debate: Annotated[str, matching(DEBATE_ID.strip("^$"), 30, "Must be a debate id")]
    winner: Annotated[Literal["A", "B", "tie"], FixedMessage(one_of(("A", "B", "tie")))]
    """A side as the queue shows it."""
    reason: Annotated[str, lines(0, MAX_REASONING_CHARS)] = ""
    probability: Annotated[OptionalNumber, between(0.5, 1)] = LEFT_OUT
    """Where the debate is about a question: how probable the answer of that side is, from 0.5."""
