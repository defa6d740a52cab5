"""One debate in a few lines: what lists, `moot list` and the head row show."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from moot.debate import Debate
from moot.judging.parties import party
from moot.terms import HUMAN, Seat, Status


class Summary(Struct, frozen=True, omit_defaults=True, rename="camel"):
    id: str
    motion: str
    format: str
    status: Status
    seats: tuple[str, ...]
    models: tuple[str, ...]
    round: int
    rounds: int
    turns: int
    cost: str
    unpriced: bool = False
    winner: str | None = None
    outcome: str = ""
    sides: tuple[str, ...] = ()
    """What each seat argues; a seat that only moderates has "moderator" here. Empty in what 0.1 wrote."""
    winner_model: str = ""
    winner_side: str = ""
    winning: tuple[int, ...] = ()
    """The places of those who won together, where that is more than one seat."""


def summarize(debate: Debate) -> Summary:
    verdict = debate.verdict
    winner = debate.seat(verdict.winner) if verdict and verdict.winner else None
    return Summary(
        id=debate.id,
        motion=debate.motion,
        format=debate.format.name,
        status=debate.status,
        seats=tuple(seat.name for seat in debate.seats),
        models=tuple(_who(seat) for seat in debate.seats),
        round=debate.round,
        rounds=debate.rounds_planned,
        turns=sum(turn.said for turn in debate.turns),
        cost=format(debate.spent, "f"),
        unpriced=any(tally.unpriced for tally in debate.tallies.values()),
        winner=party(debate, winner.id).name if winner else None,
        outcome=verdict.outcome if verdict else "",
        sides=tuple(seat.side if seat.role == "debater" else seat.role for seat in debate.seats),
        winner_model=_who(winner) if winner else "",
        winner_side=winner.side if winner else "",
        winning=_together(debate, winner.id) if winner else (),
    )


def _who(seat: Seat) -> str:
    """A person is no model, and their name is their own."""
    return HUMAN if seat.model.human else seat.model.label


def _together(debate: Debate, winner: str) -> tuple[int, ...]:
    won = party(debate, winner).seats
    if len(won) == 1:
        return ()
    return tuple(place for place, seat in enumerate(debate.seats) if seat in won)


def summary(debate: Debate) -> bytes:
    return msgspec.json.encode(summarize(debate))
