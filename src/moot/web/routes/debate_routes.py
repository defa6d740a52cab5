"""Routes for debates: open, list, read, follow, export and delete; and the lists of models, formats and
tools.

Each route names the right it needs (`api/rights.py`); `AppContext.visible_head` hides debates of other
owners. What a viewer may see of an event is decided by `core/visibility.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from moot.api.auth import TICKET_SECONDS
from moot.api.frames import Dialect, NativeFrames, SeenEvent
from moot.api.page_view.view_frames import ViewFrames
from moot.api.problems import Problem
from moot.api.rights import viewer_as
from moot.api.shapes.debates import (
    CreateDebateResponse,
    DebateStatusResponse,
    ListDebatesResponse,
    TicketResponse,
)
from moot.api.shapes.page_view import ViewFrame
from moot.api.shapes.records import CallResponse, EventPage, LogEntry
from moot.api.shapes.server_replies import (
    EstimateResponse,
    FormatsResponse,
    ModelsResponse,
    StatisticsResponse,
    ToolsResponse,
)
from moot.api.shapes.stream_events import EVENTS, EXTENDED
from moot.api.v1 import bodies, query_params, replies
from moot.api.v1.create_debate import CreateDebate
from moot.api.v1.setup_body import setup_from_body
from moot.api.v1.stream_frames import V1Frames, deleted
from moot.core.events import DebateOpened
from moot.core.evolve import evolve
from moot.core.visibility import Viewer, visible_event
from moot.rules import cost_estimate
from moot.rules.debate_setup import opening_event
from moot.store.contract import DebatePage
from moot.views import exports
from moot.views.preview import preview
from moot.views.transcript_document import transcript_type
from moot.web.app_context import AppContext, head_of, identity_of, query_string
from moot.web.idempotency import key_of
from moot.web.replay_file import to_replay
from moot.web.responses import json_reply, replayed_header
from moot.web.route_docs import READ, STREAM_OVER, api_router, documented, numbered_events
from moot.web.routes.calls import find_call
from moot.web.routes.handlers import (
    Context,
    DebateId,
    check_accepts_stream,
    check_not_stopping,
    follow_debate,
    open_debate,
    path_parameter,
)
from moot.web.server_capabilities import ServerCapabilities, lent_keys

MAX_ESTIMATES = 20
"""Estimates that may wait at a time."""

CallNumber = Annotated[str, path_parameter("call", "^[0-9]{1,9}$", "The number of the call, from 1.")]

router = api_router()


class Estimates:
    """Computes estimates in a thread, one after the other: each lays out a whole debate."""

    def __init__(self, context: AppContext) -> None:
        self._computing = asyncio.Lock()
        self._waiting = 0

    async def reply(self, opened: DebateOpened) -> EstimateResponse:
        """Raises Problem where too many wait already."""
        if self._waiting >= MAX_ESTIMATES:
            detail = "Many costs are being estimated; ask again in a moment"
            raise Problem("rate-limit", detail, headers={"Retry-After": "1"})
        self._waiting += 1
        try:
            async with self._computing:
                return await asyncio.to_thread(_estimate_reply, opened)
        finally:
            self._waiting -= 1


def _estimate_reply(opened: DebateOpened) -> EstimateResponse:
    return replies.estimate_reply(cost_estimate.estimate(opened), preview(opened), opened.limits.cost_limit)


# --- opening ------------------------------------------------------------------------------------


@router.post(
    "/debates",
    **documented(
        "open",
        tag="Debates",
        summary="Open a debate",
        status=201,
        reply=CreateDebateResponse,
        says="The debate is open. `Location` is its address, `streamUrl` that of its stream.",
        body=CreateDebate,
        once=True,
        keys=True,
        headers=("Location", "Idempotent-Replayed"),
        refusals=(403, 409, 415, 422),
    ),
)
async def create_debate(request: Request, context: Context) -> Response:
    """Opens a debate, which starts at once and runs whether or not a client follows it. If the body is
    invalid, one reply lists all of its errors.
    """
    raw = await request.body()
    check_not_stopping(context)
    async with context.idempotency.in_flight(request, raw) as once:
        keys = lent_keys(request.headers, context.arena)
        capabilities = ServerCapabilities(context.arena, keys)
        setup = setup_from_body(bodies.read_body(CreateDebate, raw, capabilities), capabilities)
        outcome = await open_debate(context, request, setup, keys, once)
    location = f"/api/v1/debates/{outcome.debate.id}"
    # It has an estimate, which takes some milliseconds for each round.
    reply = await asyncio.to_thread(replies.created_reply, outcome.debate)
    return json_reply(reply, 201, {"Location": location, **replayed_header(outcome)})


@router.post(
    "/estimate",
    **documented(
        "estimate",
        tag="Server",
        summary="Estimate the cost",
        reply=EstimateResponse,
        says="What is expected, from low to high, and what the cost limit holds.",
        body=CreateDebate,
        keys=True,
        refusals=(403, 415, 422),
    ),
)
async def estimate_cost(request: Request, context: Context) -> Response:
    """Estimates the cost of a debate from the body that would open it. No debate is opened and no model is
    called. Expected are speeches of the intended length and the usual reasoning; the low end has short
    speeches, the high end every call at its limit. Those invited to a debate may not do this. Estimates are
    computed one after the other; while many wait, the reply is 429.
    """
    # Nothing is done that could be done twice; but a key that is none is told here, too.
    key_of(request)
    keys = lent_keys(request.headers, context.arena)
    capabilities = ServerCapabilities(context.arena, keys)
    body = bodies.read_body(CreateDebate, await request.body(), capabilities)
    opened = opening_event(setup_from_body(body, capabilities))
    return json_reply(await context.service(Estimates).reply(opened))


# --- looking ------------------------------------------------------------------------------------


@router.get(
    "/debates",
    **documented(
        "look",
        tag="Debates",
        summary="List debates",
        reply=ListDebatesResponse,
        says="A page of debates.",
        query=query_params.PARAMETERS["listing"],
        refusals=(422,),
    ),
)
async def list_debates(request: Request, context: Context) -> Response:
    """Lists debates, newest first; the parameters filter them. With tokens, only debates of the token's owner
    are listed.
    """
    debate_filter, limit, offset = query_params.parse_listing(query_string(request))
    if (invited_to := identity_of(request).debate) is not None:
        head = await context.arena.head(invited_to)
        heads = (head,) if debate_filter.matches(head) else ()
        page = DebatePage(heads[offset : offset + limit], len(heads))
    else:
        debate_filter = structs.replace(debate_filter, owner=identity_of(request).owner)
        page = await context.arena.store.list(debate_filter, limit=limit, offset=offset)
    return json_reply(replies.listing_reply(page, limit, offset))


@router.get(
    "/debates/{debateId}",
    **documented(
        "watch",
        tag="Debates",
        summary="Look at a debate at its own address",
        reply=DebateStatusResponse,
        says="The state of the debate.",
        refusals=READ,
    ),
)
async def get_debate(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Returns the same as `GET /api/v1/debates/{debateId}/status`. The `Location` of a new debate points
    here.
    """
    return await get_status(request, debate_id, context)


