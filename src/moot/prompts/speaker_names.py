"""How speakers are named to each other: opponent, team-mate, another team on the same side.

Names are untrusted text: they appear once, fenced, in the roster. Everywhere else a seat is "Speaker 2", or
the moderator.
"""

from __future__ import annotations

from moot.core.schedule import schedule, seats_by_side, teams
from moot.core.state import Debate
from moot.core.terms import DebateLimits, Seat
from moot.core.visibility import Heard
from moot.prompts.fences import Fence
from moot.prompts.templates import FOR_SIDE, SPOKE, section


def speaker_name(debate: Debate, listener: Seat, item: Heard) -> str:
    """The name of the speaker of an item. Two debaters are simply opponents; more speakers need names."""
    if item.seat is None:
        return ""
    if item.seat == listener.id:
        return "You"
    seat, role = debate.seat(item.seat), _role(debate, item)
    if _only_debaters(debate, listener, seat):
        return f"Your opponent, as {role}," if role else "Your opponent"
    name = reference(debate, seat)
    own, allies = teammates(debate, listener)
    if seat in own:
        return f"Your team-mate {name}, as {role}," if role else f"Your team-mate {name}"
    name = name[:1].upper() + name[1:] if debate.prompts > 1 else name
    if seat.side == "neutral":
        return f"{name}, as {role}," if role else name
    side = "on your side" if seat in allies else f"speaking {FOR_SIDE[seat.side]}"
    return f"{name}, {side} as {role}," if role else f"{name}, {side},"


def short_name(debate: Debate, listener: Seat, seat: Seat) -> str:
    """The name of a seat for another seat, within a sentence."""
    return "your opponent" if _only_debaters(debate, listener, seat) else reference(debate, seat)


def reference(debate: Debate, seat: Seat) -> str:
    """How a prompt refers to a seat that is not simply the opponent."""
    if debate.prompts == 1:
        return seat.name
    if seat.role == "moderator":
        return "the moderator" if debate.setup.question is None else "the judge"
    return f"Speaker {debate.seats.index(seat) + 1}"


def roster(debate: Debate, listener: Seat, fence: Fence) -> str:
    """The names of all speakers, fenced; empty where there are only two."""
    if debate.prompts == 1 or len(debate.seats) <= 2:
        return ""
    rows = (
        section(
            "cues",
            "roster-own" if seat == listener else "roster-row",
            who=reference(debate, seat).capitalize(),
            for_side=_for_side(debate, seat),
            name=fence.hold(seat.name),
            fence=fence.name,
        )
        for seat in debate.seats
    )
    return section("cues", "roster", rows="\n".join(rows))


def _for_side(debate: Debate, seat: Seat) -> str:
    if seat.role == "moderator":
        return "chairing" if debate.setup.question is None else "asking"
    return SPOKE[seat.side]


def _only_debaters(debate: Debate, one: Seat, other: Seat) -> bool:
    """Whether there are no other debaters than these two."""
    debaters = [seat for seat in debate.seats if seat.role == "debater"]
    return len(debaters) == 2 and one in debaters and other in debaters


def teammates(debate: Debate, seat: Seat) -> tuple[tuple[Seat, ...], tuple[Seat, ...]]:
    """The seats that win with this one, and those of other teams on the same side."""
    same_side = next((group for group in seats_by_side(debate.seats) if seat in group), ())
    others = tuple(other for other in same_side if other != seat and other.side == seat.side != "neutral")
    if debate.format.parties == "sides":
        return others, ()
    ranked = tuple(teams(debate.format, debate.seats).values())
    own = tuple(other for other in others if any(seat in team and other in team for team in ranked))
    return own, tuple(other for other in others if ranked and other not in own)


def roles(debate: Debate, seat: Seat) -> tuple[str, ...]:
    """The speaker titles of the format that this seat has, over the whole table."""
    fmt = debate.format
    if not any(phase.speaks_as for phase in fmt.phases):
        return ()
    slots = schedule(fmt, debate.seats, DebateLimits(fmt.max_rounds, fmt.turns))
    named = (fmt.phases[slot.phase].speaks_as for slot in slots if slot.seat == seat.id)
    return tuple(dict.fromkeys(name for name in named if name))


def _role(debate: Debate, item: Heard) -> str:
    turn = debate.turn(item.turn) if item.turn is not None and item.kind == "other" else None
    return debate.phase(turn.slot).speaks_as if turn else ""
