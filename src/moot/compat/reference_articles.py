"""The description of the compatibility APIs: their routes, with examples of what is sent to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moot.api.v1.bodies import Body
from moot.compat.arena_routes import BODIES as BOUTS
from moot.compat.quick import QuickDebate
from moot.compat.reference_turn_stream import TURN_BODIES, TURN_SAMPLES, TURNS
from moot.web.reference.article import Article

TAG = "Compatibility APIs"
COMPAT_ARTICLES: dict[str, Article] = {
    "quick": Article(
        tag=TAG,
        summary="Debate a topic at once",
        text="An Optimist and a Skeptic debate, a Moderator sums up, and the reply is the stream itself: "
        "lines of `data:` and nothing else. The debate goes on when the client leaves; `X-Debate-Id` is its "
        "id. The body may also come as `text/plain`, where no page of another origin sends it.",
        status=200,
        says="Events as they happen. The stream ends after `debate_complete`, or with an `error`.",
        events="quick",
        body="QuickDebate",
        needs_body=True,
        once=True,
        keys=True,
        refusals=(403, 406, 409, 415, 422),
    ),
    "quick_create": Article(
        tag=TAG,
        summary="Debate a topic, and follow it later",
        text="The same in two steps, for an `EventSource`, which can only GET.",
        reply="QuickCreated",
        status=201,
        says="The debate is open. `streamUrl` is its stream.",
        body="QuickDebate",
        needs_body=True,
        once=True,
        keys=True,
        refusals=(403, 409, 415, 422),
    ),
    "stream_quick": Article(
        tag=TAG,
        summary="Follow a debate of agents",
        text="Any debate, from its beginning or from behind the last `seq` that was seen.",
        says="Events as they happen.",
        events="quick",
        query="plain",
        refusals=(403, 404, 406, 409, 422),
    ),
    "open_bout": Article(
        tag=TAG,
        summary="Set two models against each other",
        text="They take turns, and the debate begins at once. A model is named `provider/model`, by a bare "
        "id, as OpenRouter names it, or as an object of `provider` and `modelId`.",
        reply="Bout",
        status=201,
        says="The debate.",
        body="NewBout",
        needs_body=True,
        once=True,
        keys=True,
        refusals=(403, 409, 415, 422),
    ),
    "look_at_bout": Article(
        tag=TAG,
        summary="Look at a debate of turns",
        text="Any debate: its turns, and its transcript, summary and figures. Seats are A, B, C and D by "
        "place.",
        reply="Bout",
        says="The debate as it stands, as far as the asker may know it.",
        refusals=(404, 422),
    ),
    "stream_bout": Article(
        tag=TAG,
        summary="Follow a debate of turns",
        text="Any debate, from its beginning or from behind the last `seq` that was seen. Lines of `data:` "
        "and nothing else. The stream ends after `debate.completed`.",
        says="Events as they happen.",
        events="bouts",
        query="plain",
        refusals=(403, 404, 406, 409, 422),
    ),
    "act": Article(
        tag=TAG,
        summary="Pause, resume, skip or comment",
        text="That it has taken effect is told on the stream by `action.processed`. What cannot be done now "
        "is answered with 409: a skip, too, while nobody is speaking. With `turnNumber` a skip names its "
        "turn, and does nothing to the next one when it is sent again.",
        reply="BoutActed",
        status=202,
        says="It is taken down.",
        body="UserAction",
        needs_body=True,
        once=True,
        keys=True,
        refusals=(403, 404, 409, 415, 422),
    ),
    **TURNS,
}
"""By the name of the route."""


def _bout(model: str) -> dict[str, Any]:
    debaters = {"debaterA": {"model": model}, "debaterB": {"model": model}}
    return {"topic": "Best algorithm for sorting 1M items", **debaters, "maxTurns": 4}


COMPAT_BODIES: tuple[type[Body], ...] = (QuickDebate, *BOUTS, *TURN_BODIES)
COMPAT_SAMPLES: dict[str, Callable[[str], Any]] = {
    "QuickDebate": lambda _: {"topic": "Should AI be regulated?", "maxRounds": 2},
    "NewBout": _bout,
    "UserAction": lambda _: {"type": "inject", "payload": "What about the memory it takes?"},
    **TURN_SAMPLES,
}
"""Bodies as they can be sent here, with the full name of a model that needs no key."""
