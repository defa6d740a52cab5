"""Two processes at one PostgreSQL, asked by turns, give the answers that one store in memory gives."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.store.memory import MemoryStore
from moot.store.postgres.store import PostgresStore
from moot.testing import Clock
from tests.store.behaviour.test_stores_agree import carry_out, everything, steps
from tests.support.postgres import clear, postgres_url

__all__ = ["postgres_url"]


async def compare(url: str, run: Sequence[tuple[int, tuple[Any, ...]]], states: int) -> None:
    clock = Clock()
    memory = MemoryStore(clock)
    nodes = [await PostgresStore.open(url, clock=clock, states=states, pool=2) for _ in range(2)]
    try:
        for who, step in run:
            clock.move(seconds=1)
            assert await carry_out(nodes[who], step) == await carry_out(memory, step)
        for node in nodes:
            assert await everything(node) == await everything(memory)
    finally:
        for node in nodes:
            await node.close()


@settings(max_examples=15, deadline=None)
@given(run=st.lists(st.tuples(st.integers(0, 1), steps), max_size=25), states=st.sampled_from([1, 2, 100]))
def test_two_nodes_are_as_one(
    postgres_url: str,
    run: Sequence[tuple[int, tuple[Any, ...]]],
    states: int,
) -> None:
    clear(postgres_url)
    asyncio.run(compare(postgres_url, run, states))
