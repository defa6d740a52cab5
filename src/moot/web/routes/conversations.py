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
from moot.api.rights import check, may, seen_as
from moot.api.v1 import conversation_pages as pages
from moot.api.v1 import query_params
from moot.core.errors import UnknownDebate
from moot.core.state import Debate
from moot.store.archive import Conversation
from moot.store.archive_rows import shown, shown_as_it_was, unpacked
from moot.views.conversation import conversation
from moot.views.legacy_rows import Shape, in_old_shape, only
from moot.web.app_context import query_of, who
from moot.web.responses import json_reply
from moot.web.routes.handlers import Desk, Route

ConversationId = Annotated[str, Path(alias="conversationId", examples=["deb_01HZ9X8K7M3QR5TNVWXYZ12345"])]

ROUTES: tuple[Route, ...] = (
    ("GET", "/conversations", "conversations", "archive"),
    ("GET", "/conversations/{conversationId}/events", "conversation_events", "look"),
    ("GET", "/conversations/{conversationId}", "look_at_conversation", "look"),
)


class Archive(Desk):
    async def conversations(self, request: Request) -> Response:
        query, identity = pages.browsing(query_of(request)), who(request)
        if query.search:
            # It looks through the addresses of the sources.
            check(identity, "operate")
        found = await self._arena.store.archive.shelf(
            owner=identity.owner, search=query.search, limit=query.limit, offset=query.offset
        )
        return json_reply(pages.shelf(found, query, mine=identity.owner is None))

    async def look_at_conversation(self, request: Request, conversation_id: ConversationId) -> Response:
        query_params.nothing(query_of(request))
        found = await self._find(request, conversation_id)
        if isinstance(found, Conversation):
            return json_reply(pages.imported(found, mine=who(request).owner is None))
        return json_reply(pages.of_debate(found, conversation(found, who(request).viewer)))

    async def conversation_events(self, request: Request, conversation_id: ConversationId) -> Response:
        if not request.scope["raw_path"].endswith(b"/events"):
            # That slash came as %2F: it is the id's own.
            return await self.look_at_conversation(request, f"{conversation_id}/events")
        query = pages.reading(query_of(request))
        found = await self._find(request, conversation_id)
        if isinstance(found, Conversation):
            page, more = await self._kept(found, query)
        else:
            viewer = seen_as(who(request), query.seat, found)
            rest = pages.behind(conversation(found, viewer), query.after)
            page, more = list(rest[: query.limit]), len(rest) > query.limit
        following = pages.following(page, query.after)
        if not isinstance(found, Conversation) and query.form == "legacy":
            page = [in_old_shape(event) for event in page]
        shape = {"conversationId": conversation_id, "events": only(page, query.types)}
        return json_reply({**shape, "next": following, "hasMore": more})

    async def _find(self, request: Request, conversation_id: str) -> Debate | Conversation:
        """A debate, or what was imported under that id; if it is the asker's to see."""
        try:
            await self._rooms.mine(request, conversation_id)
            return await self._arena.state(conversation_id)
        except UnknownDebate:
            found = await self._arena.store.archive.conversation(conversation_id)
        identity = who(request)
        if found is None or not may(identity, "archive") or not identity.sees(found.owner):
            raise Problem("not-found", "There is no such conversation")
        return found

    async def _kept(self, found: Conversation, query: pages.Reading) -> tuple[list[Shape], bool]:
        if query.seat is not None:
            raise Problem("validation", errors={"as": ["Unknown seat"]})
        events = await self._arena.store.archive.events(found.id, query.after, query.limit + 1)
        more = len(events) > query.limit
        told = shown_as_it_was if query.form == "legacy" else shown
        page = [told(event) for event in events[: query.limit]]
        return [unpacked(event) for event in page] if query.types else page, more
