"""Replies about conversations, and the rows of which their events are made.

The server passes rows on as dictionaries: an imported row may have further members, and keeps them. So
`ConversationEvent` and its parts, with underscores in their names as the older table had them, describe rows.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moot.core.json_types import SCHEMA_TEMPLATE, Count


class ConversationResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """A debate, or a conversation that was imported."""

    id: str
    kind: Literal["debate", "imported"]
    title: str | None
    source: Annotated[str | None, Meta(description="Where it was imported from; in full for the operator.")]
    events: Count
    first_ts: Annotated[int, Meta(description="Milliseconds since 1970.")]
    last_ts: Annotated[int, Meta(description="Milliseconds since 1970.")]


class ConversationsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    conversations: tuple[ConversationResponse, ...]
    total: Count
    limit: int
    offset: Count
    has_more: bool


class UnifiedSegment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """By `type`: `text` has `text`; `tool_call` has `id`, `name`, `args` and may have `server_label`,
    `display_name` and `server_type`; `tool_result` has `id`, `output` and may have `error`; `reasoning` has
    `id`, `output_index`, `sequence_number`, `parts` and may have `combined_text`, `effort_level` and
    `reasoning_tokens`; `completion_status` has `status` and may have `metadata`; `unknown_item` has
    `item_type` and `item`, which the service sent. Ignore other types."""

    type: str = ""


class TokenCounts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    reasoning_tokens: int | None = None
    completion_tokens: Annotated[int | None, Meta(description="`reasoning_tokens` included.")] = None
    total_tokens: int | None = None
    input_tokens: int | None = None


class ResponseMetadata(Struct, frozen=True, kw_only=True, omit_defaults=True):
    total_output_items: int | None = None
    completion_status: Annotated[
        Literal["complete", "partial", "interrupted"] | None,
        Meta(description="`partial`: under way, or cut off by a limit. `interrupted`: cut short, or failed."),
    ] = None
    usage: TokenCounts | None = None


class ConversationEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message of a conversation. Members that are not named here are passed on as they are."""

    id: str
    role: str
    segments: tuple[UnifiedSegment, ...]
    response_metadata: ResponseMetadata | None = None
    reasoning: Annotated[
        dict[str, Any] | UnsetType | None,
        Meta(
            description="In the older shape alone: `item_id`, `output_index`, `parts` by number, "
            "`combined_text` and so on."
        ),
    ] = UNSET
    ts: Annotated[int, Meta(description="Milliseconds since 1970.")]
    kind: Annotated[
        str, Meta(description="Of a debate: `motion`, `speech`, `remark`, `question` or `point`.")
    ] = ""
    seat: str = ""
    name: str = ""
    turn: int | None = None
    live: Annotated[bool, Meta(description="It is being given: more of it will come.")] = False
    struck: Annotated[bool, Meta(description="It was given again later.")] = False
    order_key: str = ""
    created_at: Annotated[
        str | UnsetType | None, Meta(description="Of an imported one, as the old table had it.")
    ] = UNSET


class ConversationEventsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """A page of the events of a conversation."""

    conversation_id: str
    events: tuple[
        Annotated[
            dict[str, Any],
            Meta(extra_json_schema={"$ref": SCHEMA_TEMPLATE.format(name="ConversationEvent")}),
        ],
        ...,
    ]
    next: Annotated[
        str | None,
        Meta(description="What to send as `after` next. It never steps over an event that is under way."),
    ]
    has_more: bool


ROWS = (UnifiedSegment, TokenCounts, ResponseMetadata, ConversationEvent)
"""What may have members that are not described."""
