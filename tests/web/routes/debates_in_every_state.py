"""Debates in every state, held there: models speak or break if so named, and else are silent."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from msgspec import Struct

from moot.core.errors import Fault
from moot.core.terms import Request
from moot.providers.scripted import Cue, FaultCue, ScriptedProvider, StallCue, improvise
from tests.web.routes.served import BODY, Served


def puppet(request: Request) -> Iterable[Cue]:
    match request.model.name:
        case "plain":
            return improvise(request)
        case "broken":
            return [FaultCue(Fault("bad_key", "permanent"))]
        case _:
            return [StallCue()]


class Mood(Struct, frozen=True):
    """`models` are those of the two debaters and the judge; `then` is asked when the first state is there."""

    status: str
    models: tuple[str, str, str] = ("mute", "mute", "mute")
    config: dict[str, Any] = {}
    then: tuple[tuple[str, Any, str], ...] = ()
    """What is asked, with which body, and the state that it leads to."""
    said: int = 0
    """How many speeches have been given before anything is asked."""


ONE_ROUND = {"maxRounds": 1}
BY_HAND = {"autoProgress": False, "autoJudge": False, "maxRounds": 1}
TALKS = ("plain", "mute", "mute")
MOODS = {
    "speaking": Mood("debating"),
    "said": Mood("debating", TALKS, said=1),
    "waiting": Mood("awaiting_arguments", config=BY_HAND),
    "held": Mood(
        "awaiting_arguments",
        ("plain", "plain", "mute"),
        BY_HAND,
        (("rounds", {"action": "next_round"}, "awaiting_arguments"),),
    ),
    "paused": Mood("debating", then=(("pause", None, "paused"),)),
    "judging": Mood("debating", TALKS, then=(("judge", None, "judge_evaluating"),), said=1),
    "stopped": Mood("debating", TALKS, then=(("stop", None, "judge_evaluating"),), said=1),
    "completed": Mood("completed", ("plain", "plain", "plain"), ONE_ROUND),
    "error": Mood("error", ("broken", "broken", "broken")),
}


def mooted(mood: str, topic: str = BODY["topic"]) -> dict[str, Any]:
    """The body that opens such a debate."""
    shape = deepcopy(BODY)
    seats = (*shape["participants"], shape["judge"])
    for seat, model in zip(seats, MOODS[mood].models, strict=True):
        seat["model"]["modelId"] = model
    shape["topic"] = topic
    shape["config"] |= MOODS[mood].config
    return shape


def moody() -> ScriptedProvider:
    return ScriptedProvider(puppet)


async def opened(house: Served, mood: str, topic: str = BODY["topic"]) -> str:
    reply = await house.http.post("/api/v1/debates", json=mooted(mood, topic))
    assert reply.status_code == 201, reply.text
    debate_id, wanted = reply.json()["id"], MOODS[mood]
    await house.until(debate_id, lambda told: told["status"] == wanted.status and _said(told) >= wanted.said)
    for what, body, status in wanted.then:
        reply = await house.post(debate_id, what, body)
        assert reply.is_success, reply.text
        done = 2 if what == "rounds" else 0
        await house.until(debate_id, lambda told, s=status, d=done: told["status"] == s and _said(told) >= d)
    return debate_id


def _said(told: dict[str, Any]) -> int:
    return sum(bool(speech["tokensUsed"]) for part in told["rounds"] for speech in part["responses"])
