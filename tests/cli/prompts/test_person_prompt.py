"""Somebody at a terminal, asked when the debate waits for them: with a script for the models, and a pipe."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from moot.cli.follow import show_records
from moot.cli.local import LocalSource
from moot.cli.prompts.ask_people import PendingPrompt, PeoplePrompts, pending_prompt
from moot.cli.prompts.person_prompt import Keyboard
from moot.cli.render.screens import EventLines
from moot.cli.visible_records import PeopleHere, VisibleRecords, all_people, person_at
from moot.core.events import AsideAsked, BallotCast, CallDelta, DebatePaused, JudgingStarted
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.terms import FREE, HUMAN, Ballot, Judge, Model, Request
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, improvise
from moot.rules.debate_setup import SeatSetup
from moot.settings import Settings
from moot.store.memory import MemoryStore
from moot.testing.event_factories import call_started
from tests.views.logs import Log, judge, seat

PERSON = Model(HUMAN, HUMAN, price=FREE)


@contextmanager
def typing(text: str) -> Generator[Keyboard]:
    """A keyboard on which all of this is typed, and nothing more."""
    ours, theirs = os.pipe()
    os.write(theirs, text.encode())
    os.close(theirs)
    try:
        yield Keyboard(ours)
    finally:
        os.close(ours)


def rising(request: Request) -> Iterable[Cue]:
    """A debater who rises on every point of information."""
    if request.schema is not None and "rise" in request.schema["properties"]:
        return (SayCue('{"rise": true, "point": "And who pays?"}'),)
    return improvise(request)


async def held(tmp_path: Path, text: str, **options: object) -> tuple[Debate, list[str]]:
    """A debate with a person in the first seat who types this, and how often they left before the end."""
    left: list[str] = []
    providers = {"scripted": ScriptedProvider(rising)}
    async with LocalSource.open(Settings(data=tmp_path), store=MemoryStore(), providers=providers) as arena:
        seats = (SeatSetup(model=PERSON), SeatSetup(model=arena.model("scripted/demo")))
        setup = await arena.setup("Tea is better", seats=seats, judge="none", **options)
        debate = (await arena.create(setup, start=True)).debate
        with typing(text) as keyboard:
            talk = PeoplePrompts(
                arena, debate, EventLines(), all_people(debate), lambda: left.append("left"), keyboard
            )
            await show_records(talk.follow(arena.watch(debate.id), None), talk)
            await talk.end()
        return await arena.state(debate.id), left


async def test_a_speaker_takes_one_point_and_declines_the_next(tmp_path: Path):
    typed = "First.\n\nperhaps\nyes\nMore.\n\nSecond.\n\nn\nMore.\n\nThird.\n\nno\nMore.\n\nReply.\n\n"
    debate, left = await held(tmp_path, typed, format="world-schools")
    own = [point for point in debate.points if point.seat == "part_2"]
    assert [point.accepted for point in own] == [True, False, False]
    assert debate.status == "completed"
    assert left == []


async def test_what_is_typed_is_read_as_it_is_needed_and_not_before(tmp_path: Path):
    debate, _ = await held(tmp_path, "\n\nOne.\n\nTwo.\nlines.\n\nThree.", format="oxford", rounds=3)
    said = [turn.text for turn in debate.turns if turn.seat == "part_1"]
    assert said == ["One.", "Two.\nlines.", "Three."]


def log_with_people() -> Log:
    seats = (replace(seat("for"), model=PERSON), seat("against"))
    return Log(seats=seats, judges=(Judge("judge", "Judge", PERSON),)).start()


def test_what_is_wanted_of_whom():
    log = log_with_people()
    who = all_people(log.debate)
    assert who == PeopleHere(("for",), ("judge",))
    assert pending_prompt(log.debate, who) is None
    turn = log.begin("for")
    assert pending_prompt(log.debate, who) == PendingPrompt("speech", turn, "for")
    assert pending_prompt(log.debate, PeopleHere(("against",))) is None
    log.add(AsideAsked(1, "leave", 0, "for"))
    assert pending_prompt(log.debate, who) == PendingPrompt("point", 1, "for")
    log.add(DebatePaused())
    assert pending_prompt(log.debate, who) is None


def test_a_judge_in_person_is_wanted_when_the_judging_begins():
    log = log_with_people().say("against", "No.").add(JudgingStarted(1, "rounds"))
    assert pending_prompt(log.debate, all_people(log.debate)) == PendingPrompt("ballot", 1, "judge")
    assert person_at(log.debate, "Judge") == PeopleHere(judges=("judge",))
    assert person_at(log.debate, "against") == PeopleHere(seats=("against",))


def test_who_judges_reads_no_other_ballot_before_the_verdict_but_their_own():
    judges = (judge("model"), Judge("ann", "Ann", PERSON), Judge("bob", "Bob", PERSON))
    log = Log(judges=judges, seats=(replace(seat("for"), model=PERSON), seat("against")))
    log.start().say("against", "No.").add(JudgingStarted(1, "rounds"))
    log.add(call_started(9, None, judge="model"), CallDelta(9, 0, "text", "Birch is better."))
    log.add(BallotCast(1, Ballot("model", 0, "for", {}, "Clear.")))
    log.add(BallotCast(1, Ballot("ann", 0, "for", {}, "Clear.")))
    who = all_people(log.debate)
    eyes = VisibleRecords(who)
    shown = [one for recorded in log.records for one in eyes.visible(recorded)]
    events = [one.event for one in shown]
    assert [event.ballot.judge for event in events if isinstance(event, BallotCast)] == ["ann"]
    assert not any(isinstance(event, CallDelta) and event.call == 9 for event in events)
    debate = fold(shown)
    assert debate is not None
    assert pending_prompt(debate, who) == PendingPrompt("ballot", 1, "bob")
