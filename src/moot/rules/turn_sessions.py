"""Sessions: debates in which every turn is requested by a client. Others ask here what is special about them.

A seat may have no model yet: the request for a turn names it. What was not given is asked for again, so that
the next turn need not be the one after the last. `lookup_keys` are the keys by which stores find a session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moot.core.events import DebateImported, Event, Recorded, TurnCompleted
from moot.core.state import Debate, Turn
from moot.core.terms import Seat, Slot


def all_turns_given(debate: Debate) -> bool:
    """Whether no turn is left to ask for, not even one that failed. A session that was imported complete
    stays as it is."""
    if not debate.is_session or debate.live or next_slot(debate) is not None:
        return False
    return debate.origin is None or any(turn.seq > debate.origin.seq for turn in debate.turns)


def is_empty(seat: Seat) -> bool:
    """Whether no model was named for the seat yet, and no person has taken it from one."""
    return seat.model.human and seat.stand_in is None


def is_unasked(debate: Debate, seat: Seat) -> bool:
    """Whether no turn of this seat has been asked for, so that its model is not known yet."""
    return debate.is_session and is_empty(seat)


def client_response_id(debate: Debate, turn: Turn, *, private: bool = True) -> str:
    """The id by which a client refers to this turn: the provider's id, which only those who conduct the
    debate may see; for others, or where the provider gave none, one of ours."""
    return (turn.response_id if private else None) or f"turn_{debate.id}_{turn.slot + 1}"


def following_slots(debate: Debate) -> tuple[Slot, ...]:
    """The speeches that are still to be given; in a session, from the next turn that can be asked for."""
    first = next_slot(debate) if debate.is_session else None
    return debate.remaining_slots() if first is None else debate.schedule[first:]


def next_slot(debate: Debate) -> int | None:
    """The first turn that was not given; one that failed counts as not given."""
    used = {turn.slot for turn in debate.turns if turn.used_slot and turn.state != "failed"}
    return next((slot.index for slot in debate.schedule if slot.index not in {*used, *debate.skipped}), None)


# --- found again --------------------------------------------------------------------------------------


def lookup_keys(debate: Debate, records: Sequence[Recorded]) -> tuple[str, ...]:
    """The keys by which this session can be found from now on."""
    return tuple(mark for recorded in records for mark in _event_keys(debate, recorded.event))


def _event_keys(debate: Debate, event: Event) -> Iterator[str]:
    if isinstance(event, DebateImported):
        yield row_key(str(event.record.get("id")))
    turn = debate.turn(event.turn) if isinstance(event, TurnCompleted) else None
    if turn is not None:
        yield from {
            response_key(client_response_id(debate, turn, private=private)) for private in (True, False)
        }


def row_key(id: str) -> str:
    return f"row {id}"


def response_key(name: str) -> str:
    return f"response {name}"
