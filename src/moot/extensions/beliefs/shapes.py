"""Private beliefs in the JSON export of a debate."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from moot.core.json_types import Nth, SeatId
from moot.views.transcript_shapes import Votes


class BeliefAfterSpeech(Struct, frozen=True, rename="camel", kw_only=True):
    """Chances from 0 to 1; null where it was not asked or not answered."""

    turn: Annotated[Nth | None, Meta(description="null: before the first speech.")]
    speaker: SeatId | None
    before: Annotated[float | None, Meta(description="The speaker's own chance before the speech.")]
    after: float | None
    judge: Annotated[dict[str, float], Meta(description="By party, as a judge saw it after the speech.")]


class PartyConfidence(Struct, frozen=True, rename="camel", kw_only=True):
    party: SeatId
    opening: float | None
    closing: float | None


class JudgeTurningPoint(Struct, frozen=True, rename="camel", kw_only=True):
    """The speech after which the judge's belief moved most, and in favour of which party."""

    turn: Nth
    party: SeatId
    before: float
    after: float


class Beliefs(Struct, frozen=True, rename="camel", kw_only=True):
    speeches: tuple[BeliefAfterSpeech, ...]
    parties: tuple[PartyConfidence, ...]
    turning_point: JudgeTurningPoint | None
    account: tuple[str, ...]
    model_audience: Annotated[Votes | None, Meta(description="Votes of models, not of people.")]
