"""The routes of `/api/debate/stream`: the client asks for each turn of a session between two models.

A session is a debate that advances one turn at a time (`rules/turn_by_turn.py`). The first turn opens it;
for a later turn it is found by its id, by the last response of the model, or as the session that this client
opened on the topic and that waits for this turn. A session that is not found begins with the opponent's
words. What a model is told that its opponent said is what the client sends.

A second request for the same turn joins it from its beginning, whether it is under way or over; the turn is
paid for once. A first turn counts as the same while it is under way and some seconds longer, if the same
client sends the same request: an `Idempotency-Key` opens a second debate.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Annotated, Any

from msgspec.structs import replace
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from moot.api.frames import Cursor, as_lines
from moot.api.problems import Problem
from moot.api.v1 import query_params
from moot.core.errors import Refused, UnknownDebate
from moot.core.events import DebateResumed
from moot.core.ids import new_id
from moot.core.state import Debate
from moot.core.terms import SESSION_FORMAT, Model
from moot.core.visibility import visible_state
from moot.engine.ephemeral_store import KeyedMutex
from moot.extensions.turn_sessions import TURN_GRACE, frames
from moot.extensions.turn_sessions.finder import SessionFinder, TurnListeners
from moot.extensions.turn_sessions.frames import AskedTurn, LastTurnEvent, TurnFrames, TurnPosition
from moot.extensions.turn_sessions.imported_speeches import ImportedSpeech, imported_events
from moot.extensions.turn_sessions.rights import SESSIONS
from moot.extensions.turn_sessions.shapes import (
    DebateSession,
    SessionBegun,
    SessionBrief,
    SessionsResponse,
    SimpleError,
    TurnCancelled,
    TurnStreamEvent,
)
from moot.extensions.turn_sessions.turns import AskTurn, last_asked_position, latest_turn, stream_position
from moot.providers.endpoints import traits_of
from moot.providers.keys import Secret
from moot.providers.redaction import redact
from moot.rules.commands import PauseDebate
from moot.rules.debate_setup import opening_event
from moot.store.contract import DebateFilter, IdempotencyKey, RecordResult
from moot.web.app_context import AppContext, client_of, counted_of, identity_of, query_string
from moot.web.idempotency import fingerprint
from moot.web.model_names import resolve_model, with_alias
from moot.web.responses import json_reply
from moot.web.route_docs import (
    COMMANDED,
    JSON,
    READ,
    api_router,
    documented,
    plain_events,
    resumable_events,
    schema_of,
)
from moot.web.routes.handlers import (
    Context,
    check_accepts_stream,
    check_not_stopping,
    follow_debate,
    open_debate,
    path_parameter,
    quota_problem,
)
from moot.web.server_capabilities import ServerCapabilities, lent_keys
from moot.web.streaming.feed_reading import has_ended
from moot.web.streaming.sse_streams import EventStreamResponse

router = api_router()


class _SessionId(StringConvertor):
    """`/debate/stream/init` is a route of its own, not a session."""

    regex = "(?!init$)[^/]+"


register_url_convertor("session", _SessionId())
SessionId = Annotated[
    str,
    path_parameter("sessionId", "^[A-Za-z0-9_.-]{1,100}$", "The session, or its id before an import."),
]

TURN_OVER: dict[int | str, Any] = {204: {"description": "The turn is over and the client has seen its end."}}


class UnknownModel(Exception):
    """No provider has such a model."""


class TurnStreamRoutes:
    """One method per route."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._arena = context.arena
        service = self._arena.settings.service
        self._listeners = TurnListeners(self._arena, context.presence, service.value(TURN_GRACE))
        self._sessions = SessionFinder(self._arena)
        self._mutex = KeyedMutex(context.arena.ephemeral)

    # --- asking ---------------------------------------------------------------------------------------

    async def ask_turn(self, request: Request) -> Response:
        turn_request = await self._read(request)
        if turn_request is None:
            return json_reply(frames.MISSING_FIELDS, 400)
        try:
            debate, _ = await self._ask_for(request, turn_request)
        except UnknownModel:
            return json_reply(SimpleError(error=f"Model not found: {turn_request.model_id}"), 400)
        self._listeners.expect_listener(debate.id)
        return json_reply(frames.started_reply(debate.id))

    async def hear_turn(self, request: Request) -> Response:
        check_accepts_stream(request)
        turn_request = await self._read(request)
        if turn_request is None:
            return json_reply(frames.MISSING_FIELDS, 400)
        async with AsyncExitStack() as stack:
            # No turn is started for a client that may open no further stream.
            await stack.enter_async_context(self._context.streams.slot(counted_of(request)))
            try:
                debate, position = await self._ask_for(request, turn_request)
            except UnknownModel:
                error = frames.error_frame(f"Model not found: {turn_request.model_id}")
                # As a header: with a media type Starlette would add a charset, which some clients reject.
                return Response(as_lines(error, ""), headers={"Content-Type": "text/event-stream"})
            return self._turn_response(request, debate.id, position, plain=True, slot=stack.pop_all())

    async def stream_session(self, request: Request, session_id: SessionId) -> Response:
        """The turn that was requested last, from its beginning; or a turn after the client's last event."""
        check_accepts_stream(request)
        last = frames.parse_last_event(query_string(request), request.headers.get("last-event-id"))
        debate = await self._session(request, session_id)
        if last is not None:
            return await self._resumed_turn(request, debate, last)
        position = last_asked_position(debate)
        if position is None:
            raise Problem("conflict", "No turn has been asked for")
        return self._turn_response(request, debate.id, TurnPosition(*position), plain=False)

    async def _resumed_turn(self, request: Request, debate: Debate, last: LastTurnEvent) -> Response:
        position, cursor = last
        if cursor.seq > debate.seq:
            raise Problem("cursor-ahead")
        if cursor.seq <= position.after or position.number > len(debate.turns) + len(debate.live) + 1:
            raise Problem("malformed-request", frames.NOT_OUR_ID)
        viewer = identity_of(request).viewer
        dialect = TurnFrames(position.number, position.after, viewer.privileged)
        store = self._arena.store
        if await has_ended(store, debate.id, dialect, viewer, position.after, cursor):
            return Response(status_code=204)
        return self._turn_response(request, debate.id, position, cursor=cursor, plain=False)

    async def cancel_turn(self, request: Request, session_id: SessionId) -> Response:
        """Interrupt the turn that is under way; it can be requested again."""
        debate = await self._session(request, session_id)
        speaks = bool(debate.live) or debate.running
        if speaks:
            # It may have ended meanwhile.
            with suppress(Refused):
                await self._arena.ask(debate.id, PauseDebate(now=True, by=identity_of(request).name))
        return json_reply(TurnCancelled(session_id=debate.id, cancelled=speaks))

    # --- looking --------------------------------------------------------------------------------------

    async def look_at_session(self, request: Request, session_id: SessionId) -> Response:
        debate = await self._session(request, session_id)
        viewer = identity_of(request).viewer
        return json_reply(frames.session_reply(visible_state(debate, viewer), private=viewer.privileged))

    async def list_sessions(self, request: Request) -> Response:
        limit, offset = query_params.parse_page(query_string(request))
        debate_filter = DebateFilter(owner=identity_of(request).owner, format=SESSION_FORMAT)
        page = await self._arena.store.list(debate_filter, limit=limit, offset=offset)
        sessions: list[SessionBrief] = []
        for head in page.heads:
            # A session may be deleted meanwhile.
            with suppress(UnknownDebate):
                sessions.append(frames.session_summary(await self._arena.state(head.id)))
        return json_reply(SessionsResponse(sessions=tuple(sessions), total=page.total))

    # --- the turn -------------------------------------------------------------------------------------

    async def _read(self, request: Request) -> AskedTurn | None:
        check_not_stopping(self._context)
        return frames.read_turn(await request.body())

    async def _ask_for(self, request: Request, turn_request: AskedTurn) -> tuple[Debate, TurnPosition]:
        raw = await request.body()
        owner, client = identity_of(request).owner, client_of(request)
        request_key = "\n".join((client, owner or "", fingerprint("", "", raw)))
        # Of two equal requests at the same time the second finds what the first has opened.
        async with self._mutex.locked(request_key), self._context.idempotency.in_flight(request, raw) as once:
            session = await self._find_session(request, turn_request)
            if session is None and turn_request.slot > 0:
                session = await self._sessions.by_request(request_key, turn_request, owner, client)
            elif session is None and once is None:
                session = await self._sessions.recently_asked(request_key, turn_request)
            if session is not None:
                found = await self._ask_in_session(request, session, turn_request)
                if turn_request.slot > 0:
                    await self._sessions.remember(request_key, session.id)
                return found
            outcome = await self._open_session(request, turn_request, once)
            await self._sessions.remember_opener(outcome.debate.id, client)
            if once is None or turn_request.slot > 0:
                await self._sessions.remember(request_key, outcome.debate.id)
            if outcome.replayed:
                session = await self._arena.state(outcome.debate.id)
                return await self._ask_in_session(request, session, turn_request)
            return outcome.debate, TurnPosition(*stream_position(outcome.debate, turn_request.slot))

    async def _find_session(self, request: Request, turn_request: AskedTurn) -> Debate | None:
        if turn_request.session_id is not None:
            return await self._session(request, turn_request.session_id)
        return await self._sessions.by_response(turn_request, identity_of(request).owner)

    async def _open_session(
        self, request: Request, turn_request: AskedTurn, once: IdempotencyKey | None
    ) -> RecordResult:
        if turn_request.turn_number == 1:
            keys = lent_keys(request.headers, self._arena)
            setup = frames.setup_for_turn(turn_request, self._model(turn_request.model_id, keys))
            return await open_debate(self._context, request, setup, keys, once, step="turn")
        # The earlier turns are unknown here; only the opponent's last words matter.
        setup = frames.setup_for_turn(turn_request, self._model(turn_request.model_id))
        opened = opening_event(setup, lambda kind, _place: new_id(kind))
        last_speech = ImportedSpeech(turn_request.slot - 1, redact(turn_request.opponent_text))
        events = (*imported_events(opened, (last_speech,)), DebateResumed("turn"))
        async with self._context.slots.claim(client_of(request)) as claim:
            objection = claim.objection or await quota_problem(self._context)
            outcome = await self._arena.import_debate(
                events, owner=identity_of(request).owner or "", once=once, objection=objection
            )
            await claim.take(outcome.debate.id)
        return outcome

    async def _ask_in_session(
        self, request: Request, session: Debate, turn_request: AskedTurn
    ) -> tuple[Debate, TurnPosition]:
        seat = session.seat(session.schedule[turn_request.slot].seat)
        keys = lent_keys(request.headers, self._arena)
        keys_used = {name: key for name, key in keys.items() if name in session.setup.lent}
        model = (
            seat.model if turn_request.names(seat.model) else self._model(turn_request.model_id, keys_used)
        )
        command = AskTurn(
            turn_request.slot,
            model,
            turn_request.previous_response_id,
            turn_request.intensity,
            redact(turn_request.opponent_text),
            identity_of(request).name,
        )
        turn = latest_turn(session, turn_request.slot)
        async with self._context.slots.claim(client_of(request)) as claim:
            if claim.objection and (turn is None or turn.state not in ("live", "completed")):
                raise claim.objection
            outcome = await self._arena.ask(session.id, command, keys=keys_used)
            await claim.take(session.id)
        return outcome.debate, TurnPosition(*stream_position(outcome.debate, turn_request.slot))

    def _model(self, name: str, keys: Mapping[str, Secret] | None = None) -> Model:
        """Raises UnknownModel, or Problem where neither the server nor `keys` has a key for the model."""
        model = resolve_model(self._arena, name, keys, effort="high")
        if model is None or model.human:
            raise UnknownModel
        if not ServerCapabilities(self._arena, keys).has_key(model.provider):
            raise Problem("validation", errors={"modelId": ["No API key configured for this provider"]})
        endpoint = self._arena.providers.endpoints.get(model.provider)
        # With high effort the reasoning might fill the usual output limit: the model gets its full limit.
        most = traits_of(endpoint, model.name).output if endpoint and model.effort else None
        return with_alias(replace(model, max_tokens=max(model.max_tokens, most or 0)), name)

    def _turn_response(
        self,
        request: Request,
        debate_id: str,
        position: TurnPosition,
        *,
        plain: bool,
        cursor: Cursor | None = None,
        slot: AsyncExitStack | None = None,
    ) -> Response:
        viewer = identity_of(request).viewer
        dialect = TurnFrames(position.number, position.after, viewer.privileged)
        extra_headers = {"X-Session-Id": debate_id}
        stream = follow_debate(
            self._context,
            request,
            debate_id,
            dialect,
            viewer,
            cursor or Cursor(position.after),
            frames.DELETED_FRAME,
            plain=plain,
            id_prefix=position.id_prefix,
            extra_headers=extra_headers,
            slot=slot,
        )
        return TurnStreamResponse(stream, self._listeners, debate_id)

    # --- ownership ----------------------------------------------------------------------------------

    async def _session(self, request: Request, session_id: str) -> Debate:
        debate = await self._sessions.by_id(session_id, identity_of(request).owner)
        await self._context.visible_head(request, debate.id)
        return debate


