"""The application: the arena's rooms, the routes over them, and the border in front."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from moot import __version__
from moot.api.auth import Keeper, Tickets
from moot.api.problems import Problem, problem_of
from moot.api.rate_limits import Limiter, Streams
from moot.api.rights import Action, check
from moot.core.errors import MootError, StoreError
from moot.engine.arena import Arena
from moot.engine.presence import Attendance
from moot.web.app_context import Rooms, who
from moot.web.debate_slots import Slots
from moot.web.extension import Extension
from moot.web.idempotency import Repeats
from moot.web.middleware.compression import Packing
from moot.web.middleware.guard import HUNG_UP, OPEN, Border
from moot.web.reference.article import PREFIX
from moot.web.responses import problem_reply
from moot.web.routes import debates, docs, health
from moot.web.routes import page as front
from moot.web.routes.metrics import Metrics
from moot.web.server_info import Catalogue
from moot.web.streaming import websocket as socket
from moot.web.streaming.feeds import Feeds
from moot.web.streaming.sse_streams import Clock

log = logging.getLogger(__name__)

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
METRICS, SOCKET = "/metrics", f"{PREFIX}/debates/{{debateId}}/ws"
RIGHTS: dict[tuple[str, str], Action] = {
    **{(method, f"{PREFIX}{path}"): action for method, path, _, action in debates.ROUTES},
    **{("GET", path): "public" for path in (*health.PATHS, *front.PATHS)},
    **{("GET", path): "look" for path in docs.PATHS},
    ("GET", METRICS): "operate",
    ("GET", SOCKET): "watch",
}
"""Every route of our own, by method and address, and what one must be allowed to do there."""


def rights(extensions: Sequence[Extension] = ()) -> dict[tuple[str, str], Action]:
    """Every route that there is, by method and address, and what one must be allowed to do there."""
    added: dict[tuple[str, str], Action] = {
        (method, f"{extension.prefix}{path}"): action
        for extension in extensions
        for method, path, _, action in extension.routes
    }
    return {**RIGHTS, **added}


def make_app(arena: Arena, extensions: Sequence[Extension] = ()) -> ASGIApp:
    service = arena.settings.service
    feeds = Feeds(arena.store, arena.hub)
    attendance = Attendance(arena.commons)
    keeper = Keeper(arena.store, service.token)
    arena.store.listen(lambda debate_id, records: feeds.forget(debate_id) if records is None else None)
    rooms = Rooms(
        arena=arena,
        feeds=feeds,
        clock=Clock(feeds, service, attendance, keeper),
        attendance=attendance,
        keeper=keeper,
        tickets=Tickets(arena.commons),
        limiter=Limiter(service.requests_per_minute, arena.commons.storage),
        streams=Streams(service.streams_per_client, attendance),
        slots=Slots(service.debates_per_client, arena.commons, arena),
        repeats=Repeats(arena.commons),
        catalogue=Catalogue(arena),
    )
    return Border(
        Packing(_application(rooms, extensions)),
        service,
        rooms.keeper,
        rooms.limiter,
        rooms.tickets,
        open_paths={*OPEN, *front.OPEN},
        open_prefixes=front.OPEN_PREFIXES,
        plain_text=frozenset(path for extension in extensions for path in extension.plain_text),
    )


def _application(rooms: Rooms, extensions: Sequence[Extension]) -> FastAPI:
    app = FastAPI(title="Moot", version=__version__, redirect_slashes=False, openapi_url=None)
    app.include_router(debates.router(rooms), prefix=PREFIX)
    for extension in extensions:
        app.include_router(extension.router(rooms), prefix=extension.prefix)
    app.include_router(health.router(rooms.arena))
    app.include_router(docs.router(rooms.arena, rooms.keeper, extensions))
    app.state.front = front.Front()
    app.include_router(app.state.front.router())
    metrics = Metrics(rooms.arena, lambda: rooms.clock.viewers)

    async def measure(request: Request) -> Response:
        check(who(request), RIGHTS["GET", METRICS])
        return Response(await metrics.page(), media_type="text/plain; version=1.0.0; charset=utf-8")

    async def talk(websocket: WebSocket) -> None:
        await socket.serve(rooms, websocket, websocket.path_params["debateId"])

    async def not_a_socket(_request: Request) -> Response:
        raise Problem("upgrade-required")

    app.add_route(METRICS, measure, methods=["GET"])
    app.add_route(SOCKET, not_a_socket, methods=["GET"])
    app.router.add_websocket_route(SOCKET, talk)
    app.add_exception_handler(MootError, _complain)
    app.add_exception_handler(HTTPException, _complain)
    # Whatever else happens is logged at the border and told as nothing but a request id.
    app.add_exception_handler(Exception, _complain)
    return app


async def _complain(request: Request, error: Exception) -> Response:
    if isinstance(error, HUNG_UP):
        # Nobody is told, and the border knows that it is no error.
        raise error
    if request.scope["type"] == "websocket":
        # The border refuses a handshake; here nothing could be sent any more.
        raise Problem("not-found") if isinstance(error, HTTPException) else problem_of(error)
    problem = _unrouted(request, error) if isinstance(error, HTTPException) else problem_of(error)
    if isinstance(error, HTTPException) and problem.kind == "not-found":
        page: Response | None = request.app.state.front.lost(request)
        if page is not None:
            return page
    if isinstance(error, StoreError):
        log.warning("%s", error)
    return problem_reply(problem, request.scope)


def _unrouted(request: Request, error: HTTPException) -> Problem:
    # To send a request back as it came is nowhere allowed, whatever the address.
    if error.status_code == 405 or request.method == "TRACE":
        return Problem("method-not-allowed", headers={"Allow": ", ".join(_allowed(request))})
    return Problem("not-found" if error.status_code == 404 else "malformed-request")


def _allowed(request: Request) -> list[str]:
    """What can be done at this address: the routes know it one by one, each its own method."""
    debates = request.app.router.routes
    return [
        method
        for method in METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in debates)
    ]
