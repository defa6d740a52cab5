"""A worker sends heartbeats while its event loop runs, however slowly, and none when the loop hangs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from moot.cluster.heartbeat import Heartbeat, QueueGlance
from moot.cluster.queue import Queue
from tests.support.postgres import empty_postgres, postgres_url

__all__ = ["empty_postgres", "postgres_url"]

EVERY, MOST = 0.02, 5
BREAK_LINE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE query ~ 'worker_heartbeat_2' AND pid <> pg_backend_pid()
"""


class Beats:
    def __init__(self) -> None:
        self.known: list[bool] = []

    def __call__(self, _worker: int, glance: QueueGlance | None, _at: float) -> None:
        self.known.append(glance is not None)

    async def more(self, beats: int) -> None:
        """Until there have been so many more."""
        enough = len(self.known) + beats
        while len(self.known) < enough:  # noqa: ASYNC110 - nobody tells of them but by their number
            await asyncio.sleep(EVERY)


@asynccontextmanager
async def beating(url: str) -> AsyncGenerator[tuple[Heartbeat, Beats, Queue]]:
    queue, beats = await Queue.open(url, seconds=10), Beats()
    heart = Heartbeat(url, every=EVERY, stall=2 * MOST * EVERY, within=10, on_heartbeat=beats)
    heart.worker = await queue.register()
    heart.start()
    try:
        yield heart, beats, queue
    finally:
        await heart.close()
        await queue.close()


async def test_a_loop_that_turns_is_heard_of_for_ever(empty_postgres: str) -> None:
    async with beating(empty_postgres) as (heart, beats, queue):
        await beats.more(3 * MOST)
        assert all(beats.known)
        assert await queue.is_fresh(heart.worker, 10)


async def test_a_loop_that_hangs_is_heard_of_no_longer(empty_postgres: str) -> None:
    async with beating(empty_postgres) as (heart, beats, _):
        await beats.more(1)
        while heart._unturned <= 2 * MOST:
            time.sleep(EVERY)  # noqa: ASYNC251 - this is the loop that hangs
        before = len(beats.known)
        await asyncio.sleep(0)
        assert MOST - 1 <= len(beats.known) - before <= MOST


async def test_a_worker_that_was_struck_off_is_told(empty_postgres: str) -> None:
    async with beating(empty_postgres) as (heart, beats, queue):
        await queue.unregister(heart.worker)
        while all(beats.known):
            await beats.more(1)


async def test_a_line_that_breaks_is_dialled_again(empty_postgres: str) -> None:
    async with beating(empty_postgres) as (_, beats, queue):
        await beats.more(1)
        await queue.query(BREAK_LINE)
        await beats.more(3)
