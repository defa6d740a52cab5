"""The rounds of a debate as v1 counts them: their speeches, tokens and costs, whole or as a preview."""

from __future__ import annotations

from typing import Any

from moot.api.v1.speech_frames import turn_flags
from moot.core.state import ZERO, Debate, Turn
from moot.core.terms import Money, Status
from moot.core.visibility import OBSERVER, Viewer, is_withheld
from moot.views.transcript_json import moment

PREVIEW_LENGTH = 200
"""Characters of a speech in a round's summary."""


def current_round(status: Status, number: int) -> int:
    """The round that is held or about to be held; none before the speakers are asked for."""
    return number if status in ("created", "initializing") else max(1, number)


def round_number(debate: Debate) -> int:
    return current_round(debate.before_pause or debate.status, debate.round)


def rounds_held(debate: Debate) -> int:
    return len({turn.round for turn in debate.turns if turn.has_words})


def summaries(debate: Debate, viewer: Viewer = OBSERVER) -> list[dict[str, Any]]:
    """The rounds in which something was said, or failed."""
    numbers = sorted({turn.round for turn in debate.turns if turn.used_slot})
    return [_summary(debate, number, viewer) for number in numbers]


def totals(debate: Debate, number: int) -> dict[str, Any]:
    """What the round has used and cost, with the speeches that were given again."""
    turns = [turn for turn in debate.turns if turn.round == number]
    return {
        "totalTokens": sum(turn.usage.total for turn in turns),
        "roundCost": float(sum((turn.cost or ZERO for turn in turns), Money(0))),
    }


def responses(debate: Debate, number: int) -> list[dict[str, Any]]:
    """The speeches that count, in the order of the schedule."""
    return [
        {
            **_speaker(debate, turn),
            "content": content(turn),
            "tokensUsed": turn.usage.total,
            "latencyMs": turn.latency_ms,
            **_position(turn),
        }
        for turn in _counted_turns(debate, number)
    ]


def content(turn: Turn) -> str:
    """What a speaker said before it failed was heard by nobody."""
    return "" if turn.state == "failed" else turn.text


def _summary(debate: Debate, number: int, viewer: Viewer) -> dict[str, Any]:
    turns = _counted_turns(debate, number)
    return {
        "roundNumber": number,
        "responses": [
            {
                **_speaker(debate, turn),
                "contentPreview": ""
                if is_withheld(debate, turn.number, viewer)
                else content(turn)[:PREVIEW_LENGTH],
                "tokensUsed": turn.usage.total,
                **_position(turn),
            }
            for turn in turns
        ],
        **totals(debate, number),
        "timestamp": moment(max(turn.ended_at or turn.started_at for turn in turns)),
    }


def _counted_turns(debate: Debate, number: int) -> list[Turn]:
    turns = [turn for turn in debate.turns if turn.round == number and turn.used_slot]
    return sorted(turns, key=lambda turn: turn.slot)


def _speaker(debate: Debate, turn: Turn) -> dict[str, Any]:
    return {"participantId": turn.seat, "participantName": debate.seat(turn.seat).name}


def _position(turn: Turn) -> dict[str, Any]:
    return {"turn": turn.number, "speech": turn.slot + 1, "phase": turn.phase, **turn_flags(turn)}