@router.get(
    "/debates/{debateId}/status",
    **documented(
        "watch",
        tag="Debates",
        summary="Look at a debate",
        reply=DebateStatusResponse,
        says="The state of the debate.",
        refusals=READ,
    ),
)
async def get_status(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Returns the state of the debate: rounds with the beginning of each speech, the current speaker, votes,
    issues, costs, and the verdict once there is one.
    """
    return json_reply(replies.status_reply(await context.arena.state(debate_id), identity_of(request).viewer))


@router.get(
    "/debates/{debateId}/transcript",
    **documented(
        "watch",
        tag="Debates",
        summary="Get the transcript",
        reply=transcript_type(),
        says="The transcript in the requested format.",
        media_types=exports.ATTACHED_TYPES,
        query=query_params.PARAMETERS["transcript"],
        headers=("Content-Disposition",),
        refusals=(403, 404, 422),
    ),
)
async def export_transcript(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Returns the transcript so far, at any time. Markdown and HTML are sent as files; the HTML needs no
    other file and contains no script. `replay` is an HTML file that plays the debate without a server and
    shows what any observer may see.
    """
    form, seat, reasoning = query_params.parse_transcript(query_string(request))
    debate = await context.arena.state(debate_id)
    viewer = viewer_as(identity_of(request), seat, debate)
    if form == "replay":
        replay = await to_replay(context.arena.store, debate, viewer, reasoning=reasoning)
        document = replay.encode()
    else:
        document = exports.render(form, debate, viewer, reasoning=reasoning)
    export = exports.all_exports()[form]
    if form == "json":
        return Response(document, media_type=export.media_type)
    return _attached(document, export.media_type, f"{debate_id}{export.suffixes[0]}")


@router.get(
    "/debates/{debateId}/events",
    **documented(
        "watch",
        tag="Following",
        summary="Read the log",
        reply=EventPage,
        says="A page of the log.",
        query=query_params.PARAMETERS["event_page"],
        refusals=(403, 404, 422),
    ),
)
async def list_events(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Returns the native events in pages, with consecutive `seq`. In place of an event that the client may
    not see there is one of the type `hidden`.
    """
    after, limit, seat = query_params.parse_event_page(query_string(request))
    head = await context.arena.state(debate_id)
    viewer = viewer_as(identity_of(request), seat, head)
    # What may be seen of an event depends on how things stood when it happened.
    debate = await context.arena.store.state(debate_id, after) if after else None
    seen: list[SeenEvent] = []
    for recorded in await context.arena.store.read(debate_id, after, limit):
        before, debate = debate, evolve(debate, recorded)
        visible = visible_event(debate, recorded, viewer)
        seen.append(SeenEvent(recorded.seq, recorded.at, visible.event if visible else None, before, debate))
    return json_reply(replies.event_page_reply(seen, after, head.seq))


@router.get(
    "/debates/{debateId}/calls/{call}",
    **documented(
        "inspect",
        tag="Following",
        summary="Look at one call",
        reply=CallResponse,
        says="The call.",
        refusals=(403, 404),
    ),
)
async def get_call(debate_id: DebateId, call: CallNumber, context: Context) -> Response:
    """Returns the exact request to a model and its response. Only owners and moderators may read it: prompts
    hold secret objectives.
    """
    if not (call.isascii() and call.isdigit() and len(call) < 10):
        raise Problem("not-found", "There is no such call")
    return json_reply(await find_call(context.arena, debate_id, int(call)))


@router.get(
    "/models",
    **documented(
        "look",
        tag="Server",
        summary="List models",
        reply=ModelsResponse,
        says="The models.",
        refusals=(422,),
    ),
)
async def list_models(context: Context) -> Response:
    """Lists the models: those that can be used, and those that cannot, with what is missing."""
    return json_reply(await context.server_info.models())


@router.get(
    "/formats",
    **documented(
        "look",
        tag="Server",
        summary="List formats",
        reply=FormatsResponse,
        says="The formats.",
        refusals=(422,),
    ),
)
async def list_formats(context: Context) -> Response:
    """Lists the formats with their seats and the order of their speeches."""
    return json_reply(await context.server_info.formats())


@router.get(
    "/tools",
    **documented(
        "look",
        tag="Server",
        summary="List tools",
        reply=ToolsResponse,
        says="The tools.",
        refusals=(422,),
    ),
)
async def list_tools(context: Context) -> Response:
    """Lists the tools that a debate may allow its participants to use. Tool servers are configured by the
    operator; a request cannot add one.
    """
    return json_reply(await context.server_info.tools())


@router.get(
    "/statistics",
    **documented(
        "look",
        tag="Server",
        summary="See who wins",
        reply=StatisticsResponse,
        says="The statistics.",
        query=query_params.PARAMETERS["statistics"],
        refusals=(422,),
    ),
)
async def get_statistics(request: Request, context: Context) -> Response:
    """Returns figures on all debates that the client may see, or on those that the parameters select. A win
    counts for a model only against another model. Every rate comes with its 95 % confidence interval.
    """
    debate_filter = query_params.parse_statistics(query_string(request))
    owned = structs.replace(debate_filter, owner=identity_of(request).owner)
    return json_reply(await context.server_info.statistics(owned))


# --- following ----------------------------------------------------------------------------------


@router.get(
    "/debates/{debateId}/stream",
    **documented(
        "watch",
        tag="Following",
        summary="Follow a debate",
        events=numbered_events({**EVENTS, **EXTENDED}, "StreamMessage"),
        says="Events, each with `event`, `id` and `data`.",
        query=query_params.PARAMETERS["stream"],
        resumes=True,
        refusals=(403, 404, 406, 409, 422),
        responses=STREAM_OVER,
    ),
)
async def stream_debate(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Streams the debate as server-sent events of nine kinds, from the beginning or after the last event id.
    The stream ends after `complete` and when the debate fails; a client that then reconnects with its last id
    gets 204, until the debate is retried or judged. With `extended=true` there are more kinds: `turn`,
    `reasoning`, `remark`, `ballot`, `seat`, `clock`, `point` and `poll`.
    """
    query = query_params.parse_stream(query_string(request), request.headers.get("last-event-id"))
    return await _stream(context, request, debate_id, lambda _: V1Frames(query.extended), query)


@router.get(
    "/debates/{debateId}/events/stream",
    **documented(
        "watch",
        tag="Following",
        summary="Follow the log",
        events=numbered_events({"": LogEntry}),
        says="Entries of the log, each with `id` and `data`.",
        query=query_params.PARAMETERS["log"],
        resumes=True,
        refusals=(403, 404, 406, 409, 422),
    ),
)
async def stream_events(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Streams the log as server-sent events without a name, one for each entry, in the native shape. The
    stream does not end with the debate, since its log can still grow.
    """
    query = query_params.parse_log_stream(query_string(request), request.headers.get("last-event-id"))
    return await _stream(context, request, debate_id, lambda _: NativeFrames(), query)


@router.get(
    "/debates/{debateId}/view/stream",
    **documented(
        "watch",
        tag="Following",
        summary="Follow the view",
        events=numbered_events({"": ViewFrame}),
        says="Events, each with `id` and `data`.",
        query=query_params.PARAMETERS["log"],
        resumes=True,
        refusals=(403, 404, 406, 409, 422),
    ),
)
async def stream_view(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Streams changes to the view as server-sent events without a name: `ops` are `["put", path, value]` or
    `["add", path, text]`. The stream does not end with the debate, which may be judged again.
    """
    query = query_params.parse_log_stream(query_string(request), request.headers.get("last-event-id"))
    return await _stream(context, request, debate_id, ViewFrames, query)


async def _stream(
    context: AppContext,
    request: Request,
    debate_id: str,
    dialect_for: Callable[[Viewer], Dialect],
    query: query_params.StreamQuery,
) -> Response:
    check_accepts_stream(request)
    cursor = query.cursor
    viewer = await context.viewer_of(identity_of(request), query.seat, debate_id)
    dialect = dialect_for(viewer)
    version = head_of(request).version
    if cursor.seq > version:
        raise Problem("cursor-ahead")
    if isinstance(dialect, V1Frames) and await context.has_seen_all(
        debate_id, dialect, viewer, cursor, version=version
    ):
        return Response(status_code=204)
    deleted_frame = deleted() if isinstance(dialect, V1Frames) else None
    return follow_debate(context, request, debate_id, dialect, viewer, cursor, deleted_frame)


@router.post(
    "/debates/{debateId}/tickets",
    **documented(
        "watch",
        tag="Following",
        summary="Get a ticket for a stream",
        status=201,
        reply=TicketResponse,
        says="The ticket.",
        links={
            "stream": {
                "operationId": "stream_debate",
                "parameters": {
                    "debateId": "$request.path.debateId",
                    "query.ticket": "$response.body#/ticket",
                },
            }
        },
        body=bodies.Nothing,
        refusals=(403, 404, 415, 422),
    ),
)
async def create_ticket(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Returns a ticket for one stream of this debate, for a browser's EventSource and WebSocket, which cannot
    send a token. It is valid once and for a minute, and shows what the token of this request may see.
    """
    key_of(request)
    bodies.read_body(bodies.Nothing, await request.body())
    ticket = await context.tickets.issue(identity_of(request), debate_id)
    return json_reply(
        TicketResponse(
            debate_id=debate_id,
            ticket=ticket,
            expires_in=int(TICKET_SECONDS),
            stream_url=f"/api/v1/debates/{debate_id}/stream?ticket={ticket}",
        ),
        201,
    )


@router.delete(
    "/debates/{debateId}",
    **documented(
        "delete",
        tag="Debates",
        summary="Delete a debate",
        status=204,
        says="The debate is deleted.",
        query=None,
        refusals=(403, 404),
    ),
)
async def delete_debate(debate_id: DebateId, context: Context) -> Response:
    """Deletes the debate with all its data, for good; streams that follow it are closed. Only owners may do
    this.
    """
    await context.arena.delete(debate_id)
    return Response(status_code=204)


def _attached(document: bytes, media_type: str, name: str) -> Response:
    """Makes the browser save the reply as a file, so that no script in it can run on this page."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    }
    return Response(document, media_type=media_type, headers=headers)
