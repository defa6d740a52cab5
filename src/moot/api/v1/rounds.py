"""The rounds of a debate as v1 counts them: their speeches, tokens and costs, whole or as a preview."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from moot.api.shapes.rounds import DebateRoundSummary, SpeechPreview
from moot.api.v1.speech_frames import speech_marks
from moot.core.json_types import Timestamp, as_number, to_members
from moot.core.state import ZERO, Debate, Turn
from moot.core.statuses import Status
from moot.core.terms import Money
from moot.core.visibility import OBSERVER, Viewer, is_withheld

PREVIEW_LENGTH = 200
"""Characters of a speech in a round's summary."""


def current_round(status: Status, number: int) -> int:
    """The current or the next round; 0 before the speakers are called."""
    return number if status in ("created", "initializing") else max(1, number)


def round_number(debate: Debate) -> int:
    return current_round(debate.before_pause or debate.status, debate.round)


def rounds_held(debate: Debate) -> int:
    return len({turn.round for turn in debate.turns if turn.has_words})


def summaries(debate: Debate, viewer: Viewer = OBSERVER) -> tuple[DebateRoundSummary, ...]:
    """The rounds in which something was said, or failed."""
    numbers = sorted({turn.round for turn in debate.turns if turn.used_slot})
    return tuple(_summary(debate, number, viewer) for number in numbers)


def round_totals(debate: Debate, number: int) -> tuple[int, Money]:
    """The tokens and the cost of the round, including speeches that were repeated."""
    turns = [turn for turn in debate.turns if turn.round == number]
    cost = sum((turn.cost or ZERO for turn in turns), Money(0))
    return sum(turn.usage.total for turn in turns), as_number(cost)


def responses(debate: Debate, number: int) -> list[dict[str, Any]]:
    """The speeches that count, in the order of the schedule."""
    return [
        {
            "participantId": turn.seat,
            "participantName": debate.seat(turn.seat).name,
            "content": content(turn),
            "tokensUsed": turn.usage.total,
            "latencyMs": turn.latency_ms,
            "turn": turn.number,
            "speech": turn.slot + 1,
            "phase": turn.phase,
            **to_members(speech_marks(turn)),
        }
        for turn in _counted_turns(debate, number)
    ]


def content(turn: Turn) -> str:
    """A speech that failed has no text: no speaker heard it."""
    return "" if turn.state == "failed" else turn.text


def _summary(debate: Debate, number: int, viewer: Viewer) -> DebateRoundSummary:
    turns = _counted_turns(debate, number)
    tokens, cost = round_totals(debate, number)
    return DebateRoundSummary(
        round_number=number,
        responses=tuple(_preview(debate, turn, viewer) for turn in turns),
        total_tokens=tokens,
        round_cost=cost,
        timestamp=Timestamp.of(max(turn.ended_at or turn.started_at for turn in turns)),
    )


def _preview(debate: Debate, turn: Turn, viewer: Viewer) -> SpeechPreview:
    return SpeechPreview(
        participant_id=turn.seat,
        participant_name=debate.seat(turn.seat).name,
        content_preview="" if is_withheld(debate, turn.number, viewer) else content(turn)[:PREVIEW_LENGTH],
        tokens_used=turn.usage.total,
        turn=turn.number,
        speech=turn.slot + 1,
        phase=turn.phase,
        **structs.asdict(speech_marks(turn)),
    )


def _counted_turns(debate: Debate, number: int) -> list[Turn]:
    turns = [turn for turn in debate.turns if turn.round == number and turn.used_slot]
    return sorted(turns, key=lambda turn: turn.slot)
