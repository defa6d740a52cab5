"""Lays a format out as a schedule: slot by slot, who speaks, in which round, to whom, for how many words.

Everything about turn order that can be known beforehand is known here, so that planning is only "the first
slot that is not spent". Seats are put on benches: those for, those against, and a neutral seat on the
emptier bench, since a debate needs two sides. A bench speaks through its members in turn, however many
speeches the format has for its team: a seat may give several, and two seats may share a team's. Where a side
has several teams, each keeps to its own members of the bench. A speech in which points of information may be
offered is laid out as two slots, with the break half-way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, zip_longest

from msgspec import Struct
from msgspec.structs import replace

from moot.core.terms import DebateLimits, Format, Phase, PhaseSpeaker, Seat, Slot, Tone

SideSeats = tuple[Seat, ...]


class PlannedSlot(Struct, frozen=True):
    """What one seat says in a row of the table."""

    seat: str
    tone: Tone
    to: str | None = None
    words: int = 0


def schedule(fmt: Format, seats: Sequence[Seat], limits: DebateLimits) -> tuple[Slot, ...]:
    slots: list[Slot] = []
    groups = count(1)
    shared, together = (0, 0), set[str]()
    for number, index in played_rows(fmt, seats, limits):
        phase = fmt.phases[index]
        parts = tuple(_planned_slots(fmt, phase, seats, number))
        speakers = {part.seat for part in parts}
        # Rows side by side are one, as long as nobody would have to speak twice at a time.
        goes_on = phase.simultaneous and shared[0] == number and together and together.isdisjoint(speakers)
        if not goes_on:
            shared, together = (number, next(groups)), set[str]()
        together = together | speakers if phase.simultaneous else set[str]()
        for part in parts:
            group = shared[1] if phase.simultaneous else next(groups)
            slots.append(Slot(len(slots), number, index, part.seat, part.tone, part.to, group, part.words))
    return tuple(slots[: limits.turns or fmt.turns] if fmt.turns else slots)


def played_rows(fmt: Format, seats: Sequence[Seat], limits: DebateLimits) -> Iterator[tuple[int, int]]:
    """The rows of the table as they are played: the round of the debate, and which row."""
    rounds = _rounds(fmt, seats, limits)
    for number, source in enumerate(rounds, 1):
        for index, phase in enumerate(fmt.phases):
            if number == len(rounds) if phase.closes else phase.round == source:
                yield number, index


def with_more_rounds(fmt: Format, seats: Sequence[Seat], limits: DebateLimits, rounds: int) -> DebateLimits:
    """The limits with so many rounds more."""
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
    """Whether two seats sit on different benches."""
    bench = {seat.id: side for side, members in enumerate(seats_by_side(seats)) for seat in members}
    return one in bench and other in bench and bench[one] != bench[other]


def teams(fmt: Format, seats: Sequence[Seat]) -> dict[str, SideSeats]:
    """Who speaks for each team of the format, where a side has several.

    The members of a bench go to its teams in turn; a bench with fewer members than teams speaks for several.
    """
    members: dict[str, SideSeats] = {}
    for side, bench in zip(("for", "against"), seats_by_side(seats), strict=True):
        own = list(dict.fromkeys(chair.team for chair in fmt.chairs if chair.side == side and chair.team))
        for place, team in enumerate(own):
            members[team] = bench[place :: len(own)] or bench[place % max(1, len(bench)) :][:1]
    return members


def speaking_order(fmt: Format, seats: Sequence[Seat], round_number: int = 1) -> tuple[Seat, ...]:
    """Every debater once: the sides alternate; at a round table another seat opens each round."""
    debaters = tuple(seat for seat in seats if seat.role == "debater")
    if fmt.rotate:
        turn = (round_number - 1) % len(debaters)
        return debaters[turn:] + debaters[:turn]
    return tuple(seat for pair in zip_longest(*seats_by_side(seats)) for seat in pair if seat)


def _rounds(fmt: Format, seats: Sequence[Seat], limits: DebateLimits) -> list[int]:
    """Which round of the table is played as the first, second ... round of the debate."""
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


# --- one row ------------------------------------------------------------------------------------------


def _planned_slots(fmt: Format, phase: Phase, seats: Sequence[Seat], number: int) -> Iterator[PlannedSlot]:
    match phase.kind:
        case "vote" | "notes":
            return
        case "questions":
            for seat in _speakers(fmt, phase, seats, number):
                yield PlannedSlot(seat.id, "floor")
        case "speech":
            for seat in _speakers(fmt, phase, seats, number):
                yield from _speech(phase, seat)
        case "cross-examination" | "crossfire" | "exchange":
            yield from _exchange(fmt, phase, seats)


def _speakers(fmt: Format, phase: Phase, seats: Sequence[Seat], number: int) -> tuple[Seat, ...]:
    if phase.who == "each":
        return speaking_order(fmt, seats, number)
    speaker = _member(fmt, phase.who, phase.speaker, seats, phase.team)
    return (speaker,) if speaker else ()


def _speech(phase: Phase, seat: Seat) -> Iterator[PlannedSlot]:
    if not phase.points_of_information or phase.simultaneous:
        yield PlannedSlot(seat.id, phase.tone)
        return
    # Half-way lies between the protected ends, if there is any room between them.
    rest = phase.words // 2
    yield PlannedSlot(seat.id, phase.tone, words=phase.words - rest)
    yield PlannedSlot(seat.id, "continuation", words=rest)


def _exchange(fmt: Format, phase: Phase, seats: Sequence[Seat]) -> Iterator[PlannedSlot]:
    asks: Tone = phase.tone if phase.kind == "exchange" else "question"
    replies: Tone = phase.tone if phase.kind == "exchange" else "answer"
    crossed = phase.kind == "crossfire"
    for turn in range(phase.exchanges):
        # In a crossfire a pair asks both ways before the next one rises.
        place = 1 + (turn // 2 if crossed else turn)
        one = _member(fmt, phase.who, phase.speaker or place, seats)
        other = _member(fmt, phase.to, phase.to_speaker or place, seats)
        if one is None or other is None:
            return
        if crossed and turn % 2:
            one, other = other, one
        yield PlannedSlot(one.id, asks, other.id)
        yield PlannedSlot(other.id, replies, one.id)


def _member(
    fmt: Format, who: PhaseSpeaker | None, speaker: int, seats: Sequence[Seat], team: str = ""
) -> Seat | None:
    if who == "moderator":
        return next((seat for seat in seats if seat.role == "moderator"), None)
    if who == "neutral":
        bench: SideSeats = tuple(seat for seat in seats if seat.side == "neutral" and seat.role == "debater")
    else:
        pro, con = seats_by_side(seats)
        bench = teams(fmt, seats).get(team) or (pro if who == "for" else con)
    return bench[(speaker - 1) % len(bench)] if bench else None
