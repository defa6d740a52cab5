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
"""Seconds before something that has failed is tried again."""
CANCELS = 4


async def restart_forever(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run the work, again after every error: a worker must not lose one of its tasks."""
    while True:
        try:
            return await work()
        except Exception:
            log.exception("a background task failed and is started again")
            await asyncio.sleep(AGAIN_SECONDS)


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set or the time is up."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def finishes_within(work: Coroutine[Any, Any, None], seconds: float) -> bool:
    """Whether the work was done in time and the database answered."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except (StoreError, TimeoutError):
        return False
    return True


async def cancel(*tasks: asyncio.Task[None], within: float) -> None:
    """Cancel the tasks and wait for them; several times, since a `wait_for` in a library may swallow one."""
    left = set(tasks)
    for _ in range(CANCELS):
        for task in left:
            task.cancel()
        if left:
            _, left = await asyncio.wait(left, timeout=within / CANCELS)


class Outage:
    """Whether the database does not answer: logged once when it is lost and once when it is back."""

    def __init__(self) -> None:
        self.active = False

    @contextmanager
    def tolerate(self) -> Generator[None]:
        """For work that is repeated: an error of the database is noted and not raised. Work that raises none
        must have asked the database something, since it counts as an answer."""
        try:
            yield
        except StoreError as error:
            self.note(error)
        else:
            self._answered()

    def note(self, error: StoreError) -> None:
        if not self.active:
            log.warning("The queue does not answer: %s Running debates continue. Check PostgreSQL.", error)
        self.active = True

    def _answered(self) -> None:
        if self.active:
            log.info("the queue answers again")
        self.active = False
