"""The gallery: a debate as the page shows it. A view at one point of the log, and its changes from there."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from moot.api.frames import as_seen
from moot.api.page_view.actions import me
from moot.api.page_view.page_frames import Chamber
from moot.api.page_view.sections import view
from moot.api.rights import seen_as
from moot.api.v1 import query_params
from moot.api.v1.setup_body import body_of
from moot.core.errors import UnknownDebate
from moot.core.events import DebateOpened
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.store.contract import Head
from moot.web.app_context import Rooms, query_of, who
from moot.web.responses import json_reply
from moot.web.routes.handlers import DebateId, Desk, Route
from moot.web.streaming.frame_cache import BREATH

ROUTES: tuple[Route, ...] = (
    ("GET", "/debates/{debateId}/view", "look_in", "watch"),
    ("GET", "/debates/{debateId}/view/frames", "frames", "watch"),
    ("GET", "/debates/{debateId}/setup", "setup", "inspect"),
)


MARKS = 64

Place = tuple[str, datetime, int]
"""A debate, when it was opened, and a point of its log."""


class Gallery(Desk):
    """Where one looks on."""

    def __init__(self, rooms: Rooms) -> None:
        super().__init__(rooms)
        self._marks: OrderedDict[Place, Debate] = OrderedDict()
        """How debates stood where somebody turned a page: the next one begins there."""

    async def look_in(self, request: Request, debate_id: DebateId) -> Response:
        seat = query_params.gallery(query_of(request))
        debate = await self._arena.state(debate_id)
        viewer = seen_as(who(request), seat, debate)
        return json_reply({"seq": debate.seq, "view": view(debate, viewer), "me": me(who(request), debate)})

    async def frames(self, request: Request, debate_id: DebateId) -> Response:
        """The changes behind `after`; the first of all is the whole view."""
        query = query_params.event_page(query_of(request))
        head = await self._rooms.mine(request, debate_id)
        viewer = await self._rooms.viewer_of(who(request), query.seat, debate_id)
        debate = await self._stood(head, query.after)
        dialect, told, last = Chamber(viewer), list[dict[str, Any]](), query.after
        for recorded in await self._arena.store.read(debate_id, query.after, query.limit):
            if recorded.seq % BREATH == 0:
                await asyncio.sleep(0)
            before, debate = debate, evolve(debate, recorded)
            told += [frame.data for frame in dialect.frames(as_seen(recorded, before, debate, viewer))]
            last = recorded.seq
        self._mark(head, debate)
        shape = {"frames": told, "after": query.after, "next": last, "hasMore": last < head.version}
        return json_reply(shape)

    async def _stood(self, head: Head, after: int) -> Debate | None:
        if not after:
            return None
        known = self._marks.get((head.id, head.created_at, after))
        return known or await self._arena.store.state(head.id, after)

    def _mark(self, head: Head, debate: Debate | None) -> None:
        if debate is None or debate.seq >= head.version:
            return
        place = (head.id, head.created_at, debate.seq)
        self._marks[place] = debate
        self._marks.move_to_end(place)
        if len(self._marks) > MARKS:
            self._marks.popitem(last=False)

    async def setup(self, request: Request, debate_id: DebateId) -> Response:
        """As it was opened: who sat down or left since is no part of it."""
        query_params.nothing(query_of(request))
        first = await self._arena.store.read(debate_id, 0, 1)
        if not first or not isinstance(first[0].event, DebateOpened):
            raise UnknownDebate
        return json_reply(body_of(first[0].event))
