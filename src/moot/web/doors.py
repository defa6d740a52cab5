"""The other front doors: three older documents describe APIs that people have clients for.

Each has a dialect in `wire` (bodies in, frames out) and a desk here; behind all of them are the same arena,
log and feeds as behind `/api/v1`, and in front of them the same border.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.convertors import StringConvertor, register_url_convertor

from moot.web import bouts, quick, turns
from moot.web.desk import Route, add_routes
from moot.web.rooms import Rooms

PREFIX = "/api"
ROUTES: tuple[Route, ...] = (*quick.ROUTES, *bouts.ROUTES, *turns.ROUTES)
PLAIN_TEXT = frozenset({"/api/debate", "/api/debate/create"})
"""Their own document posts JSON without saying so."""


def router(rooms: Rooms) -> APIRouter:
    routes = APIRouter(redirect_slashes=False)
    desks = (
        (quick.ROUTES, quick.Quick(rooms)),
        (bouts.ROUTES, bouts.Bouts(rooms)),
        (turns.ROUTES, turns.Turns(rooms)),
    )
    for table, desk in desks:
        add_routes(routes, table, desk, sessionId="session")
    return routes


class _SessionId(StringConvertor):
    """`/debate/stream/init` is an address of its own, and no session."""

    regex = "(?!init$)[^/]+"


register_url_convertor("session", _SessionId())
