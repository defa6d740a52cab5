"""The stream of `/api/debate`.

Six flat events: `agent_start`, `token`, `agent_end`, `round_complete`, `debate_complete`, `error`. Rounds are
counted from 0, but `round_complete` gives the number of rounds so far, when the debaters have spoken and
before the moderator does. A second `agent_start` takes back what the agent said; `fullMessage` is right
whatever was streamed. A speech that failed is an `error` and has no `agent_end`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from msgspec import structs

from moot.api.frames import Frame, SeenEvent
from moot.api.problems import ErrorCode
from moot.api.v1.rounds import content
from moot.core.errors import FaultKind
from moot.core.events import DebateEnded, DebateFailed, RoundCompleted, TurnStarted
from moot.core.json_types import Timestamp
from moot.core.state import Debate, Turn
from moot.core.statuses import FAILURES
from moot.extensions.quick_api.shapes import (
    AgentEnd,
    AgentStart,
    DebateComplete,
    QuickError,
    QuickEvent,
    QuickToken,
    RoundComplete,
)
from moot.judging.parties import party
from moot.views import outcome
from moot.web.streaming.plain_streams import (
    PlainFrames,
    SpeechBegun,
    SpeechOver,
    SpeechText,
    debate_outcome,
    speech_events,
)

PERMANENT_FAULTS: tuple[FaultKind, ...] = (
    "bad_key", "forbidden", "billing", "unknown_model", "bad_request", "too_long", "tls", "redirected",
    "filtered", "budget", "unavailable",
)  # fmt: skip
"""Faults that a retry would meet again."""


class QuickFrames(PlainFrames, frozen=True):
    @property
    def name(self) -> str:
        return "quick"

    def shapes(self, seen: SeenEvent) -> Sequence[QuickEvent]:
        return [*_rounds(seen), *_speeches(seen), *_endings(seen)]


def deleted() -> Frame:
    return Frame("", _error("The debate was deleted.", "INTERNAL_ERROR", retryable=False))


def _rounds(seen: SeenEvent) -> Iterator[QuickEvent]:
    """A round is complete when its debaters have spoken, even if a moderator has still to sum up."""
    event = seen.event
    match event:
        case TurnStarted(tone="summary"):
            before = seen.before
            already_sent = before is not None and (
                any(turn.slot == event.slot for turn in before.turns) or before.rounds_done >= event.round
            )
        case RoundCompleted():
            already_sent = any(
                turn.tone == "summary" and turn.round == event.round for turn in seen.after.turns
            )
        case _:
            return
    if not already_sent:
        yield RoundComplete(round=event.round, total_rounds=seen.after.rounds_planned, seq=seen.seq)


def _speeches(seen: SeenEvent) -> Iterator[QuickEvent]:
    for speech_event in speech_events(seen):
        turn = speech_event.turn
        agent = seen.after.seat(turn.seat).name
        match speech_event:
            case SpeechBegun():
                timestamp = Timestamp.of(seen.at)
                yield AgentStart(agent=agent, round=turn.round - 1, timestamp=timestamp, seq=seen.seq)
            case SpeechText():
                yield QuickToken(content=speech_event.text, agent=agent, seq=seen.seq)
            case SpeechOver():
                yield _ended(turn, agent, seen.seq)
            case _:
                assert_never(speech_event)


def _ended(turn: Turn, agent: str, seq: int) -> AgentEnd | QuickError:
    number = turn.round - 1
    if turn.state == "failed":
        return structs.replace(_fault(turn, turn.message, seq), agent=agent, round=number)
    return AgentEnd(
        agent=agent, round=number, full_message=content(turn), token_count=turn.usage.output, seq=seq
    )


def _endings(seen: SeenEvent) -> Iterator[QuickEvent]:
    match seen.event:
        case DebateEnded(reason=reason):
            members = structs.asdict(debate_outcome(seen.after))
            yield DebateComplete(**members, reason=reason, winner=_winner(seen.after), seq=seen.seq)
        case DebateFailed():
            yield _failure(seen.after, seen.seq)
        case _:
            return


def _winner(debate: Debate) -> str | None:
    """A name, or `draw`; None for a panel."""
    verdict = debate.verdict
    if verdict is None or debate.status == "aborted":
        return None
    return party(debate, verdict.winner).name if verdict.winner else "draw"


def _failure(debate: Debate, seq: int) -> QuickError:
    """An internal error is reported without details."""
    message = outcome.ending(debate)
    failed = [turn for turn in debate.turns if turn.state == "failed" and not turn.struck]
    match debate.failure:
        case "permanent_fault" | "all_failed" if failed:
            return _fault(failed[-1], message, seq)
        case "internal":
            return _error(FAILURES["internal"].text, "INTERNAL_ERROR", retryable=False, seq=seq)
        case _:
            judging = debate.judging
            again = debate.failure == "judge_failed" and (judging is None or judging.may_be_repeated)
            return _error(message, "LLM_ERROR", retryable=again, seq=seq)


def _fault(turn: Turn, message: str, seq: int) -> QuickError:
    code: ErrorCode = "RATE_LIMIT" if turn.by == "rate_limited" else "LLM_ERROR"
    return _error(message, code, retryable=turn.by not in PERMANENT_FAULTS, seq=seq)


def _error(message: str, code: ErrorCode, *, retryable: bool, seq: int | None = None) -> QuickError:
    return QuickError(message=message, code=code, retryable=retryable, seq=seq)
