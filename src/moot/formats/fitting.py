"""Adapts a format to a debate: its seats, its audience and its options (`fit_format`).

The fitted format is written into the log, so a later reader sees the schedule that was played. Four teams are
ranked only where four seats play them, floor questions remain only where there is an audience, and openings
are blind only on request.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from moot.core.schedule import teams
from moot.core.terms import DebateSetup, Format, Phase, Seat


def fit_format(fmt: Format, seats: Sequence[Seat], setup: DebateSetup) -> Format:
    fmt = with_other_side_first(fmt) if fmt.either_first and setup.opens == "against" else fmt
    fmt = _ranked_only_if_full(fmt, seats)
    if setup.polls is None:
        fmt = without_audience(fmt)
    return with_blind_openings(fmt) if setup.blind else fmt


def described(fmt: Format) -> str:
    """The summary, followed by how the debate is decided where the format allows more than one way."""
    votes = any(phase.kind == "vote" for phase in fmt.phases)
    if fmt.result == "swing":
        decides = "Where an audience votes before and after, the larger swing wins; else the judges decide."
    elif fmt.result == "ranking" and any(chair.team for chair in fmt.chairs):
        decides = "With a seat for each team all are ranked; with fewer seats, one side wins."
    elif votes:
        decides = "Where the audience decides, a plain majority wins; else the judges decide."
    else:
        return fmt.summary
    return f"{fmt.summary} {decides}"


def with_blind_openings(fmt: Format) -> Format:
    """The openings of the first round are given at the same time, before any other speech.

    They allow no points of information: a speaker could not hear them.
    """
    first = min(phase.round for phase in fmt.phases)
    together = [
        replace(phase, simultaneous=True, points_of_information=False, protected=0)
        for phase in fmt.phases
        if _is_opening(phase, first)
    ]
    others = [phase for phase in fmt.phases if not _is_opening(phase, first)]
    votes = [phase for phase in others if phase.kind == "vote" and phase.round == first]
    later = [phase for phase in others if phase not in votes]
    return replace(fmt, phases=(*votes, *together, *later))


def with_other_side_first(fmt: Format) -> Format:
    """The other side opens, answers first and asks first throughout; so the last word changes sides, too."""
    phases = [replace(phase, **_swapped(phase)) for phase in fmt.phases]
    pairs = [index for index, two in enumerate(pairwise(fmt.phases)) if _is_answered_by(*two)]
    for index in pairs:
        phases[index : index + 2] = phases[index + 1], phases[index]
    last = {"for": "against", "against": "for"}.get(fmt.last_word or "", fmt.last_word)
    return replace(fmt, phases=tuple(phases), last_word=last)


def _is_answered_by(one: Phase, other: Phase) -> bool:
    """Whether the two phases are the same speech, first by one side and then by the other."""
    sides = (one.who, other.who) == ("for", "against")
    return sides and one.kind == other.kind == "speech" and one.round == other.round


def _swapped(phase: Phase) -> dict[str, Any]:
    """The phase with asking and answering sides exchanged."""
    if phase.to is None:
        return {}
    return {
        "who": phase.to,
        "to": phase.who,
        "speaker": phase.to_speaker,
        "to_speaker": phase.speaker,
    }


def without_audience(fmt: Format) -> Format:
    """The format without its votes and floor questions."""
    phases = tuple(phase for phase in fmt.phases if phase.kind not in ("vote", "questions"))
    return replace(fmt, phases=phases) if phases else fmt


def assign_teams(fmt: Format, seats: Sequence[Seat]) -> tuple[Seat, ...]:
    """The seats with the teams they speak for, whatever their order; a seat may speak for two teams."""
    members = teams(fmt, seats)
    return tuple(
        replace(seat, team=", ".join(team for team, team_seats in members.items() if seat in team_seats))
        for seat in seats
    )


def _is_opening(phase: Phase, first: int) -> bool:
    return phase.round == first and phase.tone == "opening" and phase.kind == "speech" and not phase.closes


def _ranked_only_if_full(fmt: Format, seats: Sequence[Seat]) -> Format:
    """Teams are ranked only where each has a seat of its own; otherwise two sides are judged."""
    named = {chair.team for chair in fmt.chairs if chair.team}
    if fmt.result != "ranking" or not named:
        return fmt
    members = teams(fmt, seats)
    apart = {seat.id for team_seats in members.values() for seat in team_seats}
    if len(members) == len(apart) == len(named) and all(
        len(team_seats) == 1 for team_seats in members.values()
    ):
        return fmt
    return replace(fmt, result="majority", parties="sides")
