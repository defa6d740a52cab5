"""`/api/debate`: a topic in, and three agents debate it at once, for clients of an older API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from moot.extension import Extension, HttpRoutes, Variable

if TYPE_CHECKING:
    from moot.api.frames import Dialect

PER_HOUR = Variable("MOOT_QUICK_PER_HOUR", kind="limit")
CACHE_SECONDS = Variable("MOOT_QUICK_CACHE_S", 0)
PLAIN_TEXT = frozenset({"/api/debate", "/api/debate/create"})
"""Their document posts JSON without saying so, and reads a code in every error."""


def _http() -> HttpRoutes:
    from moot.extensions.quick_api.routes import router

    return HttpRoutes(
        (router,),
        "/api",
        examples={"QuickDebate": _quick_debate},
        plain_text=PLAIN_TEXT,
        coded_errors=PLAIN_TEXT,
        streams=("/api/debate/{debateId}/stream",),
    )


def _quick_debate(_model: str) -> dict[str, Any]:
    return {"topic": "Should AI be regulated?", "maxRounds": 2}


def _dialects() -> Mapping[str, Dialect]:
    from moot.extensions.quick_api.frames import QuickFrames

    return {"quick": QuickFrames()}


EXTENSION = Extension(
    "quick_api",
    "`/api/debate`: three agents debate a topic at once, for clients of an older API.",
    http=_http,
    variables=(PER_HOUR, CACHE_SECONDS),
    dialects=_dialects,
)
