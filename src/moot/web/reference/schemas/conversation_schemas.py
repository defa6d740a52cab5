"""Conversations: events with unified segments, or in the shape of the older table.

Their members are written as that table wrote them, with underscores."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from moot.web.reference.schemas.base_schemas import LEFT_OUT


class Row(BaseModel):
    """Members that are not named here are passed on as they are."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class ThoughtPart(Row):
    summary_index: int
    type: str
    text: str
    sequence_number: int
    is_complete: bool
    created_at: int


class UnifiedSegment(Row):
    """By `type`: `text` has `text`; `tool_call` has `id`, `name`, `args` and may have `server_label`,
    `display_name` and `server_type`; `tool_result` has `id`, `output` and may have `error`; `reasoning` has
    `id`, `output_index`, `sequence_number`, `parts` and may have `combined_text`, `effort_level` and
    `reasoning_tokens`; `completion_status` has `status` and may have `metadata`; `unknown_item` has
    `item_type` and `item`, which the service sent. Let others pass."""

    type: str = LEFT_OUT


class TokenCounts(Row):
    reasoning_tokens: int = LEFT_OUT
    completion_tokens: int = LEFT_OUT
    """`reasoning_tokens` included."""
    total_tokens: int = LEFT_OUT
    input_tokens: int = LEFT_OUT


class ResponseMetadata(Row):
    total_output_items: int = LEFT_OUT
    completion_status: Literal["complete", "partial", "interrupted"] = LEFT_OUT
    """`partial`: under way, or cut off by a limit. `interrupted`: it was broken off, or came to nothing."""
    usage: TokenCounts = LEFT_OUT


class ConversationEvent(Row):
    id: str
    role: str
    segments: list[UnifiedSegment]
    response_metadata: ResponseMetadata = LEFT_OUT
    reasoning: dict[str, Any] | None = LEFT_OUT
    """In the older shape alone: `item_id`, `output_index`, `parts` by number, `combined_text` and so on."""
    ts: int
    """Milliseconds since 1970."""
    kind: str = LEFT_OUT
    """Of a debate: `motion`, `speech`, `remark`, `question` or `point`."""
    seat: str = LEFT_OUT
    name: str = LEFT_OUT
    turn: int = LEFT_OUT
    live: bool = LEFT_OUT
    """It is being given: more of it will come."""
    struck: bool = LEFT_OUT
    """It was given again later."""
    order_key: str = LEFT_OUT
    created_at: str | None = LEFT_OUT
    """Of an imported one, as the old table had it."""
