"""The archive's desk: debates as conversations of unified segments, and conversations from elsewhere.

Both are read the same way and neither is written here. An imported one is for whoever conducts debates for
the owner of the import; to others it is unknown.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.rights import check, may, viewer_as
from moot.api.v1 import conversation_pages as pages
from moot.api.v1 import query_params
from moot.core.errors import UnknownDebate
from moot.core.state import Debate
from moot.store.archive import ArchivedConversation
from moot.store.archive_rows import decode_segments, legacy_shape, unified_shape
from moot.views.conversation import conversation
from moot.views.legacy_rows import JsonObject, only_segment_types, to_legacy_shape
from moot.web.app_context import identity_of, query_string
from moot.web.responses import json_reply
from moot.web.routes.handlers import Route, RouteHandlers

ConversationId = Annotated[str, Path(alias="conversationId", examples=["deb_01HZ9X8K7M3QR5TNVWXYZ12345"])]

ROUTES: tuple[Route, ...] = (
    ("GET", "/conversations", "conversations", "archive"),
    ("GET", "/conversations/{conversationId}/events", "conversation_events", "look"),
    ("GET", "/conversations/{conversationId}", "look_at_conversation", "look"),
)


class ConversationRoutes(RouteHandlers):
    async def conversations(self, request: Request) -> Response:
        query, identity = pages.parse_listing(query_string(request)), identity_of(request)
        if query.search:
            # It looks through the addresses of the sources.
            check(identity, "operate")
        page = await self._arena.store.archive.conversations(
            owner=identity.owner, search=query.search, limit=query.limit, offset=query.offset
        )
        return json_reply(pages.imported_page(page, query, mine=identity.owner is None))

    async def look_at_conversation(self, request: Request, conversation_id: ConversationId) -> Response:
        query_params.no_params(query_string(request))
        found = await self._find(request, conversation_id)
        if isinstance(found, ArchivedConversation):
            return json_reply(pages.imported_summary(found, mine=identity_of(request).owner is None))
        return json_reply(pages.debate_summary(found, conversation(found, identity_of(request).viewer)))

    async def conversation_events(self, request: Request, conversation_id: ConversationId) -> Response:
        if not request.scope["raw_path"].endswith(b"/events"):
            # That slash came as %2F: it is the id's own.
            return await self.look_at_conversation(request, f"{conversation_id}/events")
        query = pages.parse_reading(query_string(request))
        found = await self._find(request, conversation_id)
        if isinstance(found, ArchivedConversation):
            page, more = await self._kept(found, query)
        else:
            viewer = viewer_as(identity_of(request), query.seat, found)
            rest = pages.events_after(conversation(found, viewer), query.after)
            page, more = list(rest[: query.limit]), len(rest) > query.limit
        following = pages.next_cursor(page, query.after)
        if not isinstance(found, ArchivedConversation) and query.form == "legacy":
            page = [to_legacy_shape(event) for event in page]
        shape = {"conversationId": conversation_id, "events": only_segment_types(page, query.types)}
        return json_reply({**shape, "next": following, "hasMore": more})

    async def _find(self, request: Request, conversation_id: str) -> Debate | ArchivedConversation:
        """A debate, or what was imported under that id; if it is the asker's to see."""
        try:
            await self._context.visible_head(request, conversation_id)
            return await self._arena.state(conversation_id)
        except UnknownDebate:
            found = await self._arena.store.archive.conversation(conversation_id)
        identity = identity_of(request)
        if found is None or not may(identity, "archive") or not identity.sees(found.owner):
            raise Problem("not-found", "There is no such conversation")
        return found

    async def _kept(
        self, imported: ArchivedConversation, query: pages.ConversationEventQuery
    ) -> tuple[list[JsonObject], bool]:
        if query.seat is not None:
            raise Problem("validation", errors={"as": ["Unknown seat"]})
        events = await self._arena.store.archive.events(imported.id, query.after, query.limit + 1)
        more = len(events) > query.limit
        shape_of = legacy_shape if query.form == "legacy" else unified_shape
        page = [shape_of(event) for event in events[: query.limit]]
        return [decode_segments(event) for event in page] if query.types else page, more
