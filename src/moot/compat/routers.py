"""The older APIs: three documents describe them, and people have clients for them.

Each has its frames, its bodies and its routes in this folder; behind all of them are the same arena, log and
feeds as behind `/api/v1`, and in front of them the same middleware.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.convertors import StringConvertor, register_url_convertor

from moot.compat import arena_routes, quick_routes, turn_stream_routes
from moot.web.app_context import AppContext
from moot.web.extension import Extension, Reference
from moot.web.routes.handlers import Route, add_routes

PREFIX = "/api"
ROUTES: tuple[Route, ...] = (*quick_routes.ROUTES, *arena_routes.ROUTES, *turn_stream_routes.ROUTES)
PLAIN_TEXT = frozenset({"/api/debate", "/api/debate/create"})
"""Their own document posts JSON without saying so."""


def router(context: AppContext) -> APIRouter:
    routes = APIRouter(redirect_slashes=False)
    desks = (
        (quick_routes.ROUTES, quick_routes.QuickRoutes(context)),
        (arena_routes.ROUTES, arena_routes.ArenaRoutes(context)),
        (turn_stream_routes.ROUTES, turn_stream_routes.TurnStreamRoutes(context)),
    )
    for table, handlers in desks:
        add_routes(routes, table, handlers, sessionId="session")
    return routes


def _reference() -> Reference:
    from moot.compat.reference_articles import COMPAT_ARTICLES, COMPAT_BODIES, COMPAT_SAMPLES
    from moot.compat.reference_schemas import COMPAT_EVENTS, COMPAT_REPLIES

    return Reference(COMPAT_ARTICLES, COMPAT_BODIES, COMPAT_REPLIES, COMPAT_EVENTS, COMPAT_SAMPLES)


OLDER_APIS = Extension(PREFIX, ROUTES, router, _reference, PLAIN_TEXT)


class _SessionId(StringConvertor):
    """`/debate/stream/init` is an address of its own, and no session."""

    regex = "(?!init$)[^/]+"


register_url_convertor("session", _SessionId())
