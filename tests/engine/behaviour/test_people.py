"""People in the room of a real arena: waited for by a clock, heard like models, and never called."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Fault, Invalid, Refused
from moot.core.events import (
    AsideAsked,
    CallCompleted,
    CallDelta,
    DebateEnded,
    DebateStarted,
    JudgingStarted,
    PointRaised,
    PollOpened,
    SeatLeft,
    TurnFailed,
    TurnStarted,
)
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.terms import FREE, Ballot, ChatMessage, Judge, Model, PartyScore, PollSettings, Request
from moot.engine.arena import Arena
from moot.models.registry import HumanProvider
from moot.providers.scripted import Cue, ScriptedProvider, WaitCue, improvise
from moot.providers.scripted import SayCue as Line
from moot.rules.commands import (
    Abort,
    Command,
    ExtendDebate,
    JudgeAgain,
    PauseDebate,
    ResumeDebate,
    Retry,
    SkipTurn,
    Stop,
)
from moot.rules.debate_setup import JudgeSetup, SeatSetup
from moot.rules.participation import (
    AnswerPoint,
    GiveSpeech,
    KeepDraft,
    LeaveSeat,
    OfferPoint,
    SubmitBallot,
    TakeSeat,
    draft,
)
from moot.rules.runner_decisions import NOBODY_SPOKE
from moot.settings import Settings
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore
from moot.testing.event_factories import call_started, opened, turn_started
from tests.engine.conftest import QUICK, OpenArena
from tests.engine.test_runner import MODEL, MOTION, until
from tests.rules.random_debates import blind

PERSON = Model("human", "ada")
UNDERSTUDY = Model("scripted", "understudy")
PATIENCE = 60


@pytest.fixture(params=["memory", "sqlite"])
async def arena(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Arena]:
    store = MemoryStore() if request.param == "memory" else SqliteStore.open(tmp_path / "moot.db")
    async with Arena.open(
        _settings(tmp_path), store=store, providers={"scripted": ScriptedProvider()}
    ) as arena:
        yield arena


def _settings(path: Path) -> Settings:
    return Settings(data=path, pace=QUICK)


async def begin(arena: Arena, stand_in: Model | None = None, **options: Any) -> str:
    """A person opens and a model answers, once each."""
    options.setdefault("seats", (SeatSetup(PERSON, stand_in=stand_in), SeatSetup(MODEL)))
    options = {"turns": 2, "judge": "none", **options} if "format" not in options else options
    setup = await arena.setup(MOTION, **options)
    return (await arena.create(setup, start=True)).debate.id


async def turn_of(arena: Arena, debate_id: str, seat: str = "part_1", after: int = 0) -> int:
    """Wait until this seat has the floor; the place in the log where it was given."""
    async with asyncio.timeout(PATIENCE):
        async for recorded in arena.follow(debate_id, after):
            if isinstance(recorded.event, TurnStarted) and recorded.event.seat == seat:
                return recorded.seq
    raise AssertionError("the stream ended")


async def ended(arena: Arena, debate_id: str) -> Debate:
    await asyncio.wait_for(until(arena, debate_id, DebateEnded), PATIENCE)
    return await arena.state(debate_id)


async def left_alone(arena: Arena, debate_id: str) -> Debate:
    """Wait until no runner holds the debate any more."""
    for _ in range(1000):
        if not (await arena.head(debate_id)).runner:
            return await arena.state(debate_id)
        await asyncio.sleep(0.005)
    raise AssertionError("a runner stayed")


# --- speaking -----------------------------------------------------------------------------------------


async def test_a_person_debates_with_a_model(arena: Arena) -> None:
    debate_id = await begin(arena, turns=4)
    place = await turn_of(arena, debate_id)
    await arena.ask(debate_id, GiveSpeech("part_1", "Cats purr."))
    await turn_of(arena, debate_id, after=place)
    await arena.ask(debate_id, GiveSpeech("part_1", "As I said."))
    debate = await ended(arena, debate_id)
    assert [(turn.seat, turn.state) for turn in debate.turns] == [
        ("part_1", "completed"), ("part_2", "completed"),
    ] * 2  # fmt: skip
    assert debate.turns[0].text == "Cats purr."
    assert (debate.turns[0].cost, debate.calls) == (0, ())
    assert "human/ada" in debate.tallies


async def test_the_model_hears_what_the_person_said(open_arena: OpenArena) -> None:
    script = ScriptedProvider()
    async with open_arena(script) as arena:
        debate_id = await begin(arena)
        await turn_of(arena, debate_id)
        await arena.ask(debate_id, GiveSpeech("part_1", "Cats purr."))
        await ended(arena, debate_id)
    assert len(script.calls) == 1
    assert "Cats purr." in _told(script.calls[0].messages)


def _told(messages: Iterable[ChatMessage]) -> str:
    return "\n".join(message.content for message in messages)


async def test_what_is_typed_reaches_whoever_follows(arena: Arena) -> None:
    debate_id = await begin(arena)
    await turn_of(arena, debate_id)
    for text in ("Cats", "Cats purr", "Cats purr."):
        await arena.ask(debate_id, KeepDraft("part_1", text, live=True))
    await arena.ask(debate_id, GiveSpeech("part_1"))
    await ended(arena, debate_id)
    events = [recorded.event for recorded in await arena.store.read(debate_id)]
    assert [e.text for e in events if isinstance(e, CallDelta) and e.call == 1] == ["Cats", " purr", "."]


async def test_of_two_who_press_enter_at_once_one_speaks(arena: Arena) -> None:
    debate_id = await begin(arena)
    await turn_of(arena, debate_id)
    tried = await asyncio.gather(
        *(arena.ask(debate_id, GiveSpeech("part_1", f"Speech {n}.")) for n in range(5)),
        return_exceptions=True,
    )
    assert sum(isinstance(result, Refused) for result in tried) == 4
    debate = await ended(arena, debate_id)
    assert sum(turn.seat == "part_1" for turn in debate.turns) == 1


# --- the clock ----------------------------------------------------------------------------------------


async def test_what_is_written_when_the_time_is_up_is_said(arena: Arena) -> None:
    debate_id = await begin(arena, person_seconds=0.5)
    await turn_of(arena, debate_id)
    await arena.ask(debate_id, KeepDraft("part_1", "Cats purr and"))
    turn = (await ended(arena, debate_id)).turns[0]
    assert (turn.text, turn.truncated, turn.state) == ("Cats purr and", "timeout", "completed")


async def test_without_a_word_the_stand_in_gives_the_speech(open_arena: OpenArena) -> None:
    script = ScriptedProvider()
    async with open_arena(script) as arena:
        debate_id = await begin(arena, UNDERSTUDY, person_seconds=0.05)
        debate = await ended(arena, debate_id)
        left = await until(arena, debate_id, SeatLeft)
    assert left.event == SeatLeft("part_1", "clock")
    assert [(turn.seat, turn.by) for turn in debate.turns] == [
        ("part_1", "absent"), ("part_1", ""), ("part_2", ""),
    ]  # fmt: skip
    assert [call.model.name for call in script.calls] == ["understudy", "demo"]


async def test_without_a_word_or_a_stand_in_the_speech_falls_out(arena: Arena) -> None:
    debate_id = await begin(arena, person_seconds=0.05)
    failed = await asyncio.wait_for(until(arena, debate_id, TurnFailed), PATIENCE)
    assert failed.event == TurnFailed(1, "timeout", NOBODY_SPOKE)
    debate = await ended(arena, debate_id)
    assert [turn.state for turn in debate.turns] == ["failed", "completed"]


async def test_who_is_given_more_time_has_it(arena: Arena) -> None:
    debate_id = await begin(arena, person_seconds=0.4)
    await turn_of(arena, debate_id)
    await arena.ask(debate_id, ExtendDebate(seconds=600))
    await asyncio.sleep(0.6)
    assert (await arena.state(debate_id)).is_live(1)
    await arena.ask(debate_id, GiveSpeech("part_1", "At last."))
    await ended(arena, debate_id)


async def test_a_model_that_is_given_more_time_has_it_too(open_arena: OpenArena) -> None:
    slow = ScriptedProvider(lambda _: [Line("First this."), WaitCue(0.8), Line(" Then that.")])
    async with open_arena(slow, replace(QUICK, between_bytes=PATIENCE)) as arena:
        debate_id = await begin(arena, model=MODEL, seats=(), turns=1, turn_seconds=0.4)
        await until(arena, debate_id, CallDelta)
        await arena.ask(debate_id, ExtendDebate(seconds=PATIENCE))
        debate = await ended(arena, debate_id)
    assert (debate.turns[0].text, debate.turns[0].truncated) == ("First this. Then that.", None)


async def test_whoever_waits_for_a_person_does_nothing_else(tmp_path: Path) -> None:
    class Watched(MemoryStore):
        looks = 0

        async def state(self, debate_id: str, upto: int | None = None) -> Debate:
            self.looks += 1
            return await super().state(debate_id, upto)

    store = Watched()
    async with Arena.open(
        _settings(tmp_path), store=store, providers={"scripted": ScriptedProvider()}
    ) as arena:
        debate_id = await begin(arena)
        await turn_of(arena, debate_id)
        for command in (PauseDebate(), ResumeDebate()):
            await arena.ask(debate_id, command)
            await asyncio.sleep(0.1)
            before = store.looks
            await asyncio.sleep(0.7)
            assert store.looks == before


# --- sitting down and leaving -------------------------------------------------------------------------


async def test_who_leaves_in_mid_speech_is_replaced_at_once(arena: Arena) -> None:
    debate_id = await begin(arena, UNDERSTUDY)
    await turn_of(arena, debate_id)
    await arena.ask(debate_id, KeepDraft("part_1", "Cats pu", live=True))
    await arena.ask(debate_id, LeaveSeat("part_1", "ada"))
    debate = await ended(arena, debate_id)
    assert [(turn.seat, turn.has_words) for turn in debate.turns] == [
        ("part_1", False), ("part_1", True), ("part_2", True),
    ]  # fmt: skip


@pytest.mark.parametrize("command", [Stop(), Abort(), SkipTurn()], ids=lambda c: type(c).__name__)
async def test_a_person_can_be_cut_short_and_nothing_stays_open(arena: Arena, command: Command) -> None:
    debate_id = await begin(arena, turns=1)
    await turn_of(arena, debate_id)
    await arena.ask(debate_id, KeepDraft("part_1", "Cats pu", live=True))
    await arena.ask(debate_id, command)
    await ended(arena, debate_id)
    debate = await left_alone(arena, debate_id)
    assert (debate.live, debate.calls) == ((), ())
    assert debate.turns[0].text == "Cats pu"


async def test_a_debate_that_is_deleted_waits_for_nobody(arena: Arena) -> None:
    debate_id = await begin(arena, polls=PollSettings(seconds=600))
    other = await begin(arena)
    await until(arena, debate_id, PollOpened)
    await turn_of(arena, other)
    for doomed in (debate_id, other):
        await arena.delete(doomed)
    runners = [task for task in asyncio.all_tasks() if task.get_name().startswith("runner of")]
    await asyncio.wait_for(asyncio.gather(*runners), PATIENCE)


# --- crashes and restarts -----------------------------------------------------------------------------


async def test_a_draft_survives_a_restart_and_the_person_goes_on(tmp_path: Path) -> None:
    providers = {"scripted": ScriptedProvider()}
    async with asyncio.timeout(PATIENCE), Arena.open(_settings(tmp_path), providers=providers) as arena:
        debate_id = await begin(arena)
        await turn_of(arena, debate_id)
        await arena.ask(debate_id, KeepDraft("part_1", "Cats", live=True))
        await arena.ask(debate_id, KeepDraft("part_1", "Cats purr."))
    async with Arena.open(_settings(tmp_path), providers=providers, recover=True) as arena:
        debate = await arena.state(debate_id)
        assert debate.is_live(1)
        assert draft(debate, "part_1") == "Cats purr."
        await arena.ask(debate_id, GiveSpeech("part_1"))
        debate = await ended(arena, debate_id)
    first, second = debate.turns
    assert (first.text, first.state, second.state) == ("Cats purr.", "completed", "completed")


async def test_a_process_that_dies_takes_no_persons_words_with_it(tmp_path: Path) -> None:
    first, second = opened().seats
    opening = opened(seats=(replace(first, model=PERSON), second), judges=())
    store = SqliteStore.open(tmp_path / "moot.db")
    spoken = (turn_started(), call_started(model="human/ada"), CallDelta(1, 0, "text", "Cats"))
    await store.record("deb_1", lambda _: (opening, DebateStarted(), *spoken))
    await store.claim("deb_1", "a-name-that-nobody-holds", seen_epoch=0)
    await store.close()
    providers = {"scripted": ScriptedProvider()}
    async with Arena.open(_settings(tmp_path), providers=providers, recover=True) as arena:
        await arena.ask("deb_1", GiveSpeech("for", "Cats purr."))
        await turn_of(arena, "deb_1", "against")
        turn = (await arena.state("deb_1")).turns[0]
        assert (turn.number, turn.text, turn.state) == (1, "Cats purr.", "completed")
        records = await arena.store.read("deb_1")
        assert sum(isinstance(recorded.event, CallCompleted) for recorded in records[:10]) == 1


async def test_judging_again_is_taken_up_after_a_restart(tmp_path: Path) -> None:
    providers = {"scripted": ScriptedProvider()}
    async with asyncio.timeout(PATIENCE), Arena.open(_settings(tmp_path), providers=providers) as arena:
        debate_id = await begin(arena, seats=(SeatSetup(MODEL), SeatSetup(MODEL)))
        await ended(arena, debate_id)
        await left_alone(arena, debate_id)
        await arena.ask(debate_id, JudgeAgain((Judge("judge_9", "Ada", PERSON),)))
        while not (await arena.head(debate_id)).runner:  # noqa: ASYNC110 - a store tells nobody of a claim
            await asyncio.sleep(0.005)
    async with Arena.open(_settings(tmp_path), providers=providers) as arena:
        assert not await arena.is_running(debate_id)
        assert await arena.recover() == 1
        debate = await arena.state(debate_id)
        assert (debate.status, debate.being_judged) == ("completed", True)
        await arena.ask(debate_id, SubmitBallot(Ballot("judge_9", 0, "part_1", {}, "Clear.", cites=(1,))))
        assert not (await left_alone(arena, debate_id)).being_judged


# --- blind openings -----------------------------------------------------------------------------------


# --- points of information ----------------------------------------------------------------------------


def with_points() -> Any:
    fmt = formats.load("oxford")
    phases = tuple(replace(phase, points_of_information=True) for phase in fmt.phases if phase.round == 1)
    return replace(fmt, phases=phases, repeat=None)


async def test_a_person_rises_on_a_point_and_the_model_takes_it_or_not(open_arena: OpenArena) -> None:
    def script(request: Request) -> Iterable[Cue]:
        return (
            improvise(request) if request.schema else [Line("One two three. "), WaitCue(0.2), Line("Four.")]
        )

    async with open_arena(ScriptedProvider(script), replace(QUICK, between_bytes=PATIENCE)) as arena:
        both = (SeatSetup(MODEL), SeatSetup(PERSON))
        debate_id = await begin(arena, format=with_points(), judge="none", rounds=1, seats=both)
        await until(arena, debate_id, CallDelta)
        await arena.ask(debate_id, OfferPoint("part_2", "What of dogs?"))
        raised = await asyncio.wait_for(until(arena, debate_id, PointRaised), PATIENCE)
    assert isinstance(raised.event, PointRaised)
    assert (raised.event.seat, raised.event.text) == ("part_2", "What of dogs?")


async def test_a_person_who_speaks_is_asked_whether_they_take_a_point(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(eager)) as arena:
        debate_id = await begin(arena, format=with_points(), judge="none", rounds=1)
        place = await turn_of(arena, debate_id)
        await arena.ask(debate_id, GiveSpeech("part_1", "Cats purr. They do."))
        async with asyncio.timeout(PATIENCE):
            async for recorded in arena.follow(debate_id):
                if isinstance(recorded.event, AsideAsked) and recorded.event.kind == "leave":
                    break
        await arena.ask(debate_id, AnswerPoint("part_1", accept=True))
        raised = await asyncio.wait_for(until(arena, debate_id, PointRaised), PATIENCE)
        assert isinstance(raised.event, PointRaised)
        assert raised.event.accepted
        await turn_of(arena, debate_id, after=place)
        debate = (await arena.ask(debate_id, GiveSpeech("part_1", "Dogs too."))).debate
    assert debate.turns[-1].tone == "continuation"


def eager(request: Request) -> Iterable[Cue]:
    """Whatever it is asked aside, it says yes; the names of the fields are the prompts' own business."""
    if request.schema is None:
        return improvise(request)
    fields: dict[str, dict[str, Any]] = request.schema["properties"]
    said = {name: True if kind["type"] == "boolean" else "What of dogs?" for name, kind in fields.items()}
    return [Line(json.dumps(said))]


