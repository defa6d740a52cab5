"""Sessions: debates in which somebody asks for each turn, and nothing is said that nobody asked for.

Two seats answer each other for ten turns, and no judge sits. Turn n is the slot n - 1 of the schedule,
however often it had to be given. Whoever asks for a turn names its model: a seat that nobody holds yet is
filled by that, and keeps it. To ask again for a turn that is being given, or was given, changes nothing; one
that failed or was cut is given once more. When all have been given, the session is over.
"""

from __future__ import annotations

from msgspec import Struct

from moot.core.errors import Invalid, Refused
from moot.core.events import DebateResumed, Event, SeatFilled, TurnRetried
from moot.core.state import Debate, Turn
from moot.core.terms import FREE, HUMAN, Format, Model, Phase, Seat, SeatTemplate
from moot.rules.participation import interrupt_turn

TURNS = 10
FORMAT_NAME = "turns"
FORMAT = Format(
    name=FORMAT_NAME,
    title="Turn by turn",
    summary="Two sides answer each other, and every turn is asked for.",
    chairs=(SeatTemplate("AFFIRMATIVE", "for"), SeatTemplate("NEGATIVE", "against")),
    phases=(
        Phase(
            "opening",
            "Opening",
            "each",
            round=1,
            tone="opening",
            words=600,
            held=False,
            guide="Present your opening argument following Robert's Rules of Order.",
        ),
        Phase(
            "reply",
            "Reply",
            "each",
            round=2,
            tone="rebuttal",
            words=600,
            held=False,
            guide="Address your opponent's specific points, refute their arguments with evidence and logic, "
            "and strengthen your own position.",
        ),
    ),
    max_seats=2,
    turns=TURNS,
    max_turns=TURNS,
    repeat=2,
    # Only the one who asks for the turns ends it: no circle, no concession, no question aside.
    scripted=True,
    result="none",
)
UNASSIGNED_MODEL = Model(HUMAN, HUMAN, price=FREE)
"""Holds a seat until a model is named for it: what is said there meanwhile comes by hand."""


class AskTurn(Struct, frozen=True):
    slot: int
    model: Model
    previous: str | None = None
    """The response that this speaker gave last, as the one who asks knows it."""
    intensity: int | None = None
    """From this turn on; None: as before."""
    by: str = ""


def ask_turn(debate: Debate, command: AskTurn) -> tuple[Event, ...] | Refused:
    if debate.format.name != FORMAT_NAME or not 0 <= command.slot < len(debate.schedule):
        raise Invalid("There is no such turn.", {"turnNumber": [f"Must be between 1 and {TURNS}"]})
    seat = debate.seat(debate.schedule[command.slot].seat)
    filled = _fill(debate, seat, command)
    if not _is_own_chain(debate, command):
        problem = "Must be the last response of this turn's own model"
        raise Invalid("The chain is another's.", {"previousResponseId": [problem]})
    turn = latest_turn(debate, command.slot)
    # One that was begun before a model was named waits for a person who will never come.
    vacant = tuple(one for one in debate.live if is_unasked(debate, debate.seat(one.seat)))
    if turn is not None and turn.state in ("live", "completed") and turn not in vacant:
        return ()
    if debate.final or debate.being_judged:
        return Refused("The debate is over.", debate.status)
    following = _next_slot(debate)
    if following != command.slot and (turn is None or not turn.used_slot):
        raise Invalid("It is another's turn.", {"turnNumber": [_expected(following)]})
    changed = None if command.intensity == debate.manner.intensity else command.intensity
    going_on = (*filled, DebateResumed("turn", changed))
    if vacant:
        return (*(event for one in vacant for event in interrupt_turn(debate, one, "pause")), *going_on)
    if turn is not None and (turn.used_slot or debate.status == "error"):
        # Struck first: nobody hears what is left of it.
        return (TurnRetried(turn.number), *going_on)
    # Where it runs already, somebody has just asked for the same.
    return () if debate.running and not filled else going_on


