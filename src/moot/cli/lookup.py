"""Debates by what people type: the whole id, a piece of its beginning or end, or `last`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.core.errors import Invalid, UnknownDebate
from moot.core.state import Debate
from moot.judging.ballots import TIES
from moot.judging.parties import parties, party_of
from moot.views.text import single_line

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource

PREFIX = "deb_"
SHORT_ID = 8
PAGE_SIZE = 500


async def find_debate(source: DebateSource, typed: str) -> str:
    """Return the id of the debate. Raises UnknownDebate, or Invalid where several fit."""
    if typed == "last":
        page = await source.list(limit=1)
        if not page.heads:
            raise UnknownDebate(
                'There are no debates here yet. Begin with: moot "This house would ban homework"'
            )
        return page.heads[0].id
    try:
        return (await source.head(typed)).id
    except UnknownDebate:
        matches = await _like(source, typed)
    if len(matches) > 1:
        several = ", ".join(matches[:3]) + (" and others" if len(matches) > 3 else "")
        raise Invalid(f"{typed!r} fits {len(matches)} debates: {several}. Write more of it.")
    if not matches:
        raise UnknownDebate(f"There is no debate {typed!r}.")
    return matches[0]


async def _like(source: DebateSource, typed: str) -> list[str]:
    fragment = typed.removeprefix(PREFIX).upper()
    matches: list[str] = []
    offset = 0
    while fragment and (heads := (await source.list(limit=PAGE_SIZE, offset=offset)).heads):
        offset += len(heads)
        for head in heads:
            name = head.id.removeprefix(PREFIX).upper()
            if name.startswith(fragment) or name.endswith(fragment):
                matches.append(head.id)
    return matches


def short_id(debate_id: str) -> str:
    """Return the last letters of an id: the first ones are the time, and the same for debates of one day."""
    return debate_id[-SHORT_ID:]


TIE_WORDS = (*TIES, "none")


def seat_id(debate: Debate, typed: str) -> str:
    folded = typed.strip().casefold()
    for key in ("id", "name", "side"):
        matches = [seat.id for seat in debate.seats if str(getattr(seat, key)).casefold() == folded]
        if len(matches) == 1:
            return matches[0]
    names = ", ".join(single_line(seat.name) for seat in debate.seats)
    raise Invalid(f"There is no seat {typed!r} here. The seats are: {names}.")


def party_id(debate: Debate, typed: str) -> str:
    """Return the id of a party, which can win: a seat, or a whole side. Raises Invalid."""
    folded = typed.strip().casefold()
    sides = [party.id for party in parties(debate) if all(seat.side == folded for seat in party.seats)]
    if len(sides) == 1:
        return sides[0]
    party = party_of(debate, seat_id(debate, typed))
    if party is None:
        raise Invalid(f"{typed.strip()} cannot win here.")
    return party.id


def winner_id(debate: Debate, typed: str) -> str | None:
    """Return the id of the party named as the winner; None for a draw."""
    return None if typed.strip().casefold() in TIE_WORDS else party_id(debate, typed)


def own_seat(debate: Debate, typed: str | None) -> str:
    """Return the seat named, else that of the only person who speaks, else of the only person.

    Raises Invalid where that is not one seat.
    """
    if typed:
        return seat_id(debate, typed)
    people = [seat.id for seat in debate.seats if seat.model.human]
    speaking = [turn.seat for turn in debate.live if turn.seat in people]
    for sitting in (speaking, people):
        if len(sitting) == 1:
            return sitting[0]
    if not people:
        raise Invalid("No seat of this debate is a person's. Take one first: moot take ID SEAT.")
    names = ", ".join(single_line(debate.seat(seat).name) for seat in people)
    raise Invalid(f"Several people sit here: name your seat with --seat, one of {names}.")


def own_judge(debate: Debate, typed: str | None) -> str:
    """Return the id of the judge named, else of the only person who judges. Raises Invalid."""
    sitting = debate.judging.judges if debate.judging and debate.being_judged else debate.panel
    people = [judge for judge in sitting if judge.model.human]
    folded = (typed or "").strip().casefold()
    matches = [judge.id for judge in people if not folded or folded in (judge.id, judge.name.casefold())]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(single_line(judge.name) for judge in people)
    raise Invalid(f"Name the judge with --judge, one of {names}." if names else "No person judges here.")