# --- judging and voting -------------------------------------------------------------------------------


async def test_a_person_judges_beside_a_model(arena: Arena) -> None:
    judges = (JudgeSetup(PERSON, "Ada"), JudgeSetup(MODEL, "Demo"))
    both = (SeatSetup(MODEL), SeatSetup(MODEL))
    debate_id = await begin(arena, seats=both, judge=None, judges=judges)
    await asyncio.wait_for(until(arena, debate_id, JudgingStarted), PATIENCE)
    ballot = Ballot(
        "judge_1", 0, "part_2", {"part_1": PartyScore(60), "part_2": PartyScore(90)}, "Clear.", cites=(2,)
    )
    await arena.ask(debate_id, SubmitBallot(ballot))
    debate = await ended(arena, debate_id)
    assert debate.deciding_judging is not None
    assert ballot in debate.deciding_judging.ballots
    assert debate.verdict is not None


async def test_a_judge_who_never_comes_does_not_hold_the_debate_up(arena: Arena) -> None:
    judges = (JudgeSetup(PERSON, "Ada"), JudgeSetup(MODEL, "Demo"))
    both = (SeatSetup(MODEL), SeatSetup(MODEL))
    debate_id = await begin(arena, seats=both, judge=None, judges=judges, person_seconds=0.05)
    debate = await ended(arena, debate_id)
    assert debate.deciding_judging is not None
    assert debate.deciding_judging.spoiled == (("judge_1", 0),)


