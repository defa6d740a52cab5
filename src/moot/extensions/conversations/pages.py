"""Conversations in v1: the query parameters and the pages of replies. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct

from moot.api.problems import Problem
from moot.api.shapes.conversations import (
    ConversationEventsResponse,
    ConversationResponse,
    ConversationsResponse,
)
from moot.api.v1.query_params import AS_SEAT, MAX_OFFSET, NAMES_SHAPE, PARAMETERS, QueryReader
from moot.core.state import Debate
from moot.core.visibility import OBSERVER
from moot.extensions.conversations.archive import ArchivedConversation, ConversationPage
from moot.extensions.conversations.debates import conversation, is_live
from moot.extensions.conversations.legacy_rows import MAX_NAME_CHARS

Shape = dict[str, Any]
Form = Literal["unified", "legacy"]
FORMS: tuple[Form, ...] = get_args(Form)


class ConversationQuery(Struct, frozen=True):
    search: str
    limit: int
    offset: int


class ConversationEventQuery(Struct, frozen=True):
    after: str
    limit: int
    form: Form
    types: tuple[str, ...]
    """Of segments; empty for all."""
    seat: str | None


def parse_listing(query: bytes) -> ConversationQuery:
    reader = QueryReader(query, "search", "limit", "offset")
    parsed = ConversationQuery(
        search=reader.text("search"),
        limit=reader.number("limit", 1, 100, 20),
        offset=reader.number("offset", 0, MAX_OFFSET, 0),
    )
    return reader.finish(parsed)


def parse_reading(query: bytes) -> ConversationEventQuery:
    reader = QueryReader(query, "after", "limit", "shape", "type", AS_SEAT)
    form: Form | None = reader.choice("shape", FORMS)
    parsed = ConversationEventQuery(
        after=reader.text("after"),
        limit=reader.number("limit", 1, 1000, 100),
        form=form or "unified",
        types=reader.names("type"),
        seat=reader.seat(),
    )
    return reader.finish(parsed)


# --- replies --------------------------------------------------------------------------------------------


def debate_summary(debate: Debate, events: Sequence[Shape]) -> ConversationResponse:
    return ConversationResponse(
        id=debate.id,
        kind="debate",
        title=debate.motion,
        source=None,
        events=len(events),
        first_ts=events[0]["ts"],
        last_ts=int(debate.updated_at.timestamp() * 1000),
    )


def imported_summary(conversation: ArchivedConversation, *, operator: bool) -> ConversationResponse:
    """With the full source for the operator; others do not see folders and hosts."""
    return ConversationResponse(
        id=conversation.id,
        kind="imported",
        title=None,
        source=conversation.source if operator else conversation.source.rpartition("/")[2],
        events=conversation.events,
        first_ts=conversation.first_ts,
        last_ts=conversation.last_ts,
    )


def imported_page(
    page: ConversationPage, query: ConversationQuery, *, operator: bool
) -> ConversationsResponse:
    return ConversationsResponse(
        conversations=tuple(imported_summary(one, operator=operator) for one in page.conversations),
        total=page.total,
        limit=query.limit,
        offset=query.offset,
        has_more=query.offset + len(page.conversations) < page.total,
    )


def events_after(events: Sequence[Shape], after: str) -> Sequence[Shape]:
    if not after:
        return events
    index = next((n for n, event in enumerate(events) if event["id"] == after), None)
    if index is None:
        raise Problem("validation", errors={"after": ["Unknown event"]})
    return events[index + 1 :]


def next_cursor(events: Sequence[Shape], after: str) -> str | None:
    """The cursor of the next page. It stays before a speech under way: the next request returns it again."""
    last = after or None
    for event in events:
        if is_live(event):
            break
        last = event["id"]
    return last


def sample_replies(debate: Debate) -> Iterator[Struct]:
    """Examples of the replies: about this debate."""
    events = conversation(debate, OBSERVER)
    about = debate_summary(debate, events)
    yield about
    yield ConversationsResponse(conversations=(about,), total=1, limit=20, offset=0, has_more=False)
    yield ConversationEventsResponse(
        conversation_id=debate.id, events=tuple(events[:2]), next=events[1]["id"], has_more=True
    )


# --- how the OpenAPI page puts it -------------------------------------------------------------------------


def _parameter(name: str, schema: Shape, text: str) -> Shape:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": text}


_WORDS = {"type": "string", "maxLength": MAX_NAME_CHARS, "pattern": r"^[^\x00-\x1f\x7f]*$"}
_LIMIT, _OFFSET = PARAMETERS["listing"][-2:]
_AS = PARAMETERS["view"][0]
QUERIES: dict[str, list[Shape]] = {
    "browsing": [
        _parameter(
            "search",
            _WORDS,
            "Only conversations with this in their text or source, in any case; the operator.",
        ),
        _LIMIT,
        _OFFSET,
    ],
    "reading": [
        _parameter("after", _WORDS, "The id of the last event that was seen, as in `next`."),
        _parameter(
            "limit",
            {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
            "Events per page.",
        ),
        _parameter("shape", {"type": "string", "enum": [*FORMS], "default": "unified"}, "In which shape."),
        _parameter(
            "type",
            {"type": "string", "pattern": NAMES_SHAPE},
            "Only segments of these types, with commas between them. Events without any are left out.",
        ),
        _AS,
    ],
}
