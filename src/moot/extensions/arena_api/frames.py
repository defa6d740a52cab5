"""The replies and stream events of `/api/debates`.

`debate.started`, `turn.started`, `token`, `turn.completed`, `action.processed`, `debate.completed`, and
`decision.awaited` where a person decides, as data without event names. Any debate can be read this way: its
seats are A, B, C ... in order, and a turn has the number of its slot in the schedule, however often it is
repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Any, assert_never

from msgspec import structs

from moot.api.frames import Frame, SeenEvent
from moot.api.v1.rounds import content
from moot.core.events import (
    DebateEnded,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    DebateStarted,
    TurnInterrupted,
    TurnSkipped,
    TurnStarted,
    VerdictReached,
)
from moot.core.json_types import Timestamp, to_members
from moot.core.state import Debate, Remark, Turn
from moot.core.statuses import Status
from moot.core.terms import Seat
from moot.core.visibility import Viewer, may_hear
from moot.core.visibility import visible_state as known_to
from moot.extensions.arena_api.shapes import (
    Action,
    ActionProcessed,
    Bout,
    BoutActed,
    BoutAction,
    BoutCompleted,
    BoutDebater,
    BoutEvent,
    BoutStarted,
    BoutState,
    BoutToken,
    BoutTurn,
    DecisionAwaited,
    TurnBegun,
    TurnDone,
)
from moot.judging.parties import parties, party
from moot.rules.plan import Idle, plan
from moot.views import outcome
from moot.views.costs import costs
from moot.views.transcript import thoughts
from moot.web.streaming.plain_streams import (
    PlainFrames,
    SpeechBegun,
    SpeechOver,
    SpeechText,
    debate_outcome,
    speech_events,
    turns_by_slot,
)

FORMAT = "free"
TYPE = "turn-based"
LETTERS = ascii_uppercase
AUTOMATIC_SKIPS = ("no questions", "clock", "stopped", "budget", "concession", "stalemate")
"""Reasons for which a speech is left out without a command to skip it."""

STATES: dict[Status, BoutState] = {
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

    def shapes(self, seen: SeenEvent) -> Sequence[BoutEvent]:
        return [*self._actions(seen), *_speeches(seen), *self._turnings(seen)]

    def _actions(self, seen: SeenEvent) -> Iterator[BoutEvent]:
        match seen.event:
            case TurnStarted() if seen.before:
                # A comment is processed when a speaker begins who hears it.
                waiting = seen.before.unheard_remarks
                yield from (
                    _processed(seen, "inject", remark.text) for remark in waiting if self._hears(remark)
                )
            case DebatePaused():
                yield _processed(seen, "pause")
            case DebateResumed():
                yield _processed(seen, "resume")
            case TurnInterrupted(by="skip"):
                yield _processed(seen, "skip")
            case TurnSkipped(slot=slot, by=by):
                if by not in AUTOMATIC_SKIPS and seen.after.schedule[slot].tone != "continuation":
                    yield _processed(seen, "skip")
            case VerdictReached(verdict=verdict) if verdict.by == "hand":
                yield _processed(seen, "decide", winner(seen.after) or "")
            case _:
                return

    def _turnings(self, seen: SeenEvent) -> Iterator[BoutEvent]:
        match seen.event:
            case DebateStarted():
                yield BoutStarted(debate=debate_reply(seen.after, self.viewer), seq=seen.seq)
            case DebateEnded() | DebateFailed():
                yield _result(seen.after, seen.seq)
            case _ if awaits_decision(seen.after) and not (seen.before and awaits_decision(seen.before)):
                yield DecisionAwaited(choices=choices(seen.after), seq=seen.seq)
            case _:
                return

    def _hears(self, remark: Remark) -> bool:
        return remark.question or may_hear(remark.to, self.viewer)


def debate_reply(debate: Debate, viewer: Viewer) -> dict[str, Any]:
    """The members of a `Bout`, as this viewer may know the debate.

    It has turns for clients of `/api/debates`, and a transcript for those of `/api/debate`.
    """
    known = known_to(debate, viewer)
    debaters = dict(zip(LETTERS, map(_debater, known.seats), strict=False))
    bout = Bout(
        id=known.id,
        topic=known.motion,
        format=TYPE,
        max_turns=len(known.schedule),
        max_rounds=known.rounds_planned,
        winning_condition=known.setup.winning,
        debater_a=debaters.pop("A"),
        debater_b=debaters.pop("B"),
        debater_c=debaters.pop("C", None),
        debater_d=debaters.pop("D", None),
        turns=tuple(_turn(known, turn) for turn in turns_by_slot(known)),
        status=STATES[known.status],
        winner=winner(known),
        current_speaker=seat_letter(known, _current(known)),
        created_at=Timestamp.of(known.created_at),
        updated_at=Timestamp.of(known.updated_at),
        **structs.asdict(debate_outcome(known)),
        seq=known.seq,
        waiting_for="decision" if awaits_decision(debate) else None,
        error=outcome.ending(known) if known.failure else None,
    )
    # The document of this API names four debaters; a larger table has further letters.
    further = {f"debater{letter}": to_members(debater) for letter, debater in debaters.items()}
    return {**to_members(bout), **further}


def winner(debate: Debate) -> str | None:
    """A letter, or `draw`: also where it was too close to call. None where nothing was decided."""
    verdict = debate.verdict
    if verdict is None or debate.status == "aborted":
        return None
    return seat_letter(debate, party(debate, verdict.winner).id) if verdict.winner else "draw"


def awaits_decision(debate: Debate) -> bool:
    """Whether the turns are over and a person has to name the winner."""
    return debate.setup.winning == "user-decides" and not debate.live and plan(debate) == Idle("decision")


def choices(debate: Debate) -> tuple[str, ...]:
    return (*(seat_letter(debate, party.id) for party in parties(debate)), "draw")


def seat_letter(debate: Debate, seat_id: str) -> str:
    return next(LETTERS[index] for index, seat in enumerate(debate.seats) if seat.id == seat_id)


def action_reply(debate: Debate, action: Action, payload: str = "") -> BoutActed:
    """The command is recorded; the stream reports when it has taken effect."""
    done = BoutAction(type=action, payload=payload)
    return BoutActed(debate_id=debate.id, accepted=True, action=done, status=STATES[debate.status])


def deleted() -> Frame:
    return Frame("", BoutCompleted(winner=None, reason="The debate was deleted."))


def _speeches(seen: SeenEvent) -> Iterator[BoutEvent]:
    for speech_event in speech_events(seen):
        turn = speech_event.turn
        speaker, number = seat_letter(seen.after, turn.seat), turn.slot + 1
        match speech_event:
            case SpeechBegun():
                yield TurnBegun(speaker=speaker, turn_number=number, seq=seen.seq)
            case SpeechText():
                yield BoutToken(speaker=speaker, content=speech_event.text, seq=seen.seq)
            case SpeechOver():
                yield TurnDone(
                    speaker=speaker,
                    turn_number=number,
                    full_content=content(turn),
                    **_failed(turn),
                    seq=seen.seq,
                )
            case _:
                assert_never(speech_event)


def _failed(turn: Turn) -> dict[str, Any]:
    return {"status": "error", "error": turn.message} if turn.state == "failed" else {}


def _processed(seen: SeenEvent, action: Action, payload: str = "") -> ActionProcessed:
    return ActionProcessed(action=BoutAction(type=action, payload=payload), seq=seen.seq)


def _result(debate: Debate, seq: int) -> BoutCompleted:
    verdict, figures = debate.verdict, costs(debate)
    decided = verdict is not None and not debate.failure and debate.status != "aborted"
    ending = outcome.ending(debate)
    reason = (verdict.reasoning or outcome.headline(debate, verdict)) if verdict and decided else ending
    return BoutCompleted(
        winner=winner(debate) if decided else None,
        reason=reason,
        total_tokens=figures.usage.total,
        total_cost=None if figures.total is None else float(figures.total),
        error=ending if debate.failure else None,
        seq=seq,
    )


def _debater(seat: Seat) -> BoutDebater:
    return BoutDebater(
        id=seat.id,
        model=seat.model.label,
        name=seat.name,
        position=seat.side,
        system_prompt=seat.system_prompt,
        objective=seat.objective,
    )


def _turn(debate: Debate, turn: Turn) -> BoutTurn:
    return BoutTurn(
        number=turn.slot + 1,
        speaker=seat_letter(debate, turn.seat),
        content=content(turn),
        reasoning=thoughts(turn),
        timestamp=Timestamp.of(turn.started_at),
        **_failed(turn),
    )


def _current(debate: Debate) -> str:
    """The seat that speaks, else the next one, else the last one."""
    speaking = [turn.seat for turn in debate.live] or [slot.seat for slot in debate.remaining_slots()]
    return speaking[0] if speaking else debate.schedule[-1].seat
