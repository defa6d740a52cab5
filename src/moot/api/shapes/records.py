"""Replies about what is kept of a debate: its log, single calls, and the verdicts with their ballots."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, get_args

from msgspec import Meta, Raw, Struct

from moot.core.events import TAGS, Event
from moot.core.json_types import Count, DebateId, JudgeId, Nth
from moot.views.transcript_shapes import ReachedVerdict

_EVENT_TYPES = [tag for event in get_args(Event) if (tag := str(event.__struct_config__.tag)) in TAGS]


class LogEntry(Struct, frozen=True, rename="camel", kw_only=True):
    seq: Nth
    at: datetime
    event: Annotated[
        Raw,
        Meta(
            description="As it is stored; docs/events.md has the members of each type.",
            extra_json_schema={
                "type": "object",
                "properties": {
                    "type": {
                        "type": "string",
                        "enum": [*_EVENT_TYPES, "hidden"],
                        "description": "`hidden`: an event that the client may not see.",
                    }
                },
                "required": ["type"],
                "additionalProperties": True,
            },
        ),
    ]


class EventPage(Struct, frozen=True, rename="camel", kw_only=True):
    events: tuple[LogEntry, ...]
    after: Count
    next: Annotated[Count, Meta(description="What to send as `after` next.")]
    has_more: bool


class CallWords(Struct, frozen=True, rename="camel", kw_only=True):
    text: str
    reasoning: str
    segments: Annotated[
        tuple[dict[str, Any], ...],
        Meta(description="In order. One that was cut off has `unfinished` and its text so far."),
    ]


class CallResponse(Struct, frozen=True, rename="camel", kw_only=True):
    call: Nth
    model: str
    attempt: Nth
    turn: Count | None
    judge: JudgeId | None
    aside: Annotated[Count | None, Meta(description="What was asked beside the speeches.")]
    order: Annotated[Count | None, Meta(description="In which order the judge was shown the speakers.")]
    sent: Annotated[dict[str, Any] | None, Meta(description="The request as it was put together.")]
    got: CallWords
    outcome: dict[str, Any] | None


class VerdictsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    verdicts: Annotated[
        tuple[ReachedVerdict, ...], Meta(description="The first is the result of the debate.")
    ]
    being_judged: bool
