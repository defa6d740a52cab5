"""The compatibility APIs of three older documents, as one extension of the application.

Each has its bodies, frames and routes in this folder; all use the same middleware, arena, log and feeds as
`/api/v1`.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.convertors import StringConvertor, register_url_convertor

from moot.compat import arena_routes, quick, turn_stream_routes
from moot.web.app_context import AppContext
from moot.web.extension import Extension, Reference
from moot.web.routes.handlers import Route, add_routes

PREFIX = "/api"
ROUTES: tuple[Route, ...] = (*quick.ROUTES, *arena_routes.ROUTES, *turn_stream_routes.ROUTES)
PLAIN_TEXT = frozenset({"/api/debate", "/api/debate/create"})
"""The clients in their document post JSON without naming the type."""


def router(context: AppContext) -> APIRouter:
    routes = APIRouter(redirect_slashes=False)
    handlers_by_table = (
        (quick.ROUTES, quick.QuickRoutes(context)),
        (arena_routes.ROUTES, arena_routes.ArenaRoutes(context)),
        (turn_stream_routes.ROUTES, turn_stream_routes.TurnStreamRoutes(context)),
    )
    for table, handlers in handlers_by_table:
        add_routes(routes, table, handlers, sessionId="session")
    return routes


def _reference() -> Reference:
    from moot.compat.reference_articles import COMPAT_ARTICLES, COMPAT_BODIES, COMPAT_SAMPLES
    from moot.compat.reference_schemas import COMPAT_EVENTS, COMPAT_REPLIES

    return Reference(COMPAT_ARTICLES, COMPAT_BODIES, COMPAT_REPLIES, COMPAT_EVENTS, COMPAT_SAMPLES)


OLDER_APIS = Extension(PREFIX, ROUTES, router, _reference, PLAIN_TEXT)


class _SessionId(StringConvertor):
    """Any segment but `init`: `/debate/stream/init` is a route of its own."""

    regex = "(?!init$)[^/]+"


register_url_convertor("session", _SessionId())
