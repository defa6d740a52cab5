"""The replies and stream events of `/api/debate/stream`, with more members than its document has."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from moot.api.shapes.plain_streams import PlainShape
from moot.core.json_types import Amount, Count, DebateId, Nth
from moot.extensions.turn_sessions.rows import SessionTurn

TableTime = Annotated[
    str, Meta(extra_json_schema={"format": "date-time"}, examples=["2024-12-03T05:30:00.000Z"])
]


class SimpleError(PlainShape, frozen=True, kw_only=True):
    error: str


class SessionBegun(PlainShape, frozen=True, kw_only=True):
    session_id: DebateId
    stream_url: str


class TurnCancelled(PlainShape, frozen=True, kw_only=True):
    session_id: DebateId
    cancelled: bool


class SessionBrief(PlainShape, frozen=True, kw_only=True):
    id: DebateId
    topic_text: str
    model1_id: str
    model2_id: Annotated[str, Meta(description="Empty until its first turn is asked for.")]
    adversarial_level: Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 5})]
    current_turn: Annotated[Count, Meta(description="The last that was begun; 0 before the first.")]
    total_cost: Amount
    created_at: TableTime | None
    updated_at: TableTime | None


class DebateSession(SessionBrief, frozen=True, kw_only=True):
    turn_history: tuple[SessionTurn, ...]
    model1_response_ids: tuple[str, ...]
    model2_response_ids: tuple[str, ...]


class SessionsResponse(PlainShape, frozen=True, kw_only=True):
    sessions: tuple[SessionBrief, ...]
    total: Count


class TurnReasoning(PlainShape, frozen=True):
    event: ClassVar[str] = "reasoning"
    chunk: str


class TurnContent(PlainShape, frozen=True):
    event: ClassVar[str] = "content"
    chunk: str


class TurnCost(PlainShape, frozen=True, kw_only=True):
    """US dollars, in three parts that make the total."""

    total: Amount
    input: Amount
    output: Amount
    reasoning: Amount
    known: Annotated[
        bool,
        Meta(
            description="Only where no price is known.",
            extra_json_schema={"const": False},
        ),
    ] = True


class ResponsesUsage(Struct, frozen=True, kw_only=True):
    """Tokens as the Responses API counts them."""

    input_tokens: Count
    input_tokens_details: dict[str, Count]
    output_tokens: Count
    output_tokens_details: dict[str, Count]
    total_tokens: Count


class TurnComplete(PlainShape, frozen=True, kw_only=True):
    event: ClassVar[str] = "complete"
    response_id: Annotated[str, Meta(description="To be sent with this model's next turn.")]
    token_usage: ResponsesUsage
    cost: TurnCost
    session_id: DebateId
    turn_number: Nth
    content: Annotated[str, Meta(description="The full text: all chunks of `content` together.")]


class TurnError(PlainShape, frozen=True):
    event: ClassVar[str] = "error"
    message: str
    retrying: Annotated[
        bool,
        Meta(
            description="The answer was begun again and differs from what was sent: request the same turn to "
            "read it.",
            extra_json_schema={"const": True},
        ),
    ] = False


TurnStreamEvent = TurnReasoning | TurnContent | TurnComplete | TurnError
