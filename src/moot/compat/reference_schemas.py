"""The types and examples by which the OpenAPI document describes the older APIs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from msgspec import Struct

from moot.api.v1.bodies import Body
from moot.compat import reply_shapes as shapes
from moot.compat.arena_routes import BODIES as ARENA_BODIES
from moot.compat.quick import QuickDebate
from moot.compat.turn_stream import AskedTurn

COMPAT_EVENTS: dict[str, tuple[type[Struct], ...]] = {
    "quick": get_args(shapes.QuickEvent),
    "bouts": get_args(shapes.BoutEvent),
    "turns": get_args(shapes.TurnStreamEvent),
}
"""By the name that the routes have for them."""
COMPAT_REPLIES: tuple[type[Struct], ...] = (
    shapes.QuickCreated, shapes.Bout, shapes.BoutActed, shapes.SimpleError, shapes.SessionBegun,
    shapes.TurnCancelled, shapes.DebateSession, shapes.SessionsResponse,
    *(event for events in COMPAT_EVENTS.values() for event in events),
)  # fmt: skip
COMPAT_BODIES: tuple[type[Body], ...] = (QuickDebate, *ARENA_BODIES, AskedTurn)


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


COMPAT_SAMPLES: dict[str, Callable[[str], Any]] = {
    "QuickDebate": lambda _: {"topic": "Should AI be regulated?", "maxRounds": 2},
    "NewBout": _new_bout,
    "UserAction": lambda _: {"type": "inject", "payload": "What about the memory it takes?"},
    "AskedTurn": _first_turn,
}
"""Bodies as they can be sent here, with the full name of a model that needs no key."""
