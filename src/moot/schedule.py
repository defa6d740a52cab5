"""Lays a format out as a schedule: slot by slot, who speaks, in which round, to whom.

Everything about turn order that can be known beforehand is known here, so that planning is only "the first
slot that is not spent". Seats are put on benches: those for, those against, and a neutral seat on the
emptier bench, since a debate needs two sides; a bench speaks through its members in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, zip_longest

from msgspec.structs import replace

from moot.terms import Format, Limits, Phase, Seat, Slot, Tone, Who

Bench = tuple[Seat, ...]


def schedule(fmt: Format, seats: Sequence[Seat], limits: Limits) -> tuple[Slot, ...]:
    groups = count(1)
    slots: list[Slot] = []
    rounds = _rounds(fmt, seats, limits)
    for number, source in enumerate(rounds, 1):
        for index, phase in enumerate(fmt.phases):
            if number != len(rounds) if phase.closes else phase.round != source:
                continue
            shared = next(groups)
            for seat, tone, to in _speakers(fmt, phase, seats, number):
                group = shared if phase.simultaneous else next(groups)
                slots.append(Slot(len(slots), number, index, seat, tone, to, group))
    return tuple(slots[: limits.turns or fmt.turns] if fmt.turns else slots)


def longer(fmt: Format, seats: Sequence[Seat], limits: Limits, rounds: int) -> Limits:
    """The limits with so many rounds more."""
    limits = replace(limits, rounds=limits.rounds + rounds)
    if not fmt.turns:
        return limits
    return replace(limits, turns=(limits.turns or fmt.turns) + rounds * len(speaking_order(fmt, seats)))


def benches(seats: Sequence[Seat]) -> tuple[Bench, Bench]:
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
    bench = {seat.id: place for place, members in enumerate(benches(seats)) for seat in members}
    return one in bench and other in bench and bench[one] != bench[other]


def speaking_order(fmt: Format, seats: Sequence[Seat], round_number: int = 1) -> tuple[Seat, ...]:
    """Every debater once: the sides alternate; at a round table another seat opens each round."""
    debaters = tuple(seat for seat in seats if seat.role == "debater")
    if fmt.rotate:
        turn = (round_number - 1) % len(debaters)
        return debaters[turn:] + debaters[:turn]
    return tuple(seat for pair in zip_longest(*benches(seats)) for seat in pair if seat)


def _rounds(fmt: Format, seats: Sequence[Seat], limits: Limits) -> list[int]:
    """Which round of the table is played as the first, second ... round of the debate."""
    table = sorted({phase.round for phase in fmt.phases})
    wanted = limits.rounds
    if fmt.turns:
        wanted = -(-(limits.turns or fmt.turns) // max(1, len(speaking_order(fmt, seats))))
    if fmt.repeat is None:
        return table[:wanted]
    fixed = [number for number in table if number != fmt.repeat]
    middle = [fmt.repeat] * max(0, wanted - len(fixed))
    played = [n for n in fixed if n < fmt.repeat] + middle + [n for n in fixed if n > fmt.repeat]
    if wanted >= len(played):
        return played
    return fixed[:wanted]


def _speakers(
    fmt: Format, phase: Phase, seats: Sequence[Seat], number: int
) -> Iterator[tuple[str, Tone, str | None]]:
    match phase.kind:
        case "vote" | "questions" | "notes":
            return
        case "speech" if phase.who == "each":
            for seat in speaking_order(fmt, seats, number):
                yield seat.id, phase.tone, None
        case "speech":
            if speaker := _member(phase.who, phase.speaker, seats):
                yield speaker.id, phase.tone, None
        case "cross-examination" | "crossfire" | "exchange":
            yield from _to_and_fro(phase, seats)


def _to_and_fro(phase: Phase, seats: Sequence[Seat]) -> Iterator[tuple[str, Tone, str | None]]:
    for turn in range(phase.exchanges):
        one = _member(phase.who, phase.speaker or turn + 1, seats)
        other = _member(phase.to, phase.to_speaker or turn + 1, seats)
        if one is None or other is None:
            return
        if phase.kind == "crossfire" and turn % 2:
            one, other = other, one
        yield one.id, phase.tone if phase.kind == "exchange" else "question", other.id
        yield other.id, phase.tone if phase.kind == "exchange" else "answer", one.id


def _member(who: Who | None, speaker: int, seats: Sequence[Seat]) -> Seat | None:
    if who == "moderator":
        return next((seat for seat in seats if seat.role == "moderator"), None)
    pro, con = benches(seats)
    if who == "neutral":
        bench: Bench = tuple(seat for seat in seats if seat.side == "neutral" and seat.role == "debater")
    else:
        bench = pro if who == "for" else con
    return bench[(speaker - 1) % len(bench)] if bench else None
