"""The engine as a whole: what a debate does when models, people and clocks behave as they do."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from moot.core.errors import Fault, Refused, UnknownDebate
from moot.core.events import (
    BallotSpoiled,
    CallDelta,
    CallFailed,
    DebateEnded,
    DebatePaused,
    DebateResumed,
    Event,
    Recorded,
    TurnCompleted,
    TurnStarted,
    VerdictReached,
)
from moot.core.state import Debate
from moot.core.terms import Model, Request
from moot.engine.arena import Arena
from moot.providers.scripted import (
    Cue,
    FaultCue,
    RefuseCue,
    SayCue,
    ScriptedProvider,
    StallCue,
    ThinkCue,
    WaitCue,
    improvise,
)
from moot.rules.commands import (
    JudgeNow,
    PauseDebate,
    ResumeDebate,
    SkipTurn,
)
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from tests.core.sample_events import tag_of
from tests.engine.conftest import OpenArena

MOTION = "Should AI development be regulated by government?"
MODEL = Model("scripted", "demo")


async def play(arena: Arena, **options: object) -> tuple[Debate, list[Event]]:
    """A whole debate: its final state and its events."""
    options.setdefault("model", MODEL)
    records = [recorded async for recorded in arena.debate(MOTION, **options)]
    return await arena.state(records[0].debate), [recorded.event for recorded in records]


async def begin(arena: Arena, **options: object) -> str:
    options.setdefault("model", MODEL)
    debate_id = (await arena.create(await arena.setup(MOTION, **options))).debate.id
    await arena.start(debate_id)
    return debate_id


async def until(arena: Arena, debate_id: str, *kinds: type[Event], after: int = 0) -> Recorded:
    async for recorded in arena.follow(debate_id, after):
        if isinstance(recorded.event, kinds):
            return recorded
    raise AssertionError("the stream ended")


def judging_only(request: Request) -> bool:
    return request.schema is not None


async def test_a_debate_runs_from_opening_to_verdict(open_arena: OpenArena) -> None:
    async with open_arena() as arena:
        debate, events = await play(arena, format="oxford", rounds=3)
    assert debate.status == "completed"
    assert [turn.phase for turn in debate.turns] == ["opening"] * 2 + ["rebuttal"] * 2 + ["closing"] * 2
    assert debate.verdict is not None
    assert [tag_of(event) for event in events[:4]] == [
        "debate.opened", "debate.started", "debate.ready", "round.started",
    ]  # fmt: skip
    assert isinstance(events[-1], DebateEnded)


async def test_what_is_streamed_is_what_is_kept(open_arena: OpenArena) -> None:
    script = ScriptedProvider(
        lambda r: improvise(r) if r.schema else [ThinkCue("Hm, well."), SayCue("One two  three.\n")]
    )
    async with open_arena(script) as arena:
        debate, events = await play(arena, turns=2)
    for turn in debate.turns:
        deltas = [e for e in events if isinstance(e, CallDelta) and e.call == turn.call]
        assert "".join(e.text for e in deltas if e.kind == "text") == turn.text == "One two  three.\n"
        assert "".join(e.text for e in deltas if e.kind == "reasoning") == turn.reasoning == "Hm, well."


async def test_a_pause_lets_the_speaker_finish(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(pace=0.002)) as arena:
        debate_id = await begin(arena, turns=4)
        await until(arena, debate_id, CallDelta)
        await arena.ask(debate_id, PauseDebate())
        await until(arena, debate_id, TurnCompleted)
        await asyncio.sleep(0.05)
        debate = await arena.state(debate_id)
        assert debate.status == "paused"
        assert [turn.state for turn in debate.turns] == ["completed"]
        assert not debate.live
        await arena.ask(debate_id, ResumeDebate())
        await until(arena, debate_id, DebateEnded)
        assert len((await arena.state(debate_id)).turns) == 4


async def test_pause_now_cuts_the_speaker_who_speaks_again_later(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(pace=0.005)) as arena:
        debate_id = await begin(arena, turns=2)
        await until(arena, debate_id, CallDelta)
        await arena.ask(debate_id, PauseDebate(now=True))
        failed = await until(arena, debate_id, CallFailed)
        assert isinstance(failed.event, CallFailed)
        assert failed.event.kind == "cut"
        await arena.ask(debate_id, ResumeDebate())
        await until(arena, debate_id, DebateEnded)
        turns = (await arena.state(debate_id)).turns
        assert [(turn.slot, turn.state) for turn in turns] == [
            (0, "interrupted"), (0, "completed"), (1, "completed"),
        ]  # fmt: skip


async def test_a_skipped_speaker_keeps_the_words_said(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(pace=0.005)) as arena:
        debate_id = await begin(arena, turns=2, judge="none")
        await until(arena, debate_id, CallDelta)
        await arena.ask(debate_id, SkipTurn())
        await until(arena, debate_id, DebateEnded)
        first, second = (await arena.state(debate_id)).turns
        assert (first.state, first.by) == ("interrupted", "skip")
        assert second.state == "completed"


async def test_a_transient_fault_is_tried_three_times_more(open_arena: OpenArena) -> None:
    def script(request: Request) -> Iterable[Cue]:
        if request.attempt <= 3 and request.schema is None:
            return [SayCue("I was about to"), FaultCue(Fault("overloaded", http_status=529))]
        return improvise(request)

    async with open_arena(ScriptedProvider(script)) as arena:
        debate, events = await play(arena, turns=2)
    assert [turn.attempt for turn in debate.turns] == [4, 4]
    assert all("about to" not in turn.text for turn in debate.turns)
    assert sum(isinstance(event, CallFailed) for event in events) == 6


async def test_silence_is_a_fault_and_a_stall_too(open_arena: OpenArena) -> None:
    def script(request: Request) -> Iterable[Cue]:
        if request.schema is None and request.attempt == 1:
            return [StallCue()]
        if request.schema is None and request.attempt == 2:
            return [SayCue("Well"), StallCue()]
        return improvise(request)

    async with open_arena(ScriptedProvider(script)) as arena:
        _, events = await play(arena, turns=1)
    assert [event.kind for event in events if isinstance(event, CallFailed)] == ["timeout", "stalled"]


async def test_when_the_time_is_up_the_words_said_stand(open_arena: OpenArena) -> None:
    async with open_arena(
        ScriptedProvider(lambda r: improvise(r) if r.schema else [SayCue("So far."), WaitCue(5)])
    ) as arena:
        debate, _ = await play(arena, turns=2, turn_seconds=0.1)
    assert [(turn.state, turn.truncated, turn.text) for turn in debate.turns] == [
        ("completed", "timeout", "So far."), ("completed", "timeout", "So far."),
    ]  # fmt: skip
    assert debate.status == "completed"


async def test_an_empty_answer_gets_one_more_chance(open_arena: OpenArena) -> None:
    provider = ScriptedProvider(lambda r: improvise(r) if r.schema else [ThinkCue("Hm.")])
    async with open_arena(provider) as arena:
        debate, _ = await play(arena, turns=2)
    assert [turn.by for turn in debate.turns] == ["empty", "empty"]
    assert len(provider.calls) == 4


async def test_a_refusal_is_a_turn(open_arena: OpenArena) -> None:
    async with open_arena(
        ScriptedProvider(lambda r: improvise(r) if r.schema else [RefuseCue("I'd rather not.")])
    ) as arena:
        debate, _ = await play(arena, turns=1)
    assert debate.turns[0].refusal
    assert debate.turns[0].text == "I'd rather not."


async def test_a_model_that_never_stops_is_cut(open_arena: OpenArena) -> None:
    endless = ScriptedProvider(
        lambda r: improvise(r) if r.schema else (SayCue("and on ") for _ in range(1_000_000))
    )
    async with open_arena(endless) as arena:
        debate, _ = await play(arena, turns=1, model=Model("scripted", "demo", max_tokens=50))
    assert debate.turns[0].truncated == "cap"
    assert len(debate.turns[0].text) <= 50 * 16 + 10


async def test_a_judge_who_cannot_be_read_gives_no_verdict(open_arena: OpenArena) -> None:
    provider = ScriptedProvider(lambda r: [SayCue('{"winner": "Birch"}')] if r.schema else improvise(r))
    async with open_arena(provider) as arena:
        debate, events = await play(arena, turns=2)
        assert (debate.status, debate.failure, debate.verdict) == ("error", "judge_failed", None)
        assert sum(isinstance(event, BallotSpoiled) for event in events) == 2
        assert not any(isinstance(event, VerdictReached) for event in events)
        again = await arena.ask(debate.id, JudgeNow())
        assert again.debate.status == "judging"


async def test_deleting_a_running_debate_ends_its_call_and_its_streams(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(pace=0.01)) as arena:
        debate_id = await begin(arena, turns=10)
        await until(arena, debate_id, CallDelta)
        following = asyncio.create_task(_drain(arena, debate_id))
        await asyncio.sleep(0)
        await arena.delete(debate_id)
        await asyncio.wait_for(following, 60)
        with pytest.raises(UnknownDebate):
            await arena.state(debate_id)


async def _drain(arena: Arena, debate_id: str) -> None:
    async for _ in arena.follow(debate_id):
        pass


async def test_closing_the_arena_parks_the_turn(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(pace=0.01)) as arena:
        debate_id = await begin(arena, turns=2)
        await until(arena, debate_id, CallDelta)
        store = arena.store
    debate = await store.state(debate_id)
    assert [(turn.state, turn.by) for turn in debate.turns] == [("interrupted", "drain")]
    assert not debate.calls


async def test_reasoning_reaches_nobody_else(open_arena: OpenArena) -> None:
    script = ScriptedProvider(lambda r: [ThinkCue("SECRET"), *improvise(r)])
    async with open_arena(script) as arena:
        await play(arena, turns=4)
    assert all("SECRET" not in str(call) for call in script.calls)


async def test_no_turn_starts_after_an_acknowledged_pause(tmp_path: Path) -> None:
    dice = random.Random(7)
    provider = ScriptedProvider(pace=0.0002)
    settings = Settings(data=tmp_path, pace=RunnerTimings(tick=0.001))
    async with Arena.open(settings, providers={"scripted": provider}) as arena:

        async def harass() -> list[Event]:
            debate_id = await begin(arena, turns=20, judge="none")
            while not (debate := await arena.state(debate_id)).final:
                await asyncio.sleep(dice.random() * 0.02)
                with contextlib.suppress(Refused):
                    await arena.ask(debate_id, PauseDebate())
                await asyncio.sleep(dice.random() * 0.02)
                with contextlib.suppress(Refused):
                    await arena.ask(debate_id, ResumeDebate())
            return [recorded.event for recorded in await arena.store.read(debate.id, limit=10_000)]

        logs = await asyncio.gather(*(harass() for _ in range(15)))
    paused = False
    pauses = 0
    for event in (event for log in logs for event in log):
        if isinstance(event, DebatePaused | DebateResumed):
            paused = isinstance(event, DebatePaused)
            pauses += paused
        assert not (paused and isinstance(event, TurnStarted))
    assert pauses > 100


async def test_a_judge_that_takes_no_schema_is_asked_in_words_and_still_gives_a_verdict(
    open_arena: OpenArena,
) -> None:
    asked: list[Request] = []

    def script(request: Request) -> Iterable[Cue]:
        if judging_only(request):
            asked.append(request)
            return [FaultCue(Fault("schema_refused", "unusable"))]
        if asked and request.instructions == asked[-1].instructions:
            # The same judge again, now without a schema: it knows from words alone what is wanted.
            return improvise(asked[-1])
        return [*improvise(request)]

    async with open_arena(ScriptedProvider(script)) as arena:
        debate, events = await play(arena, format="oxford", rounds=1)
    assert debate.status == "completed"
    assert debate.verdict is not None
    refused = [event for event in events if isinstance(event, CallFailed)]
    assert [event.kind for event in refused] == ["schema_refused"] * 2
