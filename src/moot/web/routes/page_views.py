"""Routes for the view of a debate that the page shows: at one event of the log, and its later changes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from moot.api.page_view.actions import viewer_rights
from moot.api.page_view.sections import view
from moot.api.page_view.view_frames import ViewFrames
from moot.api.rights import viewer_as
from moot.api.shapes.page_view import FramesResponse, ViewResponse
from moot.api.v1 import query_params
from moot.api.v1.create_debate import CreateDebate
from moot.api.v1.setup_body import body_from_event
from moot.core.errors import UnknownDebate
from moot.core.events import DebateOpened
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.visibility import seen_event
from moot.store.contract import DebateHead
from moot.web.app_context import AppContext, head_of, identity_of, query_string
from moot.web.responses import json_reply
from moot.web.route_docs import api_router, documented
from moot.web.routes.handlers import Context, DebateId
from moot.web.streaming.feeds import YIELD_EVERY

MAX_CACHED_STATES = 64

StateKey = tuple[str, datetime, int]
"""A debate, when it was opened, and a point of its log."""


router = api_router()


class PageStates:
    """The states at which clients finished a page of the view's changes: the next page begins there."""

    def __init__(self, context: AppContext) -> None:
        self._store = context.arena.store
        self._states: OrderedDict[StateKey, Debate] = OrderedDict()

    async def state(self, head: DebateHead, after: int) -> Debate | None:
        if not after:
            return None
        known = self._states.get((head.id, head.created_at, after))
        return known or await self._store.state(head.id, after)

    def remember(self, head: DebateHead, debate: Debate | None) -> None:
        if debate is None or debate.seq >= head.version:
            return
        key = (head.id, head.created_at, debate.seq)
        self._states[key] = debate
        self._states.move_to_end(key)
        if len(self._states) > MAX_CACHED_STATES:
            self._states.popitem(last=False)


@router.get(
    "/debates/{debateId}/view",
    **documented(
        "watch",
        tag="Following",
        summary="Look at a debate as the page does",
        reply=ViewResponse,
        says="The view, with the number of its last event.",
        query=query_params.PARAMETERS["view"],
        refusals=(403, 404, 422),
    ),
)
async def get_view(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Returns the view of the debate at one event of the log: its setup, state, costs as text, every speech,
    the judges at work and the verdicts. `now.open` lists what can be done now; `me` tells who the client is
    and what it may do. To follow the changes, open the stream of the view after `seq`.
    """
    seat = query_params.parse_view(query_string(request))
    debate = await context.arena.state(debate_id)
    viewer = viewer_as(identity_of(request), seat, debate)
    return json_reply(
        ViewResponse(
            seq=debate.seq,
            view=view(debate, viewer),
            me=viewer_rights(identity_of(request), debate),
        )
    )


@router.get(
    "/debates/{debateId}/view/frames",
    **documented(
        "watch",
        tag="Following",
        summary="Read the view's changes",
        reply=FramesResponse,
        says="Changes, each with `seq`, `at` and `ops`.",
        query=query_params.PARAMETERS["event_page"],
        refusals=(403, 404, 422),
    ),
)
async def list_view_frames(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Returns what each event changed in the view, in pages; the first frame is the complete view. Clients
    replay a debate with it.
    """
    after, limit, seat = query_params.parse_event_page(query_string(request))
    head = head_of(request)
    viewer = await context.viewer_of(identity_of(request), seat, debate_id)
    states = context.service(PageStates)
    debate = await states.state(head, after)
    dialect, shapes, last = ViewFrames(viewer), list[dict[str, Any]](), after
    for recorded in await context.arena.store.read(debate_id, after, limit):
        if recorded.seq % YIELD_EVERY == 0:
            await asyncio.sleep(0)
        before, debate = debate, evolve(debate, recorded)
        shapes += [frame.data for frame in dialect.frames(seen_event(recorded, before, debate, viewer))]
        last = recorded.seq
    states.remember(head, debate)
    return json_reply(
        FramesResponse(frames=tuple(shapes), after=after, next=last, has_more=last < head.version)
    )


@router.get(
    "/debates/{debateId}/setup",
    **documented(
        "inspect",
        tag="Debates",
        summary="Read how it was set up",
        reply=CreateDebate,
        says="What to send to `POST /api/v1/debates`.",
        refusals=(403, 404, 422),
    ),
)
async def get_setup(debate_id: DebateId, context: Context) -> Response:
    """Returns the body that opens the same debate again, with every default filled in. Only owners and
    moderators may read it: it contains secret objectives and prompts.
    """
    # As it was opened, without later changes of people in seats.
    first = await context.arena.store.read(debate_id, 0, 1)
    if not first or not isinstance(first[0].event, DebateOpened):
        raise UnknownDebate
    return json_reply(body_from_event(first[0].event))
