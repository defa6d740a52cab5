"""The end of a speech and the start of the next: one commit, unless something comes between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moot.core.events import (
    CallFailed,
    CallStarted,
    DebateEnded,
    Event,
    RemarkInjected,
    TurnCompleted,
    TurnStarted,
)
from moot.engine.arena import Arena
from moot.providers.contract import Provider
from moot.providers.scripted import ScriptedProvider
from moot.rules.commands import AddRemark, Command, PauseDebate, SkipTurn
from moot.settings import Settings
from moot.store.contract import DecideOnHead, RecordResult
from moot.store.memory import MemoryStore
from tests.engine.conftest import QUICK
from tests.engine.test_runner import begin, play, until


class Meddling(MemoryStore):
    """Another process records a command just before the second turn, or just after its commit."""

    def __init__(self, command: Command, *, after: bool = False) -> None:
        super().__init__()
        self._command: Command | None = command
        self._after = after

    async def record(self, debate_id: str, decide: DecideOnHead, **options: Any) -> RecordResult:
        debate = self.cached_state(debate_id)
        command = self._command if debate and debate.live and options.get("bodies") else None
        if command is None:
            return await super().record(debate_id, decide, **options)
        self._command = None
        if not self._after:
            await super().record(debate_id, lambda head: _decided(command, head))
        result = await super().record(debate_id, decide, **options)
        if self._after:
            await super().record(debate_id, lambda head: _decided(command, head))
        return result


def _decided(command: Command, head: Any) -> tuple[Event, ...]:
    decision = command.decide(head)
    assert isinstance(decision, tuple)
    return decision


def arena_with(store: MemoryStore, path: Path, provider: Provider):
    return Arena.open(Settings(data=path, pace=QUICK), store=store, providers={"scripted": provider})


async def test_the_end_of_a_speech_the_next_turn_and_its_call_are_one_commit(tmp_path: Path) -> None:
    store = MemoryStore()
    commits: list[list[str]] = []
    store.listen(lambda _, records: commits.append([type(r.event).__name__ for r in records or ()]))
    async with arena_with(store, tmp_path, ScriptedProvider()) as arena:
        await play(arena, turns=2, judge="none")
    assert ["DebateReady", "RoundStarted", "TurnStarted", "CallStarted"] in commits
    ends = [commit[commit.index("CallCompleted") :] for commit in commits if "CallCompleted" in commit]
    assert ends == [
        ["CallCompleted", "TurnCompleted", "TurnStarted", "CallStarted"],
        ["CallCompleted", "TurnCompleted", "RoundCompleted", "DebateEnded"],
    ]


async def test_a_remark_that_comes_before_the_commit_is_heard_by_the_next_speaker(tmp_path: Path) -> None:
    script, store = ScriptedProvider(), Meddling(AddRemark("Think of the fishermen."))
    async with arena_with(store, tmp_path, script) as arena:
        _, events = await play(arena, turns=3, judge="none")
    assert any(isinstance(event, RemarkInjected) for event in events)
    heard = ["".join(m.content for m in call.messages).count("fishermen") for call in script.calls]
    assert heard == [0, 1, 1]
    assert not any(isinstance(event, CallFailed) for event in events)


async def test_no_turn_starts_after_a_pause_that_comes_before_the_commit(tmp_path: Path) -> None:
    script, store = ScriptedProvider(), Meddling(PauseDebate())
    async with arena_with(store, tmp_path, script) as arena:
        debate_id = await begin(arena, turns=3, judge="none")
        await until(arena, debate_id, TurnCompleted)
    debate = await store.state(debate_id)
    assert (debate.status, len(debate.turns), debate.live, len(script.calls)) == ("paused", 1, (), 1)


async def test_a_call_whose_turn_is_skipped_before_it_is_made_is_not_made(tmp_path: Path) -> None:
    script, store = ScriptedProvider(), Meddling(SkipTurn(), after=True)
    async with arena_with(store, tmp_path, script) as arena:
        debate_id = await begin(arena, turns=3, judge="none")
        await until(arena, debate_id, DebateEnded)
        events = [record.event for record in await store.read(debate_id)]
    started = [event for event in events if isinstance(event, CallStarted)]
    failed = [event for event in events if isinstance(event, CallFailed)]
    assert [event.turn for event in events if isinstance(event, TurnStarted)] == [1, 2, 3]
    assert (len(started), len(script.calls)) == (3, 2)
    assert [(event.call, event.kind) for event in failed] == [(started[1].call, "cut")]


@pytest.mark.parametrize("after", [False, True])
async def test_a_runner_that_is_stopped_meanwhile_leaves_no_call_open(tmp_path: Path, after: bool) -> None:
    store = Meddling(AddRemark("The lights go out."), after=after)
    async with arena_with(store, tmp_path, ScriptedProvider()) as arena:
        debate_id = await begin(arena, turns=3, judge="none")
        await until(arena, debate_id, RemarkInjected)
    debate = await store.state(debate_id)
    assert (debate.calls, debate.live) == ((), ())
