"""`/api/debate/stream`: the client asks for each turn, and two models answer each other by sessions."""

from __future__ import annotations

from moot.web.desk import Desk, Route

ROUTES: tuple[Route, ...] = ()


class Turns(Desk):
    """One method a route."""
