"""The replies and stream events of `/api/debates`.

`debate.started`, `turn.started`, `token`, `turn.completed`, `action.processed`, `debate.completed`, as data
without event names and ids. Any debate can be read this way: its seats are A, B, C ... in order, and a turn
has the number of its slot in the schedule, however often it is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Any, Literal, assert_never

from moot.api.frames import Frame, SeenEvent
from moot.compat.plain_stream import (
    PlainFrames,
    SpeechBegun,
    SpeechOver,
    SpeechText,
    content,
    speech_events,
    turns_by_slot,
)
from moot.compat.quick import debate_fields
from moot.core.events import (
    DebateEnded,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    DebateStarted,
    TurnInterrupted,
    TurnSkipped,
    TurnStarted,
)
from moot.core.state import Debate, Remark, Turn
from moot.core.terms import Seat, Status
from moot.core.visibility import Viewer, may_hear
from moot.core.visibility import visible_state as known_to
from moot.judging.parties import party
from moot.views import outcome
from moot.views.costs import costs
from moot.views.transcript import thoughts
from moot.views.transcript_json import moment

FORMAT = "free"
TYPE = "turn-based"
Action = Literal["pause", "resume", "skip", "inject"]
LETTERS = ascii_uppercase
AUTOMATIC_SKIPS = ("no questions", "clock", "stopped", "budget")
"""Reasons for which a speech is left out without a command to skip it."""

State = Literal["created", "running", "paused", "completed", "aborted"]
STATES: dict[Status, State] = {
    "created": "created",
    "initializing": "running",
    "awaiting_arguments": "running",
    "debating": "running",
    "paused": "paused",
    "judging": "running",
    "completed": "completed",
    "aborted": "aborted",
    "error": "aborted",
}
"""This API has no state for a debate that failed; `error` says why it did."""


class ArenaFrames(PlainFrames, frozen=True):
    """`viewer` is needed because the first event holds the whole debate."""

    viewer: Viewer

    @property
    def name(self) -> str:
        return "bouts"

    def shapes(self, seen: SeenEvent) -> Sequence[dict[str, Any]]:
        return [*self._actions(seen), *_speeches(seen), *self._turnings(seen)]

    def _actions(self, seen: SeenEvent) -> Iterator[dict[str, Any]]:
        match seen.event:
            case TurnStarted() if seen.before:
                # A comment is processed when a speaker begins who hears it.
                waiting = seen.before.unheard_remarks
                yield from (_processed("inject", remark) for remark in waiting if self._hears(remark))
            case DebatePaused():
                yield _processed("pause")
            case DebateResumed():
                yield _processed("resume")
            case TurnInterrupted(by="skip"):
                yield _processed("skip")
            case TurnSkipped(slot=slot, by=by):
                if by not in AUTOMATIC_SKIPS and seen.after.schedule[slot].tone != "continuation":
                    yield _processed("skip")
            case _:
                return

    def _turnings(self, seen: SeenEvent) -> Iterator[dict[str, Any]]:
        match seen.event:
            case DebateStarted():
                yield {"type": "debate.started", "debate": debate_reply(seen.after, self.viewer)}
            case DebateEnded() | DebateFailed():
                yield {"type": "debate.completed", **_result(seen.after)}
            case _:
                return

    def _hears(self, remark: Remark) -> bool:
        return remark.question or may_hear(remark.to, self.viewer)


def debate_reply(debate: Debate, viewer: Viewer) -> dict[str, Any]:
    """A debate at its address, as this viewer may know it: for those who count turns, and for those who read
    the transcript of an Optimist, a Skeptic and a Moderator."""
    known = known_to(debate, viewer)
    shape: dict[str, Any] = {
        "id": known.id,
        "topic": known.motion,
        "format": TYPE,
        "maxTurns": len(known.schedule),
        "maxRounds": known.rounds_planned,
        "winningCondition": known.manner.winning,
        **{f"debater{LETTERS[index]}": _debater(seat) for index, seat in enumerate(known.seats)},
        "turns": [_turn(known, turn) for turn in turns_by_slot(known)],
        "status": STATES[known.status],
        "winner": winner(known),
        "currentSpeaker": seat_letter(known, _current(known)),
        "createdAt": moment(known.created_at),
        "updatedAt": moment(known.updated_at),
        **debate_fields(known),
        "seq": known.seq,
    }
    if known.failure:
        shape["error"] = outcome.ending(known)
    return shape


def winner(debate: Debate) -> str | None:
    """A letter, or `draw`: also where it was too close to call. None where nothing was decided."""
    verdict = debate.verdict
    if verdict is None or debate.status == "aborted":
        return None
    return seat_letter(debate, party(debate, verdict.winner).id) if verdict.winner else "draw"


def seat_letter(debate: Debate, seat_id: str) -> str:
    return next(LETTERS[index] for index, seat in enumerate(debate.seats) if seat.id == seat_id)


def action_reply(debate: Debate, action: Action, payload: str = "") -> dict[str, Any]:
    """The command is recorded; the stream reports when it has taken effect."""
    return {
        "debateId": debate.id,
        "accepted": True,
        "action": {"type": action, **({"payload": payload} if payload else {})},
        "status": STATES[debate.status],
    }


def deleted() -> Frame:
    return Frame("", {"type": "debate.completed", "winner": None, "reason": "The debate was deleted."})


def _speeches(seen: SeenEvent) -> Iterator[dict[str, Any]]:
    for speech_event in speech_events(seen):
        turn = speech_event.turn
        speaker, number = seat_letter(seen.after, turn.seat), turn.slot + 1
        match speech_event:
            case SpeechBegun():
                yield {"type": "turn.started", "speaker": speaker, "turnNumber": number}
            case SpeechText():
                yield {"type": "token", "speaker": speaker, "content": speech_event.text}
            case SpeechOver():
                position = {"speaker": speaker, "turnNumber": number}
                yield {"type": "turn.completed", **position, "fullContent": content(turn), **_failed(turn)}
            case _:
                assert_never(speech_event)


def _failed(turn: Turn) -> dict[str, str]:
    return {"status": "error", "error": turn.message} if turn.state == "failed" else {}


def _processed(action: Action, remark: Remark | None = None) -> dict[str, Any]:
    payload = {"payload": remark.text} if remark else {}
    return {"type": "action.processed", "action": {"type": action, **payload}}


def _result(debate: Debate) -> dict[str, Any]:
    verdict, figures = debate.verdict, costs(debate)
    decided = verdict is not None and not debate.failure and debate.status != "aborted"
    ending = outcome.ending(debate)
    reason = (verdict.reasoning or outcome.headline(debate, verdict)) if verdict and decided else ending
    return {
        "winner": winner(debate) if decided else None,
        "reason": reason,
        "totalTokens": figures.usage.total,
        "totalCost": None if figures.total is None else float(figures.total),
        **({"error": ending} if debate.failure else {}),
    }


def _debater(seat: Seat) -> dict[str, Any]:
    secrets = {"systemPrompt": seat.system_prompt, "objective": seat.objective}
    shape = {"model": seat.model.label, "name": seat.name, "position": seat.side}
    return {**shape, **{name: text for name, text in secrets.items() if text}}


def _turn(debate: Debate, turn: Turn) -> dict[str, Any]:
    reasoning = thoughts(turn)
    return {
        "number": turn.slot + 1,
        "speaker": seat_letter(debate, turn.seat),
        "content": content(turn),
        **({"reasoning": reasoning} if reasoning else {}),
        "timestamp": moment(turn.started_at),
        **_failed(turn),
    }


def _current(debate: Debate) -> str:
    """The seat that speaks, else the next one, else the last one."""
    speaking = [turn.seat for turn in debate.live] or [slot.seat for slot in debate.remaining_slots()]
    return speaking[0] if speaking else debate.schedule[-1].seat
