"""`/api/debate/stream`: the client asks for each turn, and two models answer each other by sessions.

A session is a debate that goes one turn at a time (`turnwise`). The first turn opens one; for a later one it
is found by its id, by the response that the model gave last, or by what the other model said last. A client
that knows a debate which we do not is taken at its word: its session begins with what the opponent said.

To ask again for the same turn joins it from its beginning, whether it is under way or over; it is paid for
once. A first turn is the same for as long as it is under way and some seconds longer, if the same client asks
for it in the same words: whoever wants two such debates at once sends an `Idempotency-Key`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Annotated, Any

from fastapi import Path
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from moot.api.frames import Cursor, Frame, as_lines
from moot.api.problems import Problem
from moot.api.v1 import query_params
from moot.compat import turn_stream
from moot.compat.model_names import called, resolve
from moot.compat.session_finder import Sessions
from moot.compat.turn_listeners import Vigil
from moot.compat.turn_stream import AskedTurn, OneTurn
from moot.core.errors import Refused, UnknownDebate
from moot.core.events import DebateResumed
from moot.core.ids import new_id
from moot.core.state import Debate
from moot.core.terms import Model
from moot.core.visibility import seen
from moot.engine.mutex import Turnstile
from moot.providers.endpoints import traits_of
from moot.providers.keys import Secret
from moot.providers.redaction import redact
from moot.rules.commands import Pause
from moot.rules.debate_setup import opening
from moot.rules.turn_sessions import NAME, AskTurn, asked_last, latest, watched
from moot.store.contract import Once, Outcome, Wanted
from moot.views.session_rows import Said, held
from moot.web.app_context import Rooms, query_of, who
from moot.web.capabilities import House, lent_keys
from moot.web.idempotency import fingerprint
from moot.web.responses import json_reply
from moot.web.routes.handlers import Desk, Route, accepts_stream
from moot.web.streaming.sse_streams import EventStream

ROUTES: tuple[Route, ...] = (
    ("POST", "/debate/stream/init", "ask_turn", "open"),
    ("POST", "/debate/stream", "hear_turn", "open"),
    ("GET", "/debate/stream/{sessionId}", "stream_session", "watch"),
    ("DELETE", "/debate/stream/{sessionId}", "cancel_turn", "steer"),
    ("GET", "/debate/session/{sessionId}", "look_at_session", "watch"),
    ("GET", "/debate/sessions", "list_sessions", "sessions"),
)
SessionId = Annotated[str, Path(alias="sessionId", examples=["deb_01HZ9X8K7M3QR5TNVWXYZ12345"])]

Place = tuple[int, int]
"""The number under which a turn is given, and the seq after which it is told."""


class UnknownModel(Exception):
    """Nobody here knows such a model."""


class Turns(Desk):
    """One method a route."""

    def __init__(self, rooms: Rooms) -> None:
        super().__init__(rooms)
        service = self._arena.settings.service
        self._vigil = Vigil(self._arena, rooms.attendance, service.turn_grace_seconds)
        self._sessions = Sessions(self._arena)
        self._turnstile = Turnstile(rooms.arena.commons)

    # --- asking ---------------------------------------------------------------------------------------

    async def ask_turn(self, request: Request) -> Response:
        asked = await self._read(request)
        if asked is None:
            return json_reply(turn_stream.MISSING, 400)
        try:
            debate, _ = await self._ask_for(request, asked)
        except UnknownModel:
            return json_reply({"error": turn_stream.not_found(asked.model_id)}, 400)
        self._vigil.expect(debate.id)
        return json_reply(turn_stream.begun(debate.id))

    async def hear_turn(self, request: Request) -> Response:
        accepts_stream(request)
        asked = await self._read(request)
        if asked is None:
            return json_reply(turn_stream.MISSING, 400)
        async with AsyncExitStack() as stack:
            # Nobody speaks for someone who has no place left to listen from.
            await stack.enter_async_context(self._rooms.streams.taken(request.scope["state"]["client"]))
            try:
                debate, place = await self._ask_for(request, asked)
            except UnknownModel:
                error = Frame("error", {"message": turn_stream.not_found(asked.model_id)})
                # Bare: of its own accord it would add a charset, which some clients do not expect.
                return Response(as_lines(error, ""), headers={"Content-Type": "text/event-stream"})
            return self._tell(request, debate.id, place, stack.pop_all())

    async def stream_session(self, request: Request, session_id: SessionId) -> Response:
        """The turn that was asked for last, from its beginning."""
        accepts_stream(request)
        query_params.ticket(query_of(request))
        debate = await self._session(request, session_id)
        place = asked_last(debate)
        if place is None:
            raise Problem("conflict", "No turn has been asked for")
        return self._tell(request, debate.id, place)

    async def cancel_turn(self, request: Request, session_id: SessionId) -> Response:
        """Cut the turn that is under way; it can be asked for again."""
        query_params.nothing(query_of(request))
        debate = await self._session(request, session_id)
        speaks = bool(debate.live) or debate.running
        if speaks:
            # It may have come to its end meanwhile.
            with suppress(Refused):
                await self._arena.ask(debate.id, Pause(now=True, by=who(request).name))
        return json_reply({"sessionId": debate.id, "cancelled": speaks})

    # --- looking --------------------------------------------------------------------------------------

    async def look_at_session(self, request: Request, session_id: SessionId) -> Response:
        query_params.nothing(query_of(request))
        debate = await self._session(request, session_id)
        viewer = who(request).viewer
        return json_reply(turn_stream.session(seen(debate, viewer), private=viewer.privileged))

    async def list_sessions(self, request: Request) -> Response:
        limit, offset = query_params.page(query_of(request))
        wanted = Wanted(owner=who(request).owner, format=NAME)
        page = await self._arena.store.list(wanted, limit=limit, offset=offset)
        found: list[dict[str, Any]] = []
        for head in page.heads:
            # One may be deleted meanwhile.
            with suppress(UnknownDebate):
                found.append(turn_stream.brief(await self._arena.state(head.id)))
        return json_reply({"sessions": found, "total": page.total})

    # --- the turn -------------------------------------------------------------------------------------

    async def _read(self, request: Request) -> AskedTurn | None:
        query_params.nothing(query_of(request))
        self._still_open()
        return turn_stream.read_turn(await request.body())

    async def _ask_for(self, request: Request, asked: AskedTurn) -> tuple[Debate, Place]:
        raw = await request.body()
        owner, client = who(request).owner, request.scope["state"]["client"]
        wish = "\n".join((client, owner or "", fingerprint("", "", raw)))
        # Twice the same at the same time is one wish: the second finds what the first has opened.
        async with self._turnstile.alone(wish), self._rooms.repeats.doing(request, raw) as once:
            session = await self._meant(request, asked)
            if session is None and once is None:
                session = await self._sessions.opened_lately(wish, asked)
            if session is not None:
                return await self._go_on(request, session, asked)
            outcome = await self._begin(request, asked, once)
            if once is None:
                await self._sessions.remember(wish, outcome.debate.id)
            if outcome.replayed:
                session = await self._arena.state(outcome.debate.id)
                return await self._go_on(request, session, asked)
            return outcome.debate, watched(outcome.debate, asked.slot)

    async def _meant(self, request: Request, asked: AskedTurn) -> Debate | None:
        if asked.session_id is not None:
            return await self._session(request, asked.session_id)
        return await self._sessions.meant(asked, who(request).owner)

    async def _begin(self, request: Request, asked: AskedTurn, once: Once | None) -> Outcome:
        if asked.turn_number == 1:
            keys = lent_keys(request.headers, self._arena)
            setup = turn_stream.setup_of(asked, self._model(asked.model_id, keys))
            return await self._open(request, setup, keys, once, step="turn")
        # What went before is known to the client alone: of that, what the opponent said last is what counts.
        setup = turn_stream.setup_of(asked, self._model(asked.model_id))
        opened = opening(setup, lambda kind, _place: new_id(kind))
        said = Said(asked.slot - 1, redact(asked.said))
        events = (*held(opened, (said,)), DebateResumed("turn"))
        async with self._rooms.slots.taking(request.scope["state"]["client"]) as place:
            objection = place.objection or await self._full()
            outcome = await self._arena.take_over(
                events, owner=who(request).owner or "", once=once, objection=objection
            )
            await place.take(outcome.debate.id)
        return outcome

    async def _go_on(self, request: Request, session: Debate, asked: AskedTurn) -> tuple[Debate, Place]:
        seat = session.seat(session.schedule[asked.slot].seat)
        known = asked.model_id in (seat.model.name, seat.model.label, seat.model.alias)
        keys = lent_keys(request.headers, self._arena)
        lent = {name: key for name, key in keys.items() if name in session.manner.lent}
        model = seat.model if known else self._model(asked.model_id, lent)
        command = AskTurn(asked.slot, model, asked.previous_response_id, asked.intensity, who(request).name)
        turn = latest(session, asked.slot)
        async with self._rooms.slots.taking(request.scope["state"]["client"]) as place:
            if place.objection and (turn is None or turn.state not in ("live", "completed")):
                raise place.objection
            outcome = await self._arena.ask(session.id, command, keys=lent)
            await place.take(session.id)
        return outcome.debate, watched(outcome.debate, asked.slot)

    def _model(self, name: str, keys: Mapping[str, Secret] | None = None) -> Model:
        """With the keys that are lent for the whole session, if any are."""
        model = resolve(self._arena, name, keys, effort="high")
        if model is None or model.human:
            raise UnknownModel
        if not House(self._arena, keys).has_key(model.provider):
            raise Problem("validation", errors={"modelId": ["No API key configured for this provider"]})
        endpoint = self._arena.providers.endpoints.get(model.provider)
        # One that is told to think hard is given all the room that it has, or its thoughts might fill it.
        most = traits_of(endpoint, model.name).output if endpoint and model.effort else None
        return called(replace(model, max_tokens=max(model.max_tokens, most or 0)), name)

    def _tell(
        self, request: Request, debate_id: str, place: Place, stack: AsyncExitStack | None = None
    ) -> Response:
        number, after = place
        viewer = who(request).viewer
        dialect = OneTurn(number, after, viewer.privileged)
        told = {"X-Session-Id": debate_id}
        stream = self._follow(
            request,
            debate_id,
            dialect,
            viewer,
            Cursor(after),
            turn_stream.GONE,
            plain=True,
            told=told,
            place=stack,
        )
        return Listening(stream, self._vigil, debate_id)

    # --- whose it is ----------------------------------------------------------------------------------

    async def _session(self, request: Request, session_id: str) -> Debate:
        debate = await self._sessions.named(session_id, who(request).owner)
        await self._rooms.mine(request, debate.id)
        return debate


class Listening(Response):
    """A stream of one turn, which is cut when nobody hears it."""

    def __init__(self, stream: EventStream, vigil: Vigil, debate_id: str) -> None:
        super().__init__()
        self._stream = stream
        self._vigil = vigil
        self._debate_id = debate_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._vigil.listening(self._debate_id, lambda: self._stream.left):
            await self._stream(scope, receive, send)
