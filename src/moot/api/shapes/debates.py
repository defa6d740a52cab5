"""Replies about debates: one that was opened, its status, a list of them, the result of a command."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from moot.api.shapes.base import Amount, Count, DebateId, StateName, Timestamp

# --- a list of debates ----------------------------------------------------------------------------------


class Sitting(Struct, frozen=True, rename="camel", kw_only=True):
    """A participant, in brief."""

    name: str
    model: str
    position: Annotated[str, Meta(description="What they argue; `moderator` for one who only moderates.")]
    color: str


class DebateSummary(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    id: DebateId
    topic: str
    status: StateName
    participant_count: Count
    current_round: Count
    max_rounds: Count
    total_cost: Amount
    created_at: Timestamp
    completed_at: Timestamp | None = None
    format: str
    unpriced: Annotated[bool, Meta(description="Some of it has a price that nobody knows.")]
    winner: Annotated[str | None, Meta(description="A participant's name.")] = None
    outcome: Annotated[str, Meta(extra_json_schema={"enum": ["win", "too-close", "draw"]})] = ""
    headline: Annotated[str, Meta(description="Who won, in a few words.")] = ""
    total_cost_text: str
    participants: tuple[Sitting, ...]
    strip: Annotated[
        tuple[Count, ...],
        Meta(description="Who gives each speech, by their place among the participants, counted from 0."),
    ]
    given: Annotated[Count, Meta(description="So many speeches of the strip are behind us.")]


class Pagination(Struct, frozen=True, rename="camel", kw_only=True):
    total: Count
    limit: Count
    offset: Count
    has_more: bool


class ListDebatesResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debates: tuple[DebateSummary, ...]
    pagination: Pagination


# --- the result of a command ----------------------------------------------------------------------------


class ActionResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    current_round: Count
    status: StateName
    message: str


class SubmitRoundResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    current_round: Count
    status: StateName
    message: str


class InjectResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    current_round: Count
    status: Annotated[str, Meta(extra_json_schema={"const": "queued"})]
    message: str
    current_status: StateName


class TriggerJudgeResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    message: str


class PauseDebateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    paused_at: Timestamp
    pausing: Annotated[bool, Meta(description="A speech is still being given to its end.")]


class ResumeDebateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    resumed_at: Timestamp


class StopDebateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    stopped_at: Timestamp
    message: str
    stopped: Annotated[bool, Meta(extra_json_schema={"const": True})]


class TicketResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    ticket: str
    expires_in: Count
    stream_url: str
