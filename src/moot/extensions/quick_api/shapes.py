"""The replies and stream events of `/api/debate`, with more members than its document has."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from moot.api.problems import ErrorCode
from moot.api.shapes.plain_streams import Part, PlainShape, QuickOutcome, Seq
from moot.core.json_types import Count, DebateId, Nth, Timestamp, one_of
from moot.core.statuses import EndReason


class QuickCreated(PlainShape, frozen=True, kw_only=True):
    debate_id: DebateId
    stream_url: str


class AgentStart(PlainShape, frozen=True, kw_only=True, tag="agent_start"):
    """An agent begins, or begins again: what it said before does not count."""

    agent: str
    round: Annotated[Count, Meta(description="From 0.")]
    timestamp: Timestamp
    seq: Seq
    part: Part = None


class QuickToken(PlainShape, frozen=True, kw_only=True, tag="token"):
    content: str
    agent: str
    seq: Seq
    part: Part = None


class AgentEnd(PlainShape, frozen=True, kw_only=True, tag="agent_end"):
    agent: str
    round: Count
    full_message: str
    token_count: Count
    seq: Seq
    part: Part = None


class RoundComplete(PlainShape, frozen=True, kw_only=True, tag="round_complete"):
    round: Annotated[Nth, Meta(description="How many have been held.")]
    total_rounds: Nth
    seq: Seq
    part: Part = None


class DebateComplete(QuickOutcome, frozen=True, kw_only=True, tag="debate_complete"):
    reason: Annotated[str, one_of(EndReason)]
    winner: Annotated[str | None, Meta(description="A name, or `draw`. A panel has none.")]
    seq: Seq
    part: Part = None


class QuickError(PlainShape, frozen=True, kw_only=True, tag="error"):
    """A speech failed (with `agent`), or the debate did: then the stream ends."""

    message: str
    code: Annotated[str, one_of(ErrorCode)]
    retryable: bool
    agent: str | None = None
    round: Count | None = None
    seq: Seq | None = None
    part: Part = None


QuickEvent = AgentStart | QuickToken | AgentEnd | RoundComplete | DebateComplete | QuickError