class TurnStreamResponse(Response):
    """The stream of one turn. The turn is interrupted when no client has been following it for a while."""

    def __init__(self, stream: EventStreamResponse, listeners: TurnListeners, debate_id: str) -> None:
        super().__init__()
        self._stream = stream
        self._listeners = listeners
        self._debate_id = debate_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._listeners.listening(self._debate_id, lambda: self._stream.left):
            await self._stream(scope, receive, send)


# --- routes -------------------------------------------------------------------------------------------


@router.post(
    "/debate/stream/init",
    **documented(
        "open",
        tag="Compatibility APIs",
        summary="Ask for one turn",
        reply=SessionBegun,
        says="The turn is running. `streamUrl` is the address of its stream.",
        body=AskedTurn,
        once=True,
        keys=True,
        refusals=COMMANDED,
        responses={400: {"content": {JSON: {"schema": schema_of(SimpleError)}}}},
    ),
)
async def request_turn(request: Request, context: Context) -> Response:
    """Starts one turn of a debate in which two models answer each other, ten turns in all. The first turn
    opens a session; later turns find it by `sessionId` or `previousResponseId`, or mean the session that this
    client opened on the topic and that waits for this turn. A repeated request joins the same turn from its
    beginning, whether it is running or finished; a turn that failed or was cut is generated again. Missing
    fields and unknown models are answered with `{"error": …}`.
    """
    return await context.service(TurnStreamRoutes).ask_turn(request)


