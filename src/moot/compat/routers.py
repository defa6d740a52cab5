"""The older APIs: three documents describe them, and people have clients for them.

Each has its frames, its bodies and its routes in this folder; behind all of them are the same arena, log and
feeds as behind `/api/v1`, and in front of them the same middleware.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moot.compat import arena_routes, quick, turn_stream_routes

PREFIX = "/api"
ROUTERS = (quick.router, arena_routes.router, turn_stream_routes.router)
PLAIN_TEXT = frozenset({"/api/debate", "/api/debate/create"})
"""Their own document posts JSON without saying so, and reads a code in every error."""


def _new_bout(model: str) -> dict[str, Any]:
    debaters = {"debaterA": {"model": model}, "debaterB": {"model": model}}
    return {"topic": "Best algorithm for sorting 1M items", **debaters, "maxTurns": 4}


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


BODY_EXAMPLES: dict[str, Callable[[str], Any]] = {
    "QuickDebate": lambda _: {"topic": "Should AI be regulated?", "maxRounds": 2},
    "NewBout": _new_bout,
    "UserAction": lambda _: {"type": "inject", "payload": "What about the memory it takes?"},
    "AskedTurn": _first_turn,
}
"""Bodies as they can be sent here, with the full name of a model that needs no key."""
