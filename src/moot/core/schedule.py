"""Makes the schedule of a format: slot by slot, who speaks, in which round, to whom, for how many words.

All of the turn order that can be known beforehand is decided here, so that planning is only "the first slot
that is not used". Every debater belongs to one of two sides; a neutral seat joins the side that has fewer
members. The members of a side speak in turn, however many speeches the format has for it: a seat
may give several, and two seats may share them. Where a side has several teams, each has its own members. A
speech in which points of information may be offered takes two slots, with the break half-way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
from typing import Annotated, assert_never

from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.core.terms import DebateLimits, Format, Phase, PhaseSpeaker, Seat, Slot, Tone

SideSeats = tuple[Seat, ...]


class ScheduledSpeech(Struct, frozen=True):
    """One speech of the order."""

    seat: Annotated[int, Meta(description="The index of its speaker among the participants, from 0.")]
    round: int
    tone: Tone
    title: str
    words: int


def schedule(fmt: Format, seats: Sequence[Seat], limits: DebateLimits) -> tuple[Slot, ...]:
    slots: list[Slot] = []
    groups = count(1)
    shared, together = (0, 0), set[str]()
    for number, index in played_rows(fmt, seats, limits):
        phase = fmt.phases[index]
        parts = tuple(_slots_of_phase(fmt, index, seats, number))
        speakers = {part.seat for part in parts}
        # Simultaneous phases in a row form one group, as long as no seat has to speak twice at a time.
        same_group = phase.simultaneous and shared[0] == number and together and together.isdisjoint(speakers)
        if not same_group:
            shared, together = (number, next(groups)), set[str]()
        together = together | speakers if phase.simultaneous else set[str]()
        for part in parts:
            group = shared[1] if phase.simultaneous else next(groups)
            slots.append(replace(part, index=len(slots), group=group))
    return tuple(slots[: limits.turns or fmt.turns] if fmt.turns else slots)


def played_rows(fmt: Format, seats: Sequence[Seat], limits: DebateLimits) -> Iterator[tuple[int, int]]:
    """The phases in the order in which they are held: (round of the debate, index of the phase)."""
    rounds = _rounds(fmt, seats, limits)
    for number, source in enumerate(rounds, 1):
        for index, phase in enumerate(fmt.phases):
            if number == len(rounds) if phase.closes else phase.round == source:
                yield number, index


def with_more_rounds(fmt: Format, seats: Sequence[Seat], limits: DebateLimits, rounds: int) -> DebateLimits:
    """The limits with this many more rounds."""
    limits = replace(limits, rounds=limits.rounds + rounds)
    if not fmt.turns:
        return limits
    return replace(limits, turns=(limits.turns or fmt.turns) + rounds * len(speaking_order(fmt, seats)))


def seats_by_side(seats: Sequence[Seat]) -> tuple[SideSeats, SideSeats]:
    """The two sides, each with at least one speaker."""
    debaters = [seat for seat in seats if seat.role == "debater"]
    sides: dict[str, list[Seat]] = {
        side: [seat for seat in debaters if seat.side == side] for side in ("for", "against", "neutral")
    }
    pro, con = sides["for"], sides["against"]
    for seat in sides["neutral"]:
        (con if len(con) < len(pro) else pro).append(seat)
    if not pro and len(con) > 1:
        pro.append(con.pop(0))
    if not con and len(pro) > 1:
        con.append(pro.pop())
    return tuple(pro), tuple(con)


def opposed(seats: Sequence[Seat], one: str, other: str) -> bool:
    """Whether two seats are on different sides."""
    sides = {seat.id: side for side, members in enumerate(seats_by_side(seats)) for seat in members}
    return one in sides and other in sides and sides[one] != sides[other]


def teams(fmt: Format, seats: Sequence[Seat]) -> dict[str, SideSeats]:
    """Who speaks for each team of the format, where a side has several.

    The members of a side go to its teams in turn; where there are fewer members than teams, a seat speaks for
    several.
    """
    members: dict[str, SideSeats] = {}
    for side, seats_of_side in zip(("for", "against"), seats_by_side(seats), strict=True):
        names = list(dict.fromkeys(chair.team for chair in fmt.chairs if chair.side == side and chair.team))
        for index, team in enumerate(names):
            shared = seats_of_side[index % max(1, len(seats_of_side)) :][:1]
            members[team] = seats_of_side[index :: len(names)] or shared
    return members


def speaking_order(fmt: Format, seats: Sequence[Seat], round_number: int = 1) -> tuple[Seat, ...]:
    """Every debater once. The sides alternate; where the format rotates, another seat opens each round."""
    debaters = tuple(seat for seat in seats if seat.role == "debater")
    if fmt.rotate:
        turn = (round_number - 1) % len(debaters)
        return debaters[turn:] + debaters[:turn]
    return tuple(seat for pair in zip_longest(*seats_by_side(seats)) for seat in pair if seat)


def _rounds(fmt: Format, seats: Sequence[Seat], limits: DebateLimits) -> list[int]:
    """For each round of the debate, which round of the table is held."""
    table = sorted({phase.round for phase in fmt.phases})
    round_count = limits.rounds
    if fmt.turns:
        round_count = -(-(limits.turns or fmt.turns) // max(1, len(speaking_order(fmt, seats))))
    if fmt.repeat is None:
        return table[:round_count]
    fixed = [number for number in table if number != fmt.repeat]
    middle = [fmt.repeat] * max(0, round_count - len(fixed))
    played = [n for n in fixed if n < fmt.repeat] + middle + [n for n in fixed if n > fmt.repeat]
    if round_count >= len(played):
        return played
    return fixed[:round_count]


# --- one phase ----------------------------------------------------------------------------------------


def _slots_of_phase(fmt: Format, index: int, seats: Sequence[Seat], number: int) -> Iterator[Slot]:
    """The speeches of a phase, before they have their places in the schedule."""
    phase = fmt.phases[index]
    match phase.kind:
        case "vote" | "notes":
            return
        case "questions":
            for seat in _speakers(fmt, phase, seats, number):
                yield Slot(0, number, index, seat.id, "floor")
        case "speech":
            for seat in _speakers(fmt, phase, seats, number):
                yield from _speech(phase, Slot(0, number, index, seat.id, phase.tone))
        case "cross-examination" | "crossfire" | "exchange":
            for seat, tone, to in _exchange(fmt, phase, seats):
                yield Slot(0, number, index, seat.id, tone, to.id)
        case _:
            assert_never(phase.kind)


def _speakers(fmt: Format, phase: Phase, seats: Sequence[Seat], number: int) -> tuple[Seat, ...]:
    if phase.who == "each":
        return speaking_order(fmt, seats, number)
    speaker = _member(fmt, phase.who, phase.speaker, seats, phase.team)
    return (speaker,) if speaker else ()


def _speech(phase: Phase, slot: Slot) -> Iterator[Slot]:
    if not phase.points_of_information or phase.simultaneous:
        yield slot
        return
    # The middle is between the protected ends, if there is any room between them.
    second_half = phase.words // 2
    yield replace(slot, words=phase.words - second_half)
    yield replace(slot, tone="continuation", words=second_half)


def _exchange(fmt: Format, phase: Phase, seats: Sequence[Seat]) -> Iterator[tuple[Seat, Tone, Seat]]:
    """Who speaks, how, and to whom."""
    asks: Tone = phase.tone if phase.kind == "exchange" else "question"
    replies: Tone = phase.tone if phase.kind == "exchange" else "answer"
    crossed = phase.kind == "crossfire"
    for turn in range(phase.exchanges):
        # In a crossfire each of a pair asks the other before the next pair begins.
        speaker = 1 + (turn // 2 if crossed else turn)
        one = _member(fmt, phase.who, phase.speaker or speaker, seats)
        other = _member(fmt, phase.to, phase.to_speaker or speaker, seats)
        if one is None or other is None:
            return
        if crossed and turn % 2:
            one, other = other, one
        yield one, asks, other
        yield other, replies, one


def _member(
    fmt: Format, who: PhaseSpeaker | None, speaker: int, seats: Sequence[Seat], team: str = ""
) -> Seat | None:
    if who == "moderator":
        return next((seat for seat in seats if seat.role == "moderator"), None)
    if who == "neutral":
        members: SideSeats = tuple(
            seat for seat in seats if seat.side == "neutral" and seat.role == "debater"
        )
    else:
        pro, con = seats_by_side(seats)
        members = teams(fmt, seats).get(team) or (pro if who == "for" else con)
    return members[(speaker - 1) % len(members)] if members else None
