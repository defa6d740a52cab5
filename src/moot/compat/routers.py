"""The older APIs: three documents describe them, and people have clients for them.

Each has its frames, its bodies and its routes in this folder; behind all of them are the same arena, log and
feeds as behind `/api/v1`, and in front of them the same middleware.
"""

from __future__ import annotations

from moot.compat import arena_routes, quick, turn_stream_routes
from moot.web.extension import Extension, Reference

PREFIX = "/api"
ROUTERS = (quick.router, arena_routes.router, turn_stream_routes.router)
PLAIN_TEXT = frozenset({"/api/debate", "/api/debate/create"})
"""Their own document posts JSON without saying so."""


def _reference() -> Reference:
    from moot.compat.reference_schemas import COMPAT_BODIES, COMPAT_EVENTS, COMPAT_REPLIES, COMPAT_SAMPLES

    return Reference(COMPAT_BODIES, COMPAT_REPLIES, COMPAT_EVENTS, COMPAT_SAMPLES)


OLDER_APIS = Extension(PREFIX, ROUTERS, _reference, PLAIN_TEXT)
