"""What is kept of a debate: the transcript, the log itself, and single calls."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Field

from moot.core.events import Event
from moot.core.terms import Status
from moot.web.reference.schemas.base_schemas import (
    LEFT_OUT,
    Count,
    DebateId,
    Dollars,
    JudgeId,
    Moment,
    Nth,
    Reply,
    SeatId,
    Seconds,
)
from moot.web.reference.schemas.people_schemas import ReachedVerdict, Votes
from moot.web.reference.schemas.reply_schemas import CostSummary, Judge, Table, Verdict


class TranscriptDebate(Reply):
    id: DebateId
    topic: str
    format: str
    status: Status
    created_at: Moment
    completed_at: Moment | None
    duration: Seconds
    ending: str


class TranscriptPoint(Reply):
    participant: str
    participant_id: SeatId
    accepted: bool
    text: str = LEFT_OUT


class TranscriptSpeech(Reply):
    participant: str
    participant_id: SeatId
    turn: Nth
    phase: str
    title: str
    content: str
    words: Count
    tokens_used: Count
    estimated: bool
    cost: Dollars | None
    latency_ms: Count
    flags: list[str]
    notes: list[str]
    timestamp: Moment
    budget: Count
    """How many words count."""
    words_heard: Count = LEFT_OUT
    """So many of them were heard, since it went beyond its budget."""
    by_hand: Literal[True] = LEFT_OUT
    """A person gave it."""
    speaks_as: str = LEFT_OUT
    points: list[TranscriptPoint] = LEFT_OUT
    """Points of information that were offered in it."""
    reasoning: str = LEFT_OUT


class TranscriptRound(Reply):
    round_number: Nth
    responses: list[TranscriptSpeech]
    struck: list[TranscriptSpeech] = LEFT_OUT
    """Speeches that were given again; they count for nothing."""


class TranscriptRemark(Reply):
    text: str
    by: str
    to: SeatId | None
    at: Moment
    before_turn: Count | None
    question: bool


class TranscriptResponse(Table):
    judge: Judge | None
    debate: TranscriptDebate
    rounds: list[TranscriptRound]
    remarks: list[TranscriptRemark]
    verdict: Verdict | None
    verdicts: list[ReachedVerdict]
    audience: Votes | None
    """null where the audience is not asked."""
    accidents: dict[str, dict[str, list[Nth]]]
    """What went wrong in which turns, by participant."""
    costs: CostSummary


_TAGS = [event.__struct_config__.tag for event in get_args(Event)]


class LoggedEvent(Reply):
    """As it was written down; docs/events.md has the members of each type."""

    model_config = ConfigDict(extra="allow")
    type: Annotated[str, Field(json_schema_extra={"enum": [*_TAGS, "hidden"]})]
    """`hidden`: there is an event in this place which the asker may not see."""


class LogEntry(Reply):
    seq: Nth
    at: Moment
    event: LoggedEvent


class EventPage(Reply):
    events: list[LogEntry]
    after: Count
    next: Count
    """What to ask for as `after` next."""
    has_more: bool


class CallWords(Reply):
    text: str
    reasoning: str
    segments: list[dict[str, Any]]
    """As they came. One that was cut has `unfinished`, and what had come of it."""


class CallResponse(Reply):
    call: Nth
    model: str
    attempt: Nth
    turn: Count | None
    judge: JudgeId | None
    aside: Count | None
    """What was asked beside the speeches."""
    order: Count | None
    """In which order the judge was shown the speakers."""
    sent: dict[str, Any] | None
    """The request as it was put together."""
    got: CallWords
    outcome: dict[str, Any] | None
