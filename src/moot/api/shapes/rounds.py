"""A round, the beginnings of its speeches, what is to be said about a speech, and who is speaking."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moot.core.json_types import Amount, Count, Nth, SeatId, Timestamp


class SpeechMarks(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """What is to be said about a speech; most speeches have few of these."""

    status: Annotated[str, Meta(description="The speaker failed.", extra_json_schema={"const": "error"})] = ""
    interrupted: Annotated[str, Meta(description="By what the speech was cut short.")] = ""
    words: Count = 0
    truncated: str = ""
    refusal: bool = False
    refusal_category: Annotated[
        str, Meta(description="The policy that the refusal rests on, as the provider names it.")
    ] = ""
    degraded: Annotated[
        str, Meta(description="What was left out or repaired in the request or the reply.")
    ] = ""
    over_length: bool = False
    clipped: Annotated[
        Count, Meta(description="How many of its words count, where it exceeded its budget.")
    ] = 0


class SpeechPreview(SpeechMarks, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The beginning of a speech."""

    participant_id: SeatId
    participant_name: str
    content_preview: Annotated[str, Meta(extra_json_schema={"maxLength": 200})]
    tokens_used: Count
    turn: Nth
    speech: Annotated[Nth, Meta(description="Its place in the order of speeches.")]
    phase: str


class DebateRoundSummary(Struct, frozen=True, rename="camel", kw_only=True):
    round_number: Nth
    responses: tuple[SpeechPreview, ...]
    total_tokens: Count
    round_cost: Amount
    timestamp: Timestamp


class Speaker(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    participant_id: SeatId
    turn: Nth
    speech: Nth
    person: bool = False
    ends_at: Annotated[
        Timestamp | UnsetType | None,
        Meta(description="When a person's time is up; null while the clock is stopped."),
    ] = UNSET
