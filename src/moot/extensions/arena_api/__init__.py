"""`/api/debates`: two debaters take turns, for clients of an older API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from moot.extension import Extension, HttpRoutes

if TYPE_CHECKING:
    from moot.api.frames import Dialect
    from moot.api.v1.fields import Capabilities


def _http() -> HttpRoutes:
    from moot.extensions.arena_api.routes import router

    return HttpRoutes(
        (router,),
        "/api",
        examples={"NewBout": _new_bout, "UserAction": _user_action},
        complete_schemas=_complete_schemas,
        streams=("/api/debates/{debateId}/stream",),
    )


def _new_bout(model: str) -> dict[str, Any]:
    debaters = {"debaterA": {"model": model}, "debaterB": {"model": model}}
    return {"topic": "Best algorithm for sorting 1M items", **debaters, "maxTurns": 4}


def _user_action(_model: str) -> dict[str, Any]:
    return {"type": "inject", "payload": "What about the memory it takes?"}


def _complete_schemas(schemas: Mapping[str, dict[str, Any]], capabilities: Capabilities) -> None:
    schemas["Debater"]["properties"]["provider"]["enum"] = [*capabilities.providers]


def _dialects() -> Mapping[str, Dialect]:
    from moot.core.visibility import OBSERVER
    from moot.extensions.arena_api.frames import ArenaFrames

    return {"bouts": ArenaFrames(OBSERVER)}


EXTENSION = Extension(
    "arena_api",
    "`/api/debates`: two debaters take turns, for clients of an older API.",
    http=_http,
    dialects=_dialects,
)