@router.post(
    "/debate/stream",
    **documented(
        "open",
        tag="Compatibility APIs",
        summary="Ask for one turn, and hear it",
        events=plain_events(TurnStreamEvent),
        says="Events as they happen. The stream ends after `complete` or `error`.",
        body=AskedTurn,
        once=True,
        keys=True,
        refusals=(403, 404, 406, 409, 415, 422),
        responses={400: {"content": {JSON: {"schema": schema_of(SimpleError)}}}},
    ),
)
async def run_turn(request: Request, context: Context) -> Response:
    """Starts one turn and returns its stream, in one request. A repeated request joins the same turn from its
    beginning, whether it is running or finished; a turn that failed or was cut is generated again. Missing
    fields are answered with `{"error": …}`, an unknown model with an `error` event.
    """
    return await context.service(TurnStreamRoutes).hear_turn(request)


@router.get(
    "/debate/stream/{sessionId:session}",
    **documented(
        "watch",
        tag="Compatibility APIs",
        summary="Hear the turn that was asked for last",
        events=resumable_events(TurnStreamEvent),
        says="Events as they happen. The stream ends after `complete` or `error`.",
        query=frames.STREAM_PARAMETERS,
        headers=("X-Session-Id",),
        refusals=(403, 404, 406, 409, 422),
        responses=TURN_OVER,
    ),
)
async def stream_turn(request: Request, session_id: SessionId, context: Context) -> Response:
    """Streams the turn that was requested last, from its beginning, or the rest of a turn after the last
    event id. A client that has seen the end of its turn gets 204. A turn that no client follows for a while
    is cut.
    """
    return await context.service(TurnStreamRoutes).stream_session(request, session_id)