def all_turns_given(debate: Debate) -> bool:
    """Nothing is left to be asked for, not even a turn that failed. What was held elsewhere to its end stays
    as it was brought."""
    if debate.format.name != FORMAT_NAME or debate.live or _next_slot(debate) is not None:
        return False
    return debate.origin is None or any(turn.seq > debate.origin.seq for turn in debate.turns)


def is_session(debate: Debate) -> bool:
    return debate.format.name == FORMAT_NAME


def is_empty(seat: Seat) -> bool:
    """No model was named for it yet, and no person has taken it from one."""
    return seat.model.human and seat.stand_in is None


def is_unasked(debate: Debate, seat: Seat) -> bool:
    """It is nobody's: its model is named by whoever asks for its first turn."""
    return is_session(debate) and is_empty(seat)


def latest_turn(debate: Debate, slot: int) -> Turn | None:
    """The last time that this turn was begun, unless that was struck."""
    given = (turn for turn in _turns(debate) if turn.slot == slot and not turn.struck)
    return max(given, key=lambda turn: turn.seq, default=None)


def last_turn_of_speaker(debate: Debate, slot: int) -> Turn | None:
    """What the speaker of this turn said last before it."""
    seat = debate.schedule[slot].seat
    said = (turn for turn in debate.turns if turn.seat == seat and turn.slot < slot and _counts(turn))
    return max(said, key=lambda turn: turn.slot, default=None)


def client_response_id(debate: Debate, turn: Turn, *, private: bool = True) -> str:
    """By which a client refers to this turn: the provider's id, which is for those who conduct the debate;
    else, or where the provider gave none, one of ours."""
    return (turn.response_id if private else None) or f"turn_{debate.id}_{turn.slot + 1}"


def stream_position(debate: Debate, slot: int) -> tuple[int, int]:
    """The number under which this turn is or will be given, and the seq after which it is told."""
    turn = latest_turn(debate, slot)
    if turn is not None and (turn.state == "live" or turn.used_slot):
        return turn.number, turn.since
    return len(debate.turns) + len(debate.live) + 1, debate.seq


def last_asked_position(debate: Debate) -> tuple[int, int] | None:
    """The same for the turn that was asked for last; None where none ever was."""
    if debate.running and not debate.live and (following := debate.remaining_slots()):
        return stream_position(debate, following[0].index)
    turn = max(_turns(debate), key=lambda turn: turn.seq, default=None)
    return (turn.number, turn.since) if turn else None


def _fill(debate: Debate, seat: Seat, asked: AskTurn) -> tuple[SeatFilled, ...]:
    """A model that has come to nothing so far may be replaced by another, unless it is about to speak."""
    if seat.model.label == asked.model.label:
        return ()
    spoke = any(turn.seat == seat.id and (turn.has_words or turn.state == "live") for turn in _turns(debate))
    if not is_empty(seat) and (spoke or debate.running):
        known = seat.model.alias or seat.model.name
        raise Invalid("Another model sits there.", {"modelId": [f"Must be {known}, as before"]})
    return (SeatFilled(seat.id, asked.model, asked.by),)


def _turns(debate: Debate) -> tuple[Turn, ...]:
    return (*debate.turns, *debate.live)


def _counts(turn: Turn) -> bool:
    return turn.state == "completed" and turn.has_words


def _is_own_chain(debate: Debate, asked: AskTurn) -> bool:
    """What was said before we knew of the debate has a name that we cannot know; nor do we pass it on."""
    last = last_turn_of_speaker(debate, asked.slot)
    if asked.previous is None:
        return True
    if last is None:
        return any(debate.schedule[slot].seat == debate.schedule[asked.slot].seat for slot in debate.skipped)
    return asked.previous in (last.response_id, client_response_id(debate, last, private=False))


def _next_slot(debate: Debate) -> int | None:
    """The first turn that was not given: one that failed has to be given first."""
    given = {turn.slot for turn in debate.turns if turn.used_slot and turn.state != "failed"}
    return next((slot.index for slot in debate.schedule if slot.index not in {*given, *debate.skipped}), None)


def _expected(slot: int | None) -> str:
    return "All turns have been given" if slot is None else f"The next turn is {slot + 1}"
