"""What comes back where every turn is asked for: sessions, and the four events of a turn."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from moot.web.reference.schemas.base_schemas import LEFT_OUT, Count, DebateId, Dollars, Moment, Nth, Reply

TokenUsage = Annotated[
    dict[str, Any], Field(examples=[{"input_tokens": 850, "output_tokens": 300, "total_tokens": 1150}])
]


class SimpleError(Reply):
    error: str


class SessionBegun(Reply):
    session_id: DebateId
    stream_url: str


class TurnCancelled(Reply):
    session_id: DebateId
    cancelled: bool


class SessionTurn(Reply):
    turn: Nth
    model_id: str
    content: str
    reasoning: str
    """Empty for those who may not read it."""
    response_id: str
    cost: Dollars
    timestamp: int
    """Milliseconds since 1970."""


class SessionBrief(Reply):
    id: DebateId
    topic_text: str
    model1_id: Annotated[str, Field(alias="model1Id")]
    model2_id: Annotated[str, Field(alias="model2Id")]
    """Empty until its first turn is asked for."""
    adversarial_level: Annotated[int, Field(ge=1, le=5)]
    current_turn: Count
    """The last that was begun; 0 before the first."""
    total_cost: Dollars
    created_at: Moment | None
    updated_at: Moment | None


class DebateSession(SessionBrief):
    turn_history: list[SessionTurn]
    model1_response_ids: Annotated[list[str], Field(alias="model1ResponseIds")]
    model2_response_ids: Annotated[list[str], Field(alias="model2ResponseIds")]


class SessionsResponse(Reply):
    sessions: list[SessionBrief]
    total: Count


class TurnReasoning(Reply):
    event: ClassVar[str] = "reasoning"
    chunk: str


class TurnContent(Reply):
    event: ClassVar[str] = "content"
    chunk: str


class TurnCost(Reply):
    """US dollars, in three parts that make the total."""

    total: Dollars
    input: Dollars
    output: Dollars
    reasoning: Dollars
    known: Literal[False] = LEFT_OUT
    """Nobody knows the price: the noughts are none."""


class TurnComplete(Reply):
    event: ClassVar[str] = "complete"
    response_id: str
    """To be sent with this model's next turn."""
    token_usage: TokenUsage
    """As the Responses API tells it."""
    cost: TurnCost
    session_id: DebateId
    turn_number: Nth
    content: str
    """The whole: what the chunks of `content` make together."""


class TurnError(Reply):
    event: ClassVar[str] = "error"
    message: str
    retrying: Literal[True] = LEFT_OUT
    """The answer was begun again and differs from what was sent: ask for the same turn to read it."""


TURN_EVENTS: tuple[type[Reply], ...] = (TurnReasoning, TurnContent, TurnComplete, TurnError)
TURN_REPLIES: tuple[type[Reply], ...] = (
    SimpleError, SessionBegun, TurnCancelled, DebateSession, SessionsResponse, *TURN_EVENTS,
)  # fmt: skip
