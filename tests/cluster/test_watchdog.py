"""A worker that hangs is ended; one that was stopped and goes on is not."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from moot.cluster.watchdog import Watchdog

STALL = 0.08


class Ended:
    def __init__(self) -> None:
        self.happened = threading.Event()

    def __call__(self) -> None:
        self.happened.set()

    async def soon(self) -> None:
        while True:
            if self.happened.is_set():
                return
            await asyncio.sleep(STALL / 4)


@asynccontextmanager
async def watched(is_heard: Callable[[], bool | None]) -> AsyncGenerator[tuple[Watchdog, Ended]]:
    ended = Ended()
    watchdog = Watchdog(STALL, is_heard=is_heard, end=ended)
    watchdog.start()
    try:
        yield watchdog, ended
    finally:
        await watchdog.close()


async def test_a_loop_that_does_not_turn_ends_the_process():
    async with watched(lambda: True) as (_, ended):
        while not ended.happened.is_set():
            time.sleep(STALL)  # noqa: ASYNC251 - this is the loop that hangs
        assert ended.happened.is_set()


async def test_a_worker_of_whom_the_database_has_not_heard_ends():
    async with watched(lambda: False) as (_, ended):
        await ended.soon()


async def test_while_the_database_is_away_nobody_ends():
    asked = threading.Semaphore(0)

    def nobody_answers() -> None:
        asked.release()

    async with watched(nobody_answers) as (_, ended):
        for _ in range(3):
            await asyncio.to_thread(asked.acquire)
        assert not ended.happened.is_set()


async def test_a_database_that_has_just_come_back_is_given_time_to_hear_of_a_worker():
    answers = iter([None, False, None, False, True])
    all_asked = threading.Event()

    def is_heard() -> bool | None:
        answer = next(answers, True)
        if answer:
            all_asked.set()
        return answer

    async with watched(is_heard) as (_, ended):
        await asyncio.to_thread(all_asked.wait)
        assert not ended.happened.is_set()


async def test_a_worker_that_is_heard_of_is_not_asked_about():
    asked: list[bool] = []
    async with watched(lambda: asked.append(True)) as (watchdog, ended):
        for _ in range(20):
            watchdog.beat()
            await asyncio.sleep(STALL / 8)
        assert not ended.happened.is_set()
