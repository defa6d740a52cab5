"""Who can win: a party is a single seat or all seats of a side, identified by its first seat."""

from __future__ import annotations

from string import ascii_uppercase

from msgspec import Struct

from moot.core.schedule import seats_by_side
from moot.core.state import Debate
from moot.core.terms import Seat

UNDECIDED = "undecided"
SIDES = ("for", "against")


class Party(Struct, frozen=True):
    seats: tuple[Seat, ...]

    @property
    def id(self) -> str:
        """The id of its first seat, by which ballots and verdicts name it."""
        return self.seats[0].id

    @property
    def name(self) -> str:
        """Its seats by name: Ann; Ann and Bob; Ann, Bob and Cid."""
        *others, last = (seat.name for seat in self.seats)
        return f"{', '.join(others)} and {last}" if others else last


def parties(debate: Debate) -> tuple[Party, ...]:
    if debate.format.parties == "sides":
        return tuple(Party(side) for side in seats_by_side(debate.seats) if side)
    return tuple(Party((seat,)) for seat in debate.seats if seat.role == "debater")


def party_of(debate: Debate, seat_id: str) -> Party | None:
    """None for a seat that cannot win, such as a moderator's."""
    return next((p for p in parties(debate) if any(seat.id == seat_id for seat in p.seats)), None)


def party_called(debate: Debate, name: str) -> Party | None:
    """By the id of any of its seats, or by the letter of its place: A is the first seat, B the second."""
    at = ascii_uppercase.find(name) if len(name) == 1 else -1
    found = party_of(debate, name)
    return found or (party_of(debate, debate.seats[at].id) if 0 <= at < len(debate.seats) else None)


def party(debate: Debate, party_id: str) -> Party:
    """By the id of any of its seats."""
    return party_of(debate, party_id) or Party((debate.seat(party_id),))


def is_ranked(debate: Debate) -> bool:
    """Whether the format ranks the parties, and there are more than two."""
    return debate.format.result == "ranking" and len(parties(debate)) > len(SIDES)


def vote_choices(debate: Debate) -> tuple[str, ...]:
    """What the audience can vote for: a side, or a seat where there are no two sides."""
    if len(parties(debate)) == len(SIDES):
        return (*SIDES, UNDECIDED)
    return (*(party.id for party in parties(debate)), UNDECIDED)