async def test_a_vote_with_a_clock_closes_by_itself(arena: Arena) -> None:
    both = (SeatSetup(MODEL), SeatSetup(MODEL))
    debate_id = await begin(arena, seats=both, polls=PollSettings(seconds=0.05))
    debate = await ended(arena, debate_id)
    assert [poll.name for poll in debate.polls if poll.closed_at] == ["before", "after"]


async def test_a_vote_without_a_clock_keeps_no_runner(arena: Arena) -> None:
    both = (SeatSetup(MODEL), SeatSetup(MODEL))
    debate_id = await begin(arena, seats=both, polls=PollSettings())
    await until(arena, debate_id, PollOpened)
    debate = await left_alone(arena, debate_id)
    assert debate.running


# --- all at once ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_people_do_a_debate_comes_to_its_end(
    open_arena: OpenArena, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    dice = random.Random(seed)
    deeds: tuple[Command, ...] = (
        GiveSpeech("part_1", "Cats purr."), GiveSpeech("part_2", "Dogs bark."), GiveSpeech("part_1"),
        PauseDebate(), PauseDebate(now=True),
        ResumeDebate(), ResumeDebate(), SkipTurn(), ExtendDebate(seconds=1),
        LeaveSeat("part_1"), TakeSeat("part_1", "eve"),
        TakeSeat("part_2", "bob"), LeaveSeat("part_2"), KeepDraft("part_1", "Cats", live=True),
        KeepDraft("part_1", "Cats p", live=True), KeepDraft("part_1", "Dogs", live=True), Retry(),
        AnswerPoint("part_1", accept=True), OfferPoint("part_1", "Why?"),
    )  # fmt: skip
    async with open_arena(ScriptedProvider(pace=0.0005)) as arena:
        fmt = blind() if seed % 2 else with_points()
        debate_id = await begin(arena, UNDERSTUDY, format=fmt, judge="none", rounds=2, person_seconds=0.2)
        for _ in range(80):
            with contextlib.suppress(Refused, Invalid):
                await arena.ask(debate_id, dice.choice(deeds))
            await asyncio.sleep(dice.random() * 0.01)
        with contextlib.suppress(Refused):
            await arena.ask(debate_id, ResumeDebate())
        with contextlib.suppress(Refused):
            await arena.ask(debate_id, ExtendDebate(seconds=0.01))
        await ended(arena, debate_id)
        debate = await left_alone(arena, debate_id)
        records = await arena.store.read(debate_id, limit=10_000)
    assert (debate.live, debate.calls, debate.open_asides) == ((), (), ())
    assert not debate.remaining_slots()
    assert fold(records) == debate
    assert not caplog.records


# --- as a provider ------------------------------------------------------------------------------------


async def test_a_person_costs_nothing_and_is_never_the_default(open_arena: OpenArena) -> None:
    async with open_arena() as arena:
        assert arena.model("human") == Model("human", "human", price=FREE)
        assert arena.model("human/ada").label == "human/ada"
        setup = await arena.setup(MOTION, models=["human", MODEL], cost_limit=1)
        assert [seat.model.human for seat in setup.seats] == [True, False]
        assert not setup.judges[0].model.human


async def test_a_person_cannot_be_called() -> None:
    request = Request(PERSON, "", (), 10)
    with pytest.raises(Fault, match="speak up"):
        await anext(HumanProvider().stream(request))
