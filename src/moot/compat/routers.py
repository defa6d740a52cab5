"""The other front doors: three older documents describe APIs that people have clients for.

Each has a dialect in `wire` (bodies in, frames out) and a desk here; behind all of them are the same arena,
log and feeds as behind `/api/v1`, and in front of them the same border.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.convertors import StringConvertor, register_url_convertor

from moot.compat import arena_routes, quick_routes, turn_stream_routes
from moot.web.app_context import Rooms
from moot.web.extension import Extension, Reference
from moot.web.routes.handlers import Route, add_routes

PREFIX = "/api"
ROUTES: tuple[Route, ...] = (*quick_routes.ROUTES, *arena_routes.ROUTES, *turn_stream_routes.ROUTES)
PLAIN_TEXT = frozenset({"/api/debate", "/api/debate/create"})
"""Their own document posts JSON without saying so."""


def router(rooms: Rooms) -> APIRouter:
    routes = APIRouter(redirect_slashes=False)
    desks = (
        (quick_routes.ROUTES, quick_routes.Quick(rooms)),
        (arena_routes.ROUTES, arena_routes.Bouts(rooms)),
        (turn_stream_routes.ROUTES, turn_stream_routes.Turns(rooms)),
    )
    for table, desk in desks:
        add_routes(routes, table, desk, sessionId="session")
    return routes


def _reference() -> Reference:
    from moot.compat.reference_articles import DOOR_BODIES, DOOR_SAMPLES, DOORS
    from moot.compat.reference_schemas import DOOR_EVENTS, DOOR_REPLIES

    return Reference(DOORS, DOOR_BODIES, DOOR_REPLIES, DOOR_EVENTS, DOOR_SAMPLES)


OLDER_APIS = Extension(PREFIX, ROUTES, router, _reference, PLAIN_TEXT)


class _SessionId(StringConvertor):
    """`/debate/stream/init` is an address of its own, and no session."""

    regex = "(?!init$)[^/]+"


register_url_convertor("session", _SessionId())
