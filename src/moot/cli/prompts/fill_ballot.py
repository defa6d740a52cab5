"""A ballot filled in at this terminal: who won, why, and the speeches on which that rests."""

from __future__ import annotations

from moot.cli.find_seat import TIES, party_id
from moot.cli.prompts.person_prompt import Desk
from moot.cli.render.output import join
from moot.core.errors import Invalid
from moot.core.state import Debate
from moot.core.terms import Ballot
from moot.judging.evidence import speeches
from moot.judging.parties import Party, parties
from moot.rules.participation import CastBallot
from moot.views.safe_text import line
from moot.views.transcript import speech_title


async def fill_in(desk: Desk, debate: Debate, judge: str) -> None:
    """Until it is cast. Whoever ends the text without a word looks away."""
    desk.tell(f"You judge: {line(debate.judge(judge).name)}.", "bold")
    while (ballot := await _ballot(desk, debate, judge)) is not None:
        if await desk.do(CastBallot(ballot)):
            desk.tell("Your ballot is cast.")
            return
    desk.leave()


async def _ballot(desk: Desk, debate: Debate, judge: str) -> Ballot | None:
    ranked = debate.format.result == "ranking"
    ranking = await _ranking(desk, debate) if ranked else ()
    winner = next(iter(ranking), None) if ranked else await _winner(desk, debate)
    if winner is None:
        return None
    desk.tell("Why? Several lines if you like; an empty one ends it.")
    reason = await desk.lines("why ›")
    if not reason:
        return None
    cites = await _speeches(desk, debate)
    if not cites:
        return None
    return Ballot(judge, 0, winner or None, {}, reason, cites=cites, ranking=ranking)


async def _winner(desk: Desk, debate: Debate) -> str | None:
    """The id of a party, an empty one for a draw; None where they end it."""
    desk.tell(f"Who won? {', '.join(name(party) for party in parties(debate))}, or draw.")
    while (typed := await desk.line("winner ›")) is not None:
        if typed.strip().casefold() in TIES:
            return ""
        if found := _party(desk, debate, typed):
            return found
    return None


async def _ranking(desk: Desk, debate: Debate) -> tuple[str, ...]:
    sitting = parties(debate)
    desk.tell(f"Rank them, the best first, with commas: {', '.join(name(party) for party in sitting)}.")
    while (typed := await desk.line("ranking ›")) is not None:
        named = [_party(desk, debate, one) for one in typed.split(",") if one.strip()]
        ranking = tuple(one for one in named if one)
        if sorted(ranking) == sorted(party.id for party in sitting):
            return ranking
        desk.tell(f"Name each of the {len(sitting)} once.", "yellow")
    return ()


async def _speeches(desk: Desk, debate: Debate) -> tuple[int, ...]:
    desk.tell("Which speeches decide it? Their numbers, such as `1 3`.")
    for turn in speeches(debate):
        who = line(debate.seat(turn.seat).name)
        desk.tell(join((f"{turn.number:>3}  {who}", line(speech_title(debate, turn)), f"round {turn.round}")))
    while (typed := await desk.line("speeches ›")) is not None:
        try:
            if numbers := cited(debate, typed):
                return numbers
        except Invalid as invalid:
            desk.tell(str(invalid), "yellow")
    return ()


def cited(debate: Debate, given: str) -> tuple[int, ...]:
    """Numbers of speeches as people write them."""
    numbers = given.replace(",", " ").split()
    said = {str(turn.number): turn.number for turn in speeches(debate)}
    if strange := [number for number in numbers if number not in said]:
        raise Invalid(f"There is no speech {strange[0]}. There are: {', '.join(said)}.")
    return tuple(dict.fromkeys(said[number] for number in numbers))


def name(party: Party) -> str:
    return " and ".join(line(seat.name) for seat in party.seats)


def _party(desk: Desk, debate: Debate, given: str) -> str | None:
    try:
        return party_id(debate, given)
    except Invalid as invalid:
        desk.tell(str(invalid), "yellow")
        return None
