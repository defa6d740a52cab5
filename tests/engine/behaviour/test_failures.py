"""When processes die, stores fail and providers misbehave: what is left behind, and who takes it up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.errors import Fault, StoreError
from moot.core.events import (
    AsideAnswered,
    AsideFailed,
    CallDelta,
    CallFailed,
    CallStarted,
    DebateEnded,
    DebateFailed,
    DebateStarted,
)
from moot.core.pricing import estimate_usage, plausible_usage
from moot.core.state import Debate
from moot.core.terms import FREE, Model, Reasoning, ReasoningPart, Request, Slot, Usage
from moot.engine.arena import Arena
from moot.engine.call import CallResult
from moot.extension import Extension, SideQuestion, SideQuestions, using
from moot.providers.contract import Chunk, Provider, ReplyDelta, ReplyDone, ReplySegment, Traits
from moot.providers.prices import flat_price
from moot.providers.scripted import FaultCue, SayCue, ScriptedProvider, StallCue, improvise
from moot.rules.commands import Abort, Command, DecideWinner, SkipTurn, Stop
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from moot.store.contract import RecordResult
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore
from moot.testing.event_factories import call_started, opened, turn_started
from tests.engine.conftest import QUICK, OpenArena
from tests.engine.test_runner import begin, play, until

MODEL = Model("scripted", "demo")


async def left_behind(path: Path) -> None:
    """A debate whose process died in mid-speech."""
    store = SqliteStore.open(path / "moot.db")
    await store.record("deb_1", lambda _: (opened(), DebateStarted(), turn_started(), call_started()))
    await store.claim("deb_1", "a-name-that-nobody-holds", seen_epoch=0)
    await store.close()


async def settled(arena: Arena) -> Debate:
    for _ in range(500):
        debate = await arena.state("deb_1")
        if not debate.calls and not debate.live and not (await arena.head("deb_1")).runner:
            return debate
        await asyncio.sleep(0.01)
    raise AssertionError("a call stayed open")


@pytest.mark.parametrize("command", [Abort(), DecideWinner(None), Stop()])
async def test_ending_what_a_dead_process_left_settles_its_call(tmp_path: Path, command: Command) -> None:
    await left_behind(tmp_path)
    settings = Settings(data=tmp_path, pace=QUICK)
    async with Arena.open(settings, providers={"scripted": ScriptedProvider()}) as arena:
        debate = (await arena.ask("deb_1", command)).debate
        assert debate.final
        assert (debate.calls, debate.live) == ((), ())


async def test_a_call_that_outlived_its_debate_is_settled_at_the_next_start(tmp_path: Path) -> None:
    await left_behind(tmp_path)
    store = SqliteStore.open(tmp_path / "moot.db")
    await store.record("deb_1", lambda _: (DebateEnded("aborted"),))
    await store.close()
    settings = Settings(data=tmp_path, pace=QUICK)
    async with Arena.open(settings, providers={"scripted": ScriptedProvider()}, recover=True) as arena:
        assert (await settled(arena)).status == "aborted"


async def test_what_is_asked_while_a_runner_leaves_is_not_lost(tmp_path: Path) -> None:
    """Another process sees a living runner and leaves the debate to it; the runner looks once more."""

    class Late(SqliteStore):
        late = True

        async def claim(self, debate_id: str, runner: str, **epochs: Any) -> int:
            epoch = await super().claim(debate_id, runner, **epochs)
            if not runner and self.late:
                self.late = False
                await self.record(debate_id, lambda _: (DebateStarted(),))
            return epoch

    store = Late.open(tmp_path / "moot.db")
    await store.record("deb_1", lambda _: (opened(),))
    settings = Settings(data=tmp_path, pace=QUICK)
    async with Arena.open(settings, store=store, providers={"scripted": ScriptedProvider()}) as arena:
        arena.run("deb_1")
        await asyncio.wait_for(until(arena, "deb_1", DebateEnded), 60)


class Moody(MemoryStore):
    """Fails when it is told to."""

    broken = False
    hiccups = 0

    async def record(self, *args: Any, **options: Any) -> RecordResult:
        if self.broken:
            raise StoreError("The disk is full.")
        return await super().record(*args, **options)

    async def state(self, debate_id: str, upto: int | None = None) -> Debate:
        if self.hiccups:
            self.hiccups -= 1
            raise StoreError
        return await super().state(debate_id, upto)


async def test_closing_does_not_wait_for_a_store_that_fails(tmp_path: Path) -> None:
    store = Moody()
    settings = Settings(data=tmp_path, pace=QUICK)
    async with Arena.open(
        settings, store=store, providers={"scripted": ScriptedProvider(pace=0.01)}
    ) as arena:
        debate_id = await begin(arena, turns=4)
        await until(arena, debate_id, CallDelta)
        store.broken = True
        closing = asyncio.create_task(arena.close())
        await asyncio.wait_for(closing, 60)


async def test_a_hiccup_of_the_store_does_not_make_a_runner_deaf(tmp_path: Path) -> None:
    store = Moody()
    settings = Settings(data=tmp_path, pace=QUICK)
    provider = ScriptedProvider(
        lambda r: improvise(r) if r.schema else [SayCue("Well,"), StallCue()], traits=Traits(deadlines=False)
    )
    async with Arena.open(settings, store=store, providers={"scripted": provider}) as arena:
        debate_id = await begin(arena, turns=2)
        seen = await until(arena, debate_id, CallDelta)
        store.hiccups = 1
        await arena.ask(debate_id, SkipTurn())
        failed = await asyncio.wait_for(until(arena, debate_id, CallFailed, after=seen.seq), 60)
        assert isinstance(failed.event, CallFailed)
        assert failed.event.kind == "cut"


class Jumbled(Provider):
    """A provider that numbers its segments carelessly."""

    traits = Traits()

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        self.sent = request
        for text, kind in (("One.", "text"), ("SECRET", "reasoning"), (" Two.", "text")):
            yield ReplyDelta(text, kind)  # type: ignore[arg-type]
        yield ReplyDone()

    async def close(self) -> None:
        pass


async def test_thoughts_never_become_words_whatever_their_number(open_arena: OpenArena) -> None:
    provider = Jumbled()
    async with open_arena(jumbled=provider) as arena:
        debate, _ = await play(arena, model=Model("jumbled", "x"), turns=2, judge="none")
    assert [turn.text for turn in debate.turns] == ["One. Two."] * 2
    assert "SECRET" not in str(provider.sent)


class Late(Jumbled):
    """It thinks aloud, says so when it has done, begins its speech and never ends it."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        self.asked.append(request)
        yield ReplyDelta("SECRET plan.")
        yield ReplySegment(Reasoning((ReasoningPart("SECRET plan."),), 0))
        yield ReplyDelta("Well.", "text", 1)
        await asyncio.Event().wait()


