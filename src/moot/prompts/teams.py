"""Who is who to a speaker: an opponent, a team-mate, another team on the same side; and which speeches of its
team a seat gives."""

from __future__ import annotations

from moot.audience import Heard
from moot.debate import Debate
from moot.prompts.templates import FOR_SIDE
from moot.schedule import benches, schedule, teams
from moot.terms import Limits, Seat


def speaker(debate: Debate, listener: Seat, heard: Heard) -> str:
    """Two debaters are simply opponents; at a larger table speakers need their names."""
    if heard.seat is None:
        return ""
    if heard.seat == listener.id:
        return "You"
    seat, role = debate.seat(heard.seat), _role(debate, heard)
    if _alone(debate, listener, seat):
        return f"Your opponent, as {role}," if role else "Your opponent"
    own, allies = mates(debate, listener)
    if seat in own:
        return f"Your team-mate {seat.name}, as {role}," if role else f"Your team-mate {seat.name}"
    if seat.side == "neutral":
        return f"{seat.name}, as {role}," if role else seat.name
    side = "on your side" if seat in allies else f"speaking {FOR_SIDE[seat.side]}"
    return f"{seat.name}, {side} as {role}," if role else f"{seat.name}, {side},"


def called(debate: Debate, listener: Seat, seat: Seat) -> str:
    """How a seat is named to another in the middle of a sentence."""
    return "your opponent" if _alone(debate, listener, seat) else seat.name


def _alone(debate: Debate, one: Seat, other: Seat) -> bool:
    """There are no other debaters than these two."""
    debaters = [seat for seat in debate.seats if seat.role == "debater"]
    return len(debaters) == 2 and one in debaters and other in debaters


def mates(debate: Debate, seat: Seat) -> tuple[tuple[Seat, ...], tuple[Seat, ...]]:
    """Those who win and lose with this seat, and those of other teams who share its side."""
    bench = next((bench for bench in benches(debate.seats) if seat in bench), ())
    others = tuple(other for other in bench if other != seat and other.side == seat.side != "neutral")
    if debate.format.parties == "sides":
        return others, ()
    ranked = tuple(teams(debate.format, debate.seats).values())
    own = tuple(other for other in others if any(seat in team and other in team for team in ranked))
    return own, tuple(other for other in others if ranked and other not in own)


def roles(debate: Debate, seat: Seat) -> tuple[str, ...]:
    """The speakers of its team as whom this seat speaks, in the words of the whole table."""
    fmt = debate.format
    if not any(phase.speaks_as for phase in fmt.phases):
        return ()
    slots = schedule(fmt, debate.seats, Limits(fmt.max_rounds, fmt.turns))
    named = (fmt.phases[slot.phase].speaks_as for slot in slots if slot.seat == seat.id)
    return tuple(dict.fromkeys(name for name in named if name))


def _role(debate: Debate, heard: Heard) -> str:
    turn = debate.turn(heard.turn) if heard.turn is not None and heard.kind == "other" else None
    return debate.phase(turn.slot).speaks_as if turn else ""
