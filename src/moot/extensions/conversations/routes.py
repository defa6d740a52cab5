"""Routes that read debates and imported conversations in one shape, as events of unified segments.

An imported conversation can be read by those who may conduct debates for the owner of the import; for others
it does not exist.
"""

from __future__ import annotations

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.rights import check, may, viewer_as
from moot.api.shapes.conversations import (
    ConversationEventsResponse,
    ConversationResponse,
    ConversationsResponse,
)
from moot.core.errors import UnknownDebate
from moot.core.state import Debate
from moot.extensions.conversations import pages
from moot.extensions.conversations.archive import ArchivedConversation
from moot.extensions.conversations.archive_rows import decode_segments, legacy_shape, unified_shape
from moot.extensions.conversations.debates import conversation
from moot.extensions.conversations.legacy_rows import (
    MAX_NAME_CHARS,
    JsonObject,
    only_segment_types,
    to_legacy_shape,
)
from moot.extensions.conversations.rights import ARCHIVE
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.web.app_context import AppContext, identity_of, query_string
from moot.web.responses import json_reply
from moot.web.route_docs import READ, api_router, documented
from moot.web.routes.handlers import Context, path_parameter

ConversationId = Annotated[
    str,
    path_parameter(
        "conversationId",
        # `.` and `..` as the last part of an address lead elsewhere before they reach the server.
        r"^[^\x00-\x1f\x7f]*[^\x00-\x1f\x7f.]$",
        "A debate, or an imported conversation, whose id may have a slash in it: %2F.",
        maxLength=MAX_NAME_CHARS,
    ),
]


router = api_router()


@router.get(
    "/conversations",
    **documented(
        ARCHIVE,
        tag="Conversations",
        summary="List imported conversations",
        reply=ConversationsResponse,
        says="A page of conversations.",
        query=pages.QUERIES["browsing"],
        refusals=(403, 422),
    ),
)
async def list_conversations(request: Request, context: Context) -> Response:
    """Lists the conversations that `moot import legacy` has imported, the latest import first; debates are
    not among them. With tokens, only owners and moderators may do this, and they see their own imports.
    """
    query, identity = pages.parse_listing(query_string(request)), identity_of(request)
    if query.search:
        # It looks through the addresses of the sources, too.
        check(identity, "operate")
    page = await context.arena.store.tables(CONVERSATIONS).conversations(
        owner=identity.owner, search=query.search, limit=query.limit, offset=query.offset
    )
    return json_reply(pages.imported_page(page, query, operator=identity.owner is None))


@router.get(
    "/conversations/{conversationId:path}/events",
    **documented(
        "look",
        tag="Conversations",
        summary="Read a conversation",
        reply=ConversationEventsResponse,
        says="A page of events.",
        query=pages.QUERIES["reading"],
        refusals=(403, 404, 422),
    ),
)
async def list_conversation_events(
    request: Request, conversation_id: ConversationId, context: Context
) -> Response:
    """Returns the events in order, each with its segments: text, reasoning, tool calls and their results in
    the order in which they came. A speech under way is included as far as it is stored: ask again with
    `after` = `next`, or follow `/debates/{debateId}/events/stream`. With `shape=legacy` each event has the
    older shape, with all reasoning joined in one `reasoning` beside the segments.
    """
    if not request.scope["raw_path"].endswith(b"/events"):
        # That slash came as %2F: it is the id's own.
        return await get_conversation(request, f"{conversation_id}/events", context)
    query = pages.parse_reading(query_string(request))
    source = await _find(context, request, conversation_id)
    if isinstance(source, ArchivedConversation):
        page, more = await _imported_events(context, source, query)
    else:
        viewer = viewer_as(identity_of(request), query.seat, source)
        following_events = pages.events_after(conversation(source, viewer), query.after)
        page, more = list(following_events[: query.limit]), len(following_events) > query.limit
    following = pages.next_cursor(page, query.after)
    if not isinstance(source, ArchivedConversation) and query.form == "legacy":
        page = [to_legacy_shape(event) for event in page]
    events = tuple(only_segment_types(page, query.types))
    return json_reply(
        ConversationEventsResponse(
            conversation_id=conversation_id, events=events, next=following, has_more=more
        )
    )


# Behind the events: the path of an id takes everything that is left of an address.
@router.get(
    "/conversations/{conversationId:path}",
    **documented(
        "look",
        tag="Conversations",
        summary="Look at a conversation",
        reply=ConversationResponse,
        says="The conversation, with the number of its events.",
        refusals=READ,
    ),
)
async def get_conversation(request: Request, conversation_id: ConversationId, context: Context) -> Response:
    """Returns a debate or an imported conversation by its id."""
    source = await _find(context, request, conversation_id)
    if isinstance(source, ArchivedConversation):
        return json_reply(pages.imported_summary(source, operator=identity_of(request).owner is None))
    return json_reply(pages.debate_summary(source, conversation(source, identity_of(request).viewer)))


async def _find(context: AppContext, request: Request, conversation_id: str) -> Debate | ArchivedConversation:
    """The debate or the imported conversation, if this client may see it."""
    try:
        await context.visible_head(request, conversation_id)
        return await context.arena.state(conversation_id)
    except UnknownDebate:
        archived = await context.arena.store.tables(CONVERSATIONS).conversation(conversation_id)
    identity = identity_of(request)
    if archived is None or not may(identity, ARCHIVE) or not identity.sees(archived.owner):
        raise Problem("not-found", "There is no such conversation")
    return archived


async def _imported_events(
    context: AppContext, imported: ArchivedConversation, query: pages.ConversationEventQuery
) -> tuple[list[JsonObject], bool]:
    if query.seat is not None:
        raise Problem("validation", errors={"as": ["Unknown seat"]})
    events = await context.arena.store.tables(CONVERSATIONS).events(imported.id, query.after, query.limit + 1)
    more = len(events) > query.limit
    shape_of = legacy_shape if query.form == "legacy" else unified_shape
    page = [shape_of(event) for event in events[: query.limit]]
    return [decode_segments(event) for event in page] if query.types else page, more
