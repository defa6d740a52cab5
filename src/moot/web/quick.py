"""`POST /api/debate`: an Optimist, a Skeptic and a Moderator, and the reply is the stream itself."""

from __future__ import annotations

from moot.web.desk import Desk, Route

ROUTES: tuple[Route, ...] = ()


class Quick(Desk):
    """One method a route."""
