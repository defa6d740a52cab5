"""The v1 contract as it is written: which members an event or a reply has, and of what type.

`shape` checks that every promised member is there and of its type; further members are allowed. A question
mark after a name: it may be left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from moot.api.v1.states import STATES

Shape = dict[str, Any]


class Map:
    """Any names, all values of one type."""

    def __init__(self, values: Any) -> None:
        self.values = values


class Either:
    def __init__(self, *values: Any) -> None:
        self.values = values


class Moment:
    """As 2024-12-03T05:30:00.000Z."""


NUMBER = float
STATE = Either(*set(STATES.values()))
TOKENS: Shape = {"inputTokens": NUMBER, "outputTokens": NUMBER}
VERDICT: Shape = {
    "winner?": str,
    "scores": Map({"score": NUMBER, "strengths": [str], "weaknesses": [str]}),
    "reasoning": str,
    "criteria": Map(str),
    "tokensUsed": NUMBER,
}
EVENTS: dict[str, Shape] = {
    "status": {"debateId": str, "state": STATE, "currentRound": NUMBER, "timestamp": Moment},
    "participant": {
        "participantId": str,
        "participantName": str,
        "roundNumber": NUMBER,
        "chunk": str,
        "done": bool,
        "tokensUsed?": NUMBER,
        "latencyMs?": NUMBER,
        "timestamp": Moment,
    },
    "round_complete": {
        "roundNumber": NUMBER,
        "responses": [
            {
                "participantId": str,
                "participantName": str,
                "content": str,
                "tokensUsed": NUMBER,
                "latencyMs": NUMBER,
            }
        ],
        "totalTokens": NUMBER,
        "roundCost": NUMBER,
        "timestamp": Moment,
    },
    "judge": {"chunk": str, "done": bool, "timestamp": Moment},
    "verdict": {**VERDICT, "timestamp": Moment},
    "cost_update": {
        "totalCost": NUMBER,
        "costByModel": Map(NUMBER),
        "tokensUsed": {"total": NUMBER, "byModel": Map(TOKENS)},
        "timestamp": Moment,
    },
    "cost_warning": {
        "threshold": NUMBER,
        "currentCost": NUMBER,
        "percentOfLimit?": NUMBER,
        "message": str,
        "timestamp": Moment,
    },
    "error": {
        "type": Either("model_error", "timeout", "cost_limit", "validation"),
        "message": str,
        "participantId?": str,
        "retryable": bool,
        "timestamp": Moment,
    },
    "complete": {
        "debateId": str,
        "totalRounds": NUMBER,
        "finalCost": NUMBER,
        "duration": NUMBER,
        "verdict": Either(None, VERDICT),
        "timestamp": Moment,
    },
}
PARTICIPANT: Shape = {"id": str, "name": str, "model": str, "position": str, "color": str}
JUDGE: Shape = {"id": str, "name": str, "model": str}
CONFIG: Shape = {
    "maxRounds": NUMBER,
    "timeoutPerRound": NUMBER,
    "costLimit?": NUMBER,
    "warnAtCost?": NUMBER,
    "autoJudge": bool,
}
COSTS: Shape = {
    "totalCost": NUMBER,
    "costByModel": Map(NUMBER),
    "totalTokens": NUMBER,
    "tokensByModel": Map(TOKENS),
}
CREATED: Shape = {
    "id": str,
    "status": Either("initializing"),
    "topic": str,
    "participants": [PARTICIPANT],
    "judge": JUDGE,
    "config": CONFIG,
    "createdAt": Moment,
    "streamUrl": str,
}
STATUS: Shape = {
    "id": str,
    "status": STATE,
    "topic": str,
    "currentRound": NUMBER,
    "maxRounds": NUMBER,
    "participants": [PARTICIPANT],
    "judge?": JUDGE,
    "rounds": [
        {
            "roundNumber": NUMBER,
            "responses": [
                {"participantId": str, "participantName": str, "contentPreview": str, "tokensUsed": NUMBER}
            ],
            "totalTokens": NUMBER,
            "roundCost": NUMBER,
            "timestamp": Moment,
        }
    ],
    "costs": COSTS,
    "verdict?": VERDICT,
    "createdAt": Moment,
    "updatedAt": Moment,
    "completedAt?": Moment,
}
LISTING: Shape = {
    "debates": [
        {
            "id": str,
            "topic": str,
            "status": STATE,
            "participantCount": NUMBER,
            "currentRound": NUMBER,
            "maxRounds": NUMBER,
            "totalCost": NUMBER,
            "createdAt": Moment,
            "completedAt?": Moment,
        }
    ],
    "pagination": {"total": NUMBER, "limit": NUMBER, "offset": NUMBER, "hasMore": bool},
}
TRANSCRIPT: Shape = {
    "debate": {
        "id": str,
        "topic": str,
        "format": str,
        "createdAt": Moment,
        "completedAt": Either(None, Moment),
        "duration": NUMBER,
    },
    "participants": [PARTICIPANT],
    "judge": Either(None, JUDGE),
    "rounds": [
        {"roundNumber": NUMBER, "responses": [{"participant": str, "content": str, "tokensUsed": NUMBER}]}
    ],
    "verdict": Either(None, VERDICT),
    "costs": COSTS,
}


def keeps(value: Any, shape: Any) -> bool:
    """Whether a value that was read from JSON is what the contract says."""
    match shape:
        case dict():
            return isinstance(value, dict) and all(_member(value, name, kind) for name, kind in shape.items())
        case [item]:
            return isinstance(value, list) and all(keeps(one, item) for one in value)
        case Map():
            return isinstance(value, dict) and all(keeps(one, shape.values) for one in value.values())
        case Either():
            return any(keeps(value, one) for one in shape.values)
        case type() if shape is Moment:
            return isinstance(value, str) and _moment(value)
        case type() if shape is NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case type():
            return isinstance(value, shape)
        case _:
            return value == shape


def _member(value: dict[str, Any], name: str, kind: Any) -> bool:
    if name.endswith("?") and name[:-1] not in value:
        return True
    name = name.removesuffix("?")
    return name in value and keeps(value[name], kind)


def _moment(text: str) -> bool:
    return len(text) == 24 and text.endswith("Z") and datetime.fromisoformat(text).microsecond % 1000 == 0
