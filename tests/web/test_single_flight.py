"""Reads that are shared: none is older than the question, and one failure or departure harms no other."""

from __future__ import annotations

import asyncio

import pytest

from moot.web.single_flight import SingleFlight


class Counter:
    """Tells at which step it was read, each read lasting until it is let go."""

    def __init__(self) -> None:
        self.now = 0
        self.reads: list[int] = []
        self.go = asyncio.Event()
        self.go.set()
        self.failure: Exception | None = None

    async def read(self, _key: str) -> int:
        self.reads.append(self.now)
        seen = self.now
        await self.go.wait()
        if self.failure is not None:
            raise self.failure
        return seen


async def started() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_those_who_ask_together_share_one_read() -> None:
    counter = Counter()
    shared = SingleFlight(counter.read)
    assert await asyncio.gather(*(shared.get("a") for _ in range(100))) == [0] * 100
    assert len(counter.reads) == 1
    await asyncio.gather(shared.get("a"), shared.get("b"))
    assert len(counter.reads) == 3


async def test_who_asks_during_a_read_gets_the_next_one() -> None:
    counter = Counter()
    shared = SingleFlight(counter.read)
    counter.go.clear()
    early = asyncio.create_task(shared.get("a"))
    await started()
    counter.now = 1
    late = [asyncio.create_task(shared.get("a")) for _ in range(3)]
    await started()
    assert counter.reads == [0]
    counter.now = 2
    counter.go.set()
    assert await early == 0
    assert await asyncio.gather(*late) == [2] * 3
    assert counter.reads == [0, 2]


async def test_a_failure_is_told_to_those_who_shared_it_and_to_no_one_later() -> None:
    counter = Counter()
    shared = SingleFlight(counter.read)
    counter.failure = ValueError("gone")
    results = await asyncio.gather(shared.get("a"), shared.get("a"), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError]
    counter.failure = None
    assert await shared.get("a") == 0


async def test_who_leaves_ends_no_read_of_others() -> None:
    counter = Counter()
    shared = SingleFlight(counter.read)
    counter.go.clear()
    leaving, staying = (asyncio.create_task(shared.get("a")) for _ in range(2))
    await started()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    counter.go.set()
    assert await staying == 0
    assert await shared.get("a") == 0
