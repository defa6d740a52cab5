"""Seats by what people call them: the name, the side, or the id."""

from __future__ import annotations

from moot.debate import Debate
from moot.errors import Invalid
from moot.views.cleaning import line


def seat_id(debate: Debate, given: str) -> str:
    wanted = given.strip().casefold()
    for key in ("id", "name", "side"):
        found = [seat.id for seat in debate.seats if str(getattr(seat, key)).casefold() == wanted]
        if len(found) == 1:
            return found[0]
    names = ", ".join(line(seat.name) for seat in debate.seats)
    raise Invalid(f"There is no seat {given!r} here. The seats are: {names}.")
