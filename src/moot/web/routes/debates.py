"""The routes of `/api/v1`: a request is read, something is asked of the arena, the answer is projected.

Whose debate it is, `rooms.py` tells; who may do what, `api/rights.py`, by the action that each route names.
What is shown is told by `audience.visible`, through the feeds and the projections.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path
from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from moot.api.auth import TICKET_SECONDS
from moot.api.frames import Dialect, SeenEvent
from moot.api.native import NativeFrames
from moot.api.page_view.page_frames import PageFrames
from moot.api.problems import Problem
from moot.api.rights import viewer_as
from moot.api.v1 import bodies, query_params, replies
from moot.api.v1.notices import deleted
from moot.api.v1.setup_body import setup_from_body
from moot.api.v1.states import statuses_of
from moot.api.v1.stream_frames import V1Frames
from moot.core.evolve import evolve
from moot.core.visibility import Viewer, visible_event
from moot.rules.cost_estimate import estimate
from moot.rules.debate_setup import opening_event
from moot.store.contract import DebateFilter, DebatePage
from moot.views import exports
from moot.views.preview import preview
from moot.views.transcript import transcript
from moot.web.app_context import AppContext, head_of, identity_of, query_string
from moot.web.capabilities import ServerCapabilities, lent_keys
from moot.web.idempotency import key_of
from moot.web.replay_file import to_replay
from moot.web.responses import json_reply
from moot.web.routes import admin, commands, conversations, invitations, page_views, people
from moot.web.routes.calls import find_call
from moot.web.routes.handlers import (
    DebateId,
    Route,
    RouteHandlers,
    add_routes,
    check_accepts_stream,
    replayed_header,
)

CallNumber = Annotated[str, Path(alias="call", examples=["1"])]

_ROUTES: tuple[Route, ...] = (
    ("POST", "/debates", "create", "open"),
    ("GET", "/debates", "list_debates", "look"),
    ("GET", "/debates/{debateId}", "look", "watch"),
    ("GET", "/debates/{debateId}/stream", "stream", "watch"),
    ("GET", "/debates/{debateId}/status", "status", "watch"),
    ("POST", "/debates/{debateId}/tickets", "issue_ticket", "watch"),
    ("GET", "/debates/{debateId}/transcript", "export", "watch"),
    ("GET", "/debates/{debateId}/events", "events", "watch"),
    ("GET", "/debates/{debateId}/events/stream", "stream_events", "watch"),
    ("GET", "/debates/{debateId}/view/stream", "stream_view", "watch"),
    ("GET", "/debates/{debateId}/calls/{call}", "look_at_call", "inspect"),
    ("DELETE", "/debates/{debateId}", "delete", "delete"),
    ("POST", "/estimate", "estimate", "look"),
    ("GET", "/models", "models", "look"),
    ("GET", "/formats", "formats", "look"),
    ("GET", "/tools", "tools", "look"),
    ("GET", "/statistics", "statistics", "look"),
)
ROUTES: tuple[Route, ...] = (
    *_ROUTES, *commands.ROUTES, *page_views.ROUTES,
    *invitations.ROUTES, *people.ROUTES, *conversations.ROUTES, *admin.ROUTES
)  # fmt: skip
STREAM_ROUTES = ("stream", "stream_events", "stream_view")


def router(context: AppContext) -> APIRouter:
    routes = APIRouter(redirect_slashes=False)
    desks = (
        (_ROUTES, DebateRoutes(context)),
        (page_views.ROUTES, page_views.PageViewRoutes(context)),
        (invitations.ROUTES, invitations.InvitationRoutes(context)),
        (people.ROUTES, people.PeopleRoutes(context)),
        (conversations.ROUTES, conversations.ConversationRoutes(context)),
        (admin.ROUTES, admin.AdminRoutes(context)),
    )
    for table, handlers in desks:
        # Ids of conversations come from elsewhere, and may have a slash in them.
        add_routes(routes, table, handlers, conversationId="path")
    commands.add_commands(routes, context)
    return routes


class DebateRoutes(RouteHandlers):
    """Where debates are opened, looked at and steered."""

    # --- opening ------------------------------------------------------------------------------------

    async def create(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        raw = await request.body()
        self._still_open()
        async with self._context.idempotency.in_flight(request, raw) as once:
            keys = lent_keys(request.headers, self._arena)
            capabilities = ServerCapabilities(self._arena, keys)
            setup = setup_from_body(bodies.read_body(bodies.CreateDebate, raw, capabilities), capabilities)
            outcome = await self._open(request, setup, keys, once)
        location = f"/api/v1/debates/{outcome.debate.id}"
        return json_reply(
            replies.created_reply(outcome.debate), 201, {"Location": location, **replayed_header(outcome)}
        )

    async def estimate(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        # Nothing is done that could be done twice; but a key that is none is told here, too.
        key_of(request)
        keys = lent_keys(request.headers, self._arena)
        capabilities = ServerCapabilities(self._arena, keys)
        body = bodies.read_body(bodies.CreateDebate, await request.body(), capabilities)
        opened = opening_event(setup_from_body(body, capabilities))
        return json_reply(replies.estimate_reply(estimate(opened), preview(opened)))

    # --- looking ------------------------------------------------------------------------------------

    async def list_debates(self, request: Request) -> Response:
        query = query_params.parse_listing(query_string(request))
        statuses = statuses_of(query.status) if query.status else ()
        debate_filter = DebateFilter(statuses=statuses, search=query.search, **structs.asdict(query.among))
        if (invited_to := identity_of(request).debate) is not None:
            head = await self._arena.head(invited_to)
            found = (head,) if debate_filter.matches(head) else ()
            page = DebatePage(found[query.offset : query.offset + query.limit], len(found))
        else:
            debate_filter = structs.replace(debate_filter, owner=identity_of(request).owner)
            page = await self._arena.store.list(debate_filter, limit=query.limit, offset=query.offset)
        return json_reply(replies.listing_reply(page, query.limit, query.offset))

    async def look(self, request: Request, debate_id: DebateId) -> Response:
        """Where `Location` leads to."""
        return await self.status(request, debate_id)

    async def status(self, request: Request, debate_id: DebateId) -> Response:
        query_params.no_params(query_string(request))
        return json_reply(
            replies.status_reply(await self._arena.state(debate_id), identity_of(request).viewer)
        )

    async def export(self, request: Request, debate_id: DebateId) -> Response:
        query = query_params.parse_transcript(query_string(request))
        debate = await self._arena.state(debate_id)
        viewer = viewer_as(identity_of(request), query.seat, debate)
        if query.form == "replay":
            document = await to_replay(self._arena.store, debate, viewer, reasoning=query.reasoning)
        else:
            page = transcript(debate, reasoning=query.reasoning, viewer=viewer)
            document = exports.render(query.form, page)
        export = exports.EXPORTS[query.form]
        if query.form == "json":
            return Response(document, media_type=export.media_type)
        return _attached(document, export.media_type, f"{debate_id}{export.suffixes[0]}")

    async def events(self, request: Request, debate_id: DebateId) -> Response:
        query = query_params.parse_event_page(query_string(request))
        head = await self._arena.state(debate_id)
        viewer = viewer_as(identity_of(request), query.seat, head)
        # What may be seen of an event depends on how things stood when it happened.
        debate = await self._arena.store.state(debate_id, query.after) if query.after else None
        seen: list[SeenEvent] = []
        for recorded in await self._arena.store.read(debate_id, query.after, query.limit):
            before, debate = debate, evolve(debate, recorded)
            shown = visible_event(debate, recorded, viewer)
            seen.append(SeenEvent(recorded.seq, recorded.at, shown.event if shown else None, before, debate))
        return json_reply(replies.event_page_reply(seen, query.after, head.seq))

    async def look_at_call(self, request: Request, debate_id: DebateId, call: CallNumber) -> Response:
        query_params.no_params(query_string(request))
        if not (call.isascii() and call.isdigit() and len(call) < 10):
            raise Problem("not-found", "There is no such call")
        return json_reply(await find_call(self._arena, debate_id, int(call)))

    async def models(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        return json_reply(await self._context.server_info.models())

    async def formats(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        return json_reply(await self._context.server_info.formats())

    async def tools(self, request: Request) -> Response:
        query_params.no_params(query_string(request))
        return json_reply(await self._context.server_info.tools())

    async def statistics(self, request: Request) -> Response:
        among = query_params.parse_statistics(query_string(request))
        return json_reply(await self._context.server_info.statistics(identity_of(request).owner, among))

    # --- following ----------------------------------------------------------------------------------

    async def stream(self, request: Request, debate_id: DebateId) -> Response:
        query = query_params.parse_stream(query_string(request), request.headers.get("last-event-id"))
        return await self._stream(request, debate_id, lambda _: V1Frames(query.extended), query)

    async def stream_events(self, request: Request, debate_id: DebateId) -> Response:
        query = query_params.parse_log_stream(query_string(request), request.headers.get("last-event-id"))
        return await self._stream(request, debate_id, lambda _: NativeFrames(), query)

    async def stream_view(self, request: Request, debate_id: DebateId) -> Response:
        query = query_params.parse_log_stream(query_string(request), request.headers.get("last-event-id"))
        return await self._stream(request, debate_id, PageFrames, query)

    async def _stream(
        self,
        request: Request,
        debate_id: str,
        dialect_for: Callable[[Viewer], Dialect],
        query: query_params.StreamQuery,
    ) -> Response:
        check_accepts_stream(request)
        context, cursor = self._context, query.cursor
        viewer = await context.viewer_of(identity_of(request), query.seat, debate_id)
        dialect = dialect_for(viewer)
        if cursor.seq > head_of(request).version:
            raise Problem("cursor-ahead")
        if isinstance(dialect, V1Frames) and await context.has_seen_all(debate_id, dialect, viewer, cursor):
            return Response(status_code=204)
        gone = deleted() if isinstance(dialect, V1Frames) else None
        return self._follow(request, debate_id, dialect, viewer, cursor, gone)

    async def issue_ticket(self, request: Request, debate_id: DebateId) -> Response:
        query_params.no_params(query_string(request))
        key_of(request)
        bodies.read_body(bodies.Nothing, await request.body())
        ticket = await self._context.tickets.issue(identity_of(request), debate_id)
        return json_reply(
            {
                "debateId": debate_id,
                "ticket": ticket,
                "expiresIn": int(TICKET_SECONDS),
                "streamUrl": f"/api/v1/debates/{debate_id}/stream?ticket={ticket}",
            },
            201,
        )

    async def delete(self, _request: Request, debate_id: DebateId) -> Response:
        await self._arena.delete(debate_id)
        return Response(status_code=204)


def _attached(document: str | bytes, media_type: str, name: str) -> Response:
    """A file to keep: it cannot run here, whatever its words are."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    }
    return Response(document, media_type=media_type, headers=headers)
