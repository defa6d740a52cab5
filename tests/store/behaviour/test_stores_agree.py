"""Whatever is asked, in whatever order: the store on disk and the one in memory give the same answers."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import MootError
from moot.core.events import DebateEnded, DebateStarted, Event
from moot.core.state import Debate
from moot.store.contract import DebateFilter, IdempotencyKey, Store
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore
from moot.testing import Clock
from moot.testing.event_factories import call_started, delta, opened
from moot.testing.store_contract import append_streamed
from tests.store.other_process import remark

IDS = ("a", "b", "c")
LONG_AGO = Clock().now


def decide(kind: str) -> Any:
    def decision(debate: Debate | None) -> Sequence[Event]:
        match kind:
            case "open" if debate is None:
                return [opened()]
            case "start" if debate:
                return [DebateStarted()]
            case "call" if debate:
                return [call_started(call=debate.calls_made + 1)]
            case "end" if debate:
                return [DebateEnded(reason="stopped")]
            case "remark" if debate:
                return remark(debate)
            case _:
                return []

    return decision


ids = st.sampled_from(IDS)
epochs = st.integers(0, 2)
kinds = st.sampled_from(["open", "open", "start", "call", "end", "remark", "nothing"])
keys = st.none() | st.builds(IdempotencyKey, st.just("me"), st.sampled_from("xy"), st.sampled_from("12"))
steps = st.one_of(
    st.tuples(st.just("record"), ids, kinds, st.none() | epochs, keys),
    st.tuples(st.just("narrate"), ids, st.integers(1, 3), epochs),
    st.tuples(st.just("claim"), ids, epochs),
    st.tuples(st.just("delete"), ids),
)


async def carry_out(store: Store, step: tuple[Any, ...]) -> object:
    try:
        match step:
            case ("record", debate_id, kind, epoch, once):
                return await store.record(debate_id, decide(kind), epoch=epoch, once=once, owner=debate_id)
            case ("narrate", debate_id, call, epoch):
                return await append_streamed(store, debate_id, [delta("word ", call)], epoch=epoch)
            case ("claim", debate_id, epoch):
                return await store.claim(debate_id, "me", seen_epoch=epoch)
            case _:
                return await store.delete(step[1])
    except MootError as error:
        return type(error)


async def everything(store: Store) -> object:
    return (
        [await store.read(debate_id) for debate_id in IDS],
        await store.positions(IDS),
        await store.list(),
        await store.list(DebateFilter(statuses=("created", "completed")), limit=2),
        await store.list(DebateFilter(owner="a", search="cats", model="parrot")),
        await store.ended_before(LONG_AGO + timedelta(seconds=12)),
        await store.ended_before(LONG_AGO + timedelta(days=1), limit=2),
    )


async def compare(path: Path, run: Sequence[tuple[Any, ...]], states: int) -> None:
    clock = Clock()
    twins: tuple[Store, Store] = MemoryStore(clock), SqliteStore.open(path, clock=clock, states=states)
    for step in run:
        clock.move(seconds=1)
        results = [await carry_out(store, step) for store in twins]
        assert results[0] == results[1]
    seen = [await everything(store) for store in twins]
    assert seen[0] == seen[1]
    await twins[1].close()


@settings(max_examples=40, deadline=None)
@given(run=st.lists(steps, max_size=25), states=st.sampled_from([1, 2, 100]))
def test_the_twins_agree(run: Sequence[tuple[Any, ...]], states: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(compare(Path(folder) / "moot.db", run, states))
