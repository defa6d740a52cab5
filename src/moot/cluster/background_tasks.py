"""Tasks that run as long as a worker does: how they survive failures, are waited for and are ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from typing import Any

from moot.core.errors import StoreError

log = logging.getLogger(__name__)

AGAIN_SECONDS = 0.5
"""How long to wait before what has failed is tried again."""
CANCELS = 4


async def restart_forever(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Begun again where it fails: without any of these a worker would be there and not work."""
    while True:
        try:
            return await work()
        except Exception:
            log.exception("begun again")
            await asyncio.sleep(AGAIN_SECONDS)


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Until it is set, or the time is up."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def finishes_within(work: Coroutine[Any, Any, None], seconds: float) -> bool:
    """Whether it was done by then, and nothing was away."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except (StoreError, TimeoutError):
        return False
    return True


async def cancel(*tasks: asyncio.Task[None], within: float) -> None:
    """More than once, since in libraries a `wait_for` may swallow it."""
    left = set(tasks)
    for _ in range(CANCELS):
        for task in left:
            task.cancel()
        if left:
            _, left = await asyncio.wait(left, timeout=within / CANCELS)


class Outage:
    def __init__(self) -> None:
        self.active = False

    @contextmanager
    def tolerate(self) -> Generator[None]:
        """What is done again and again goes on when the database is back. Whoever comes through without an
        error has asked it something: nothing else belongs in here."""
        try:
            yield
        except StoreError as error:
            self.note(error)
        else:
            self._answered()

    def note(self, error: StoreError) -> None:
        if not self.active:
            log.warning("The queue does not answer: %s What is running goes on.", error)
        self.active = True

    def _answered(self) -> None:
        if self.active:
            log.info("the queue answers again")
        self.active = False