async def test_thoughts_that_were_taken_for_speech_reach_nobody_even_if_the_speech_is_cut(
    open_arena: OpenArena,
) -> None:
    provider = Late()
    patient = RunnerTimings(retry_base=0.001, first_byte=5, between_bytes=5, tick=0.001)
    async with open_arena(late=provider, pace=patient) as arena:
        debate, _ = await play(arena, model=Model("late", "x"), turns=2, judge="none", turn_seconds=0.1)
    assert [(turn.text, turn.reasoning) for turn in debate.turns] == [("Well.", "SECRET plan.")] * 2
    assert len(provider.asked) == 2
    assert "SECRET" not in str(provider.asked)


def test_heard_keeps_thoughts_and_words_of_one_segment_apart() -> None:
    heard = CallResult()
    heard.add_delta(0, "reasoning", "hm")
    heard.add_delta(0, "text", "yes")
    assert (heard.text, heard.reasoning) == ("yes", "hm")


async def test_words_of_a_struck_attempt_are_nobodys_speech(open_arena: OpenArena) -> None:
    script = ScriptedProvider(lambda _: [SayCue("STRUCK"), FaultCue(Fault("overloaded", retry_after=0.5))])
    async with open_arena(script) as arena:
        debate_id = await begin(arena, turns=2, judge="none")
        await until(arena, debate_id, CallFailed)
        await arena.ask(debate_id, SkipTurn())
        assert (await arena.state(debate_id)).turns[0].text == ""


async def test_a_provider_that_is_gone_is_named(tmp_path: Path, open_arena: OpenArena) -> None:
    async with open_arena() as arena:
        debate, events = await play(arena, model=Model("nowhere", "x"), turns=2, judge="none")
    assert debate.status == "error"
    failed = events[-1]
    assert isinstance(failed, DebateFailed)
    assert "no provider called 'nowhere'" in failed.detail


async def test_under_a_limit_a_model_is_cut_at_what_was_reserved(open_arena: OpenArena) -> None:
    endless = ScriptedProvider(lambda r: (SayCue("and on ") for _ in range(1_000_000)))
    costly = Model("scripted", "demo", max_tokens=100, price=flat_price(Decimal(1), Decimal(1)))
    free = replace(costly, price=FREE)
    async with open_arena(endless) as arena:
        held, _ = await play(arena, model=costly, turns=1, judge="none", cost_limit=1)
        let, _ = await play(arena, model=free, turns=1, judge="none", cost_limit=1)
    assert held.turns[0].truncated == let.turns[0].truncated == "cap"
    assert len(held.turns[0].text) <= 4 * 100 + 10
    # What costs nothing is cut only where it would never stop.
    assert len(let.turns[0].text) > 15 * 100


@pytest.mark.parametrize("told", [Usage(0, 100), Usage(100, 10), Usage(20, 100)])
def test_usage_that_is_too_good_to_be_true_is_doubted(told: Usage) -> None:
    kept = plausible_usage(told, estimate_usage(100, 100), 400, 400)
    assert kept.suspect
    assert (kept.input, kept.output) == (100, 100)


def test_usage_that_may_be_true_is_believed() -> None:
    assert plausible_usage(Usage(60, 75), estimate_usage(100, 100), 400, 400) == Usage(60, 75)


async def test_a_question_that_its_extension_cannot_put_is_not_sent_and_the_debate_goes_on(
    open_arena: OpenArena,
) -> None:
    def broken(*_: object) -> Request:
        raise ValueError("oops")

    def before(_debate: Debate, coming: tuple[Slot, ...]) -> list[SideQuestion]:
        return [SideQuestion("mood.feeling", slot.index, slot.seat) for slot in coming]

    asked = SideQuestions(
        kinds=("mood.feeling",),
        request=broken,
        read=lambda _debate, aside, _reply: AsideAnswered(aside.number),
        before=lambda _debate, coming: (
            SideQuestion("mood.feeling", slot.index, slot.seat) for slot in coming
        ),
    )
    with using(Extension("mood", side_questions=lambda: asked)) as found:
        async with open_arena() as arena:
            debate, events = await play(arena, format="oxford", rounds=1)
    assert debate.verdict is not None
    assert [one.state for one in debate.asides] == ["failed"]
    assert [event.message for event in events if isinstance(event, AsideFailed)] == [
        "The extension that asks this failed (ValueError) and is left out."
    ]
    assert not any(isinstance(event, CallStarted) and event.aside for event in events)
    assert found.failures == {"mood": "ValueError: oops"}