@router.delete(
    "/debate/stream/{sessionId:session}",
    **documented(
        "steer",
        tag="Compatibility APIs",
        summary="Cut the turn that is under way",
        reply=TurnCancelled,
        says="Whether a turn was running.",
        refusals=(403, 404, 422),
    ),
)
async def cancel_turn(request: Request, session_id: SessionId, context: Context) -> Response:
    """Cuts the running turn. It can be requested again in the same session. Closing its stream has the same
    effect some seconds later.
    """
    return await context.service(TurnStreamRoutes).cancel_turn(request, session_id)


@router.get(
    "/debate/session/{sessionId:session}",
    **documented(
        "watch",
        tag="Compatibility APIs",
        summary="Restore a session",
        reply=DebateSession,
        says="The session.",
        refusals=READ,
    ),
)
async def get_session(request: Request, session_id: SessionId, context: Context) -> Response:
    """Returns the messages so far, the ids of the responses and the cost. An imported session is also found
    by its former id.
    """
    return await context.service(TurnStreamRoutes).look_at_session(request, session_id)


@router.get(
    "/debate/sessions",
    **documented(
        SESSIONS,
        tag="Compatibility APIs",
        summary="List sessions",
        reply=SessionsResponse,
        says="A page of sessions.",
        query=query_params.PARAMETERS["page"],
        refusals=(403, 422),
    ),
)
async def list_sessions(request: Request, context: Context) -> Response:
    """Lists sessions, newest first, without their messages."""
    return await context.service(TurnStreamRoutes).list_sessions(request)
