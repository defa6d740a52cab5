"""`/api/debates`: two debaters take turns, and whoever watches may pause, skip and comment."""

from __future__ import annotations

from moot.web.desk import Desk, Route

ROUTES: tuple[Route, ...] = ()


class Bouts(Desk):
    """One method a route."""
