"""`/api/debate/stream`: a client asks for each turn of a debate, for clients of an older API.

A session is a debate that advances one turn at a time (`rules/turn_sessions.py`), so that it can be read,
shown, steered and exported without this extension.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from moot.extension import Extension, HttpRoutes, PageModule, TerminalCommand, Variable

if TYPE_CHECKING:
    from moot.api.frames import Dialect
    from moot.api.rights import Right


TURN_GRACE = Variable("MOOT_TURN_GRACE_S", 10, "positive")
"""Longer than clients wait before they reconnect: 1, 2 and 4 seconds."""


def _http() -> HttpRoutes:
    from moot.extensions.turn_sessions.routes import router

    return HttpRoutes(
        (router,),
        "/api",
        examples={"AskedTurn": _first_turn},
        streams=("/api/debate/stream/{sessionId}",),
    )


def _rights() -> tuple[Right, ...]:
    from moot.extensions.turn_sessions.rights import SESSIONS

    return (SESSIONS,)


def _dialects() -> Mapping[str, Dialect]:
    from moot.extensions.turn_sessions.frames import TurnFrames

    return {"turn": TurnFrames(1)}


def _first_turn(model: str) -> dict[str, Any]:
    return {
        "modelId": model,
        "topic": "AI will replace most human jobs by 2040",
        "role": "AFFIRMATIVE",
        "intensity": 3,
        "opponentMessage": None,
        "previousResponseId": None,
        "turnNumber": 1,
    }


EXTENSION = Extension(
    "turn_sessions",
    "`/api/debate/stream`: a client asks for each turn, for clients of an older API.",
    commands=(
        TerminalCommand(
            "sessions",
            "Import sessions of an older server.",
            f"{__name__}.commands:import_sessions",
            parent="import",
            examples=("moot import sessions postgresql://me@db.example/app",),
        ),
        TerminalCommand(
            "sessions",
            "Export sessions in the table of an older server.",
            f"{__name__}.commands:export_sessions",
            parent="export",
        ),
    ),
    http=_http,
    page=(
        PageModule("sessions.js", address="/sessions", title="Turn by turn"),
        PageModule("next_turn.js", "live"),
        PageModule("start_link.js", "form"),
        PageModule("list_link.js", "debates"),
    ),
    package=__name__,
    variables=(TURN_GRACE,),
    rights=_rights,
    dialects=_dialects,
)
