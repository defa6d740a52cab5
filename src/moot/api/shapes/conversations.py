"""Replies about conversations and about the models that can be installed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from moot.api.shapes.base import SCHEMA_TEMPLATE, Count


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


class ConversationEventsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """A page of the events of a conversation."""

    conversation_id: str
    events: Annotated[
        tuple[dict[str, Any], ...],
        Meta(extra_json_schema={"items": {"$ref": SCHEMA_TEMPLATE.format(name="ConversationEvent")}}),
    ]
    next: Annotated[
        str | None,
        Meta(description="What to send as `after` next. It never steps over an event that is under way."),
    ]
    has_more: bool


class InstallResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """A model that runs on the server's own machine."""

    name: str
    title: str
    bytes: Count
    licence: str
    summary: str
    small: bool
    state: Literal["absent", "installing", "installed", "failed"]
    done: Annotated[Count, Meta(description="Bytes that are here.")]
    total: Count
    error: Annotated[
        str | None, Meta(description="What went wrong, and what to do about it; for the operator.")
    ]


class InstallsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    models: tuple[InstallResponse, ...]
    operator: Annotated[bool, Meta(description="Whether the client may install them.")]
