"""What is said about the door at which every turn is asked for: `/api/debate/stream`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moot.api.v1.bodies import Body
from moot.compat.turn_stream import AskedTurn
from moot.web.reference.article import Article

TAG = "Compatibility APIs"
_AGAIN = (
    "To ask again for the same turn joins it from its beginning, whether it is under way or over; one that "
    "failed or was cut is given once more. What is missing, and a model that is not known, is told as "
    '`{"error": …}`.'
)
TURNS: dict[str, Article] = {
    "ask_turn": Article(
        tag=TAG,
        summary="Ask for one turn",
        text="Two models answer each other, one turn at a time, ten in all. The first turn opens a session; "
        "for the others it is found by `sessionId`, by `previousResponseId`, or by what the opponent said "
        f"last. {_AGAIN}",
        reply="SessionBegun",
        says="The turn is under way. `streamUrl` is its stream.",
        body="AskedTurn",
        needs_body=True,
        once=True,
        keys=True,
        simply="SimpleError",
        refusals=(403, 404, 409, 415, 422),
    ),
    "hear_turn": Article(
        tag=TAG,
        summary="Ask for one turn, and hear it",
        text=f"The same in one step: the reply is the stream. {_AGAIN} A model that is not known is told as "
        "an `error` event.",
        says="Events as they happen. The stream ends after `complete` or `error`.",
        events="turns",
        body="AskedTurn",
        needs_body=True,
        once=True,
        keys=True,
        simply="SimpleError",
        refusals=(403, 404, 406, 409, 415, 422),
    ),
    "stream_session": Article(
        tag=TAG,
        summary="Hear the turn that was asked for last",
        text="From its beginning. Where nobody listens to a turn for a while it is cut.",
        says="Events as they happen. The stream ends after `complete` or `error`.",
        events="turns",
        query="ticket",
        refusals=(403, 404, 406, 409, 422),
    ),
    "cancel_turn": Article(
        tag=TAG,
        summary="Cut the turn that is under way",
        text="It can be asked for again, on the same chain. To close its stream does the same, some seconds "
        "later.",
        reply="TurnCancelled",
        says="Whether there was one.",
        refusals=(403, 404, 422),
    ),
    "look_at_session": Article(
        tag=TAG,
        summary="Restore a session",
        text="What was said so far, the ids of the responses and what it cost. A session that was imported "
        "is also found by the id that it had before.",
        reply="DebateSession",
        says="The session as it stands.",
        refusals=(404, 422),
    ),
    "list_sessions": Article(
        tag=TAG,
        summary="List sessions",
        text="Newest first.",
        reply="SessionsResponse",
        says="A page of them, without what was said.",
        query="page",
        refusals=(403, 422),
    ),
}
"""By the name of the route."""


def _first(model: str) -> dict[str, Any]:
    return {
        "modelId": model,
        "topic": "AI will replace most human jobs by 2040",
        "role": "AFFIRMATIVE",
        "intensity": 3,
        "opponentMessage": None,
        "previousResponseId": None,
        "turnNumber": 1,
    }


TURN_BODIES: tuple[type[Body], ...] = (AskedTurn,)
TURN_SAMPLES: dict[str, Callable[[str], Any]] = {"AskedTurn": _first}
