"""A ballot filled in at this terminal: the winner, the reasons, the key speeches."""

from __future__ import annotations

from moot.cli.lookup import TIE_WORDS, party_id
from moot.cli.prompts.person_prompt import PersonPrompt
from moot.cli.render.output import join
from moot.core.errors import Invalid
from moot.core.state import Debate
from moot.core.terms import Ballot
from moot.judging.judged_speeches import speeches
from moot.judging.parties import Party, parties
from moot.rules.participation import SubmitBallot
from moot.views.text import single_line
from moot.views.transcript import speech_title


async def fill_in_ballot(person: PersonPrompt, debate: Debate, judge: str) -> None:
    """Ask until the ballot is cast. Ending the input without an answer leaves, as Ctrl-C does."""
    person.say(f"You judge: {single_line(debate.judge(judge).name)}.", "bold")
    while (ballot := await _ballot(person, debate, judge)) is not None:
        if await person.run_command(SubmitBallot(ballot)):
            person.say("Your ballot is cast.")
            return
    person.leave()


async def _ballot(person: PersonPrompt, debate: Debate, judge: str) -> Ballot | None:
    ranked = debate.format.result == "ranking"
    ranking = await _ranking(person, debate) if ranked else ()
    winner = next(iter(ranking), None) if ranked else await _winner(person, debate)
    if winner is None:
        return None
    person.say("Why? Several lines if you like; an empty one ends it.")
    reason = await person.lines("why ›")
    if not reason:
        return None
    cites = await _speeches(person, debate)
    if not cites:
        return None
    return Ballot(judge, 0, winner or None, {}, reason, cites=cites, ranking=ranking)


async def _winner(person: PersonPrompt, debate: Debate) -> str | None:
    """Return the id of a party, empty for a draw; None where they end the input."""
    person.say(f"Who won? {', '.join(party_name(party) for party in parties(debate))}, or draw.")
    while (typed := await person.line("winner ›")) is not None:
        if typed.strip().casefold() in TIE_WORDS:
            return ""
        if chosen := _party(person, debate, typed):
            return chosen
    return None


async def _ranking(person: PersonPrompt, debate: Debate) -> tuple[str, ...]:
    sitting = parties(debate)
    person.say(
        f"Rank them, the best first, with commas: {', '.join(party_name(party) for party in sitting)}."
    )
    while (typed := await person.line("ranking ›")) is not None:
        named = [_party(person, debate, one) for one in typed.split(",") if one.strip()]
        ranking = tuple(one for one in named if one)
        if sorted(ranking) == sorted(party.id for party in sitting):
            return ranking
        person.say(f"Name each of the {len(sitting)} once.", "yellow")
    return ()


async def _speeches(person: PersonPrompt, debate: Debate) -> tuple[int, ...]:
    person.say("Which speeches decide it? Their numbers, such as `1 3`.")
    for turn in speeches(debate):
        who = single_line(debate.seat(turn.seat).name)
        person.say(
            join((f"{turn.number:>3}  {who}", single_line(speech_title(debate, turn)), f"round {turn.round}"))
        )
    while (typed := await person.line("speeches ›")) is not None:
        try:
            if numbers := cited_turns(debate, typed):
                return numbers
        except Invalid as invalid:
            person.say(str(invalid), "yellow")
    return ()


def cited_turns(debate: Debate, typed: str) -> tuple[int, ...]:
    """Return the speeches that people name by number. Raises Invalid for an unknown one."""
    numbers = typed.replace(",", " ").split()
    by_number = {str(turn.number): turn.number for turn in speeches(debate)}
    if strange := [number for number in numbers if number not in by_number]:
        raise Invalid(f"There is no speech {strange[0]}. Known: {', '.join(by_number)}.")
    return tuple(dict.fromkeys(by_number[number] for number in numbers))


def party_name(party: Party) -> str:
    return " and ".join(single_line(seat.name) for seat in party.seats)


def _party(person: PersonPrompt, debate: Debate, typed: str) -> str | None:
    try:
        return party_id(debate, typed)
    except Invalid as invalid:
        person.say(str(invalid), "yellow")
        return None
