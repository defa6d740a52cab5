"""The gallery: a debate as the page shows it. A view at one point of the log, and its changes from there."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from moot.api.frames import seen_event
from moot.api.page_view.actions import viewer_rights
from moot.api.page_view.page_frames import PageFrames
from moot.api.page_view.sections import view
from moot.api.rights import viewer_as
from moot.api.v1 import query_params
from moot.api.v1.setup_body import body_from_event
from moot.core.errors import UnknownDebate
from moot.core.events import DebateOpened
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.store.contract import DebateHead
from moot.web.app_context import AppContext, head_of, identity_of, query_string
from moot.web.responses import json_reply
from moot.web.routes.handlers import DebateId, Route, RouteHandlers
from moot.web.streaming.frame_cache import YIELD_EVERY

ROUTES: tuple[Route, ...] = (
    ("GET", "/debates/{debateId}/view", "look_in", "watch"),
    ("GET", "/debates/{debateId}/view/frames", "frames", "watch"),
    ("GET", "/debates/{debateId}/setup", "setup", "inspect"),
)


MAX_CACHED_STATES = 64

StateKey = tuple[str, datetime, int]
"""A debate, when it was opened, and a point of its log."""


class PageViewRoutes(RouteHandlers):
    """Where one looks on."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self._marks: OrderedDict[StateKey, Debate] = OrderedDict()
        """How debates stood where somebody turned a page: the next one begins there."""

    async def look_in(self, request: Request, debate_id: DebateId) -> Response:
        seat = query_params.parse_view(query_string(request))
        debate = await self._arena.state(debate_id)
        viewer = viewer_as(identity_of(request), seat, debate)
        return json_reply(
            {
                "seq": debate.seq,
                "view": view(debate, viewer),
                "me": viewer_rights(identity_of(request), debate),
            }
        )

    async def frames(self, request: Request, debate_id: DebateId) -> Response:
        """The changes behind `after`; the first of all is the whole view."""
        query, head = query_params.parse_event_page(query_string(request)), head_of(request)
        viewer = await self._context.viewer_of(identity_of(request), query.seat, debate_id)
        debate = await self._stood(head, query.after)
        dialect, shapes, last = PageFrames(viewer), list[dict[str, Any]](), query.after
        for recorded in await self._arena.store.read(debate_id, query.after, query.limit):
            if recorded.seq % YIELD_EVERY == 0:
                await asyncio.sleep(0)
            before, debate = debate, evolve(debate, recorded)
            shapes += [frame.data for frame in dialect.frames(seen_event(recorded, before, debate, viewer))]
            last = recorded.seq
        self._mark(head, debate)
        shape = {"frames": shapes, "after": query.after, "next": last, "hasMore": last < head.version}
        return json_reply(shape)

    async def _stood(self, head: DebateHead, after: int) -> Debate | None:
        if not after:
            return None
        known = self._marks.get((head.id, head.created_at, after))
        return known or await self._arena.store.state(head.id, after)

    def _mark(self, head: DebateHead, debate: Debate | None) -> None:
        if debate is None or debate.seq >= head.version:
            return
        key = (head.id, head.created_at, debate.seq)
        self._marks[key] = debate
        self._marks.move_to_end(key)
        if len(self._marks) > MAX_CACHED_STATES:
            self._marks.popitem(last=False)

    async def setup(self, request: Request, debate_id: DebateId) -> Response:
        """As it was opened: who sat down or left since is no part of it."""
        query_params.no_params(query_string(request))
        first = await self._arena.store.read(debate_id, 0, 1)
        if not first or not isinstance(first[0].event, DebateOpened):
            raise UnknownDebate
        return json_reply(body_from_event(first[0].event))
