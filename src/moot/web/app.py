"""Builds the ASGI application: the routes, what they share (`AppContext`), and the middleware around them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from moot import __version__
from moot.api.auth import Authenticator, Tickets
from moot.api.problems import Problem, as_problem
from moot.api.rate_limits import RateLimiter, StreamLimiter
from moot.api.rights import check
from moot.core.errors import MootError, StoreError
from moot.engine.arena import Arena
from moot.engine.ephemeral_store import Presence
from moot.extension import loaded
from moot.web.app_context import AppContext, identity_of
from moot.web.debate_slots import DebateSlots
from moot.web.idempotency import IdempotencyKeys
from moot.web.middleware.compression import CompressionMiddleware
from moot.web.middleware.guard import STREAM_PATHS, GuardMiddleware
from moot.web.middleware.http_exchange import HUNG_UP, OPEN_PATHS
from moot.web.middleware.stream_dispatcher import StreamDispatcher
from moot.web.responses import problem_reply
from moot.web.route_docs import PREFIX
from moot.web.routes import (
    admin,
    command_routes,
    debate_routes,
    docs,
    experiment_routes,
    health,
    install_routes,
    invitations,
    key_routes,
    metrics,
    page_views,
    people,
)  # fmt: skip
from moot.web.routes import manual as manual_routes
from moot.web.routes import page as page_routes
from moot.web.server_info import ServerInfo
from moot.web.single_flight import SingleFlight
from moot.web.streaming import websocket as socket
from moot.web.streaming.feeds import Feeds
from moot.web.streaming.sse_streams import StreamMonitor

if TYPE_CHECKING:
    from moot.extension import HttpRoutes
    from moot.manual.pages import WritePage

log = logging.getLogger(__name__)

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
SOCKET = f"{PREFIX}/debates/{{debateId}}/ws"
ROUTERS = (debate_routes.router, page_views.router, invitations.router, people.router)
SERVER_ROUTERS = (experiment_routes.router, admin.router, install_routes.router, key_routes.router)
"""The routes of `/api/v1`, besides those of the commands; what extensions bring is between them."""


def make_app(arena: Arena, manual: Mapping[str, WritePage] | None = None) -> ASGIApp:
    """The application as it is served: v1, the page, and what extensions bring. `manual` are functions that
    write pages of the manual, by their paths in `docs/`."""
    service = arena.settings.service
    feeds = Feeds(arena.store, arena.followers)
    presence = Presence(arena.ephemeral)
    keeper = Authenticator(arena.store, service.token)
    arena.store.listen(feeds.on_records)
    context = AppContext(
        arena=arena,
        feeds=feeds,
        stream_monitor=StreamMonitor(feeds, service, presence, keeper),
        presence=presence,
        authenticator=keeper,
        tickets=Tickets(arena.ephemeral),
        limiter=RateLimiter(service.requests_per_minute, arena.ephemeral.storage),
        streams=StreamLimiter(service.streams_per_client, presence),
        slots=DebateSlots(service.debates_per_client, arena.ephemeral, arena),
        idempotency=IdempotencyKeys(arena.ephemeral),
        server_info=ServerInfo(arena),
        heads=SingleFlight(arena.head),
        states=SingleFlight(arena.state),
    )
    added = [routes for _, routes in loaded().of(lambda extension: extension.http)]
    app = _application(context, added, manual or {})
    return GuardMiddleware(
        StreamDispatcher(CompressionMiddleware(app), app, debate_routes.router),
        service,
        context.authenticator,
        context.limiter,
        context.tickets,
        open_paths={*OPEN_PATHS, *page_routes.open_paths(), *manual_routes.PATHS[:1]},
        open_prefixes=(*page_routes.open_prefixes(), manual_routes.MANUAL),
        plain_text=frozenset(path for routes in added for path in routes.plain_text),
        coded_errors=frozenset(path for routes in added for path in routes.coded_errors),
        streams=(*STREAM_PATHS, *(path for routes in added for path in routes.streams)),
        observe=app.state.metrics.on_exchange,
    )


def _application(
    context: AppContext, added: Sequence[HttpRoutes], manual: Mapping[str, WritePage]
) -> FastAPI:
    app = FastAPI(
        title="Moot",
        version=__version__,
        redirect_slashes=False,
        openapi_url=None,
        generate_unique_id_function=attrgetter("name"),
    )
    app.state.context, app.state.arena = context, context.arena
    app.state.metrics = metrics.Metrics(context.arena, lambda: context.stream_monitor.viewers)
    ours = [router for routes in added if routes.prefix == PREFIX for router in routes.routers]
    for router in (*ROUTERS, *ours, *SERVER_ROUTERS, command_routes.router()):
        app.include_router(router, prefix=PREFIX)
    for routes in added:
        for router in routes.routers if routes.prefix != PREFIX else ():
            app.include_router(router, prefix=routes.prefix)
    app.include_router(health.router)
    app.include_router(metrics.router)
    app.include_router(docs.router(app, context))
    app.state.page_routes = page_routes.PageRoutes()
    app.include_router(app.state.page_routes.router())
    written = manual_routes.written_pages(app, context.arena, manual)
    app.include_router(manual_routes.ManualRoutes(written).router())

    async def talk(websocket: WebSocket) -> None:
        await socket.serve_socket(context, websocket, websocket.path_params["debateId"])

    async def not_a_socket(request: Request) -> Response:
        check(identity_of(request), "watch")
        raise Problem("upgrade-required")

    app.add_route(SOCKET, not_a_socket, methods=["GET"])
    app.router.add_websocket_route(SOCKET, talk)
    app.add_exception_handler(MootError, _error_response)
    app.add_exception_handler(HTTPException, _error_response)
    # `GuardMiddleware` logs other errors; the reply has only a request id.
    app.add_exception_handler(Exception, _error_response)
    return app


async def _error_response(request: Request, error: Exception) -> Response:
    if isinstance(error, HUNG_UP):
        # There is no client to answer; `GuardMiddleware` does not log this as an error.
        raise error
    if request.scope["type"] == "websocket":
        # `GuardMiddleware` refuses the handshake; here nothing could be sent any more.
        raise Problem("not-found") if isinstance(error, HTTPException) else as_problem(error)
    problem = _routing_problem(request, error) if isinstance(error, HTTPException) else as_problem(error)
    if problem.kind == "not-found":
        page: Response | None = request.app.state.page_routes.not_found(request)
        if page is not None:
            return page
    if isinstance(error, StoreError):
        log.warning("%s", error)
    return problem_reply(problem, request.scope)


def _routing_problem(request: Request, error: HTTPException) -> Problem:
    # TRACE, which would send the request back, is not allowed at any path.
    if error.status_code == 405 or request.method == "TRACE":
        return Problem("method-not-allowed", headers={"Allow": ", ".join(_allowed_methods(request))})
    return Problem("not-found" if error.status_code == 404 else "malformed-request")


def _allowed_methods(request: Request) -> list[str]:
    """The methods of this path, collected from all routes, each of which knows only its own."""
    debates = request.app.router.routes
    return [
        method
        for method in METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in debates)
    ]
