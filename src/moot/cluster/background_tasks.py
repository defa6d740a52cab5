"""Tasks that stand for as long as a process works, and how they are waited for and ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
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
