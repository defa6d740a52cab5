"""Ends a worker that hangs, so that the process manager starts it anew.

A worker hangs if its event loop does not run, or if the database can be reached and has had no heartbeat for
a stall. A thread counts its own ticks for both and never looks at a clock, so that a process that was stopped
for a while and continues is not ended.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress

from moot.core.errors import StoreError
from moot.store.postgres.connect import fetch, open_connection, time_limit, translated

log = logging.getLogger(__name__)

TICKS = 8
"""Ticks in one stall."""


def end() -> None:
    os._exit(1)


class Watchdog:
    """The counts of `tick` decide; `start` makes a thread that ticks."""

    def __init__(
        self, stall_seconds: float, *, is_heard: Callable[[], bool | None], end: Callable[[], None] = end
    ) -> None:
        """`is_heard` is called in the thread when the heartbeat is late: None if the database is away."""
        self._tick_seconds = stall_seconds / TICKS
        self._is_heard = is_heard
        self._end = end
        self._since_turn = 0
        self._since_beat = 0
        self._unheard = False
        """When last asked, the database answered that it had no recent heartbeat."""
        self._over = threading.Event()

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def turn(self) -> None:
        """The event loop has run."""
        self._since_turn = 0

    def beat(self) -> None:
        """The database has received a heartbeat."""
        self._since_beat = 0
        self._unheard = False

    def tick(self) -> str:
        """Count a tick. Returns why the process must end, or an empty string."""
        self._since_turn += 1
        self._since_beat += 1
        if self._since_turn > TICKS:
            return "the event loop does not turn"
        if self._since_beat > 2 * TICKS:
            self._since_beat = TICKS
            is_recent = None
            with suppress(Exception):
                is_recent = self._is_heard()
            # A database that has just come back has no heartbeats yet: it is asked again one stall later.
            before, self._unheard = self._unheard, is_recent is False
            if before and self._unheard:
                return "the database does not hear of this worker"
        return ""

    async def close(self) -> None:
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(self._tick_seconds):
            if reason := self.tick():
                log.critical("%s: this process exits, and other workers take over its debates", reason)
                self._end()
                return
            # The loop is asked to run, and shows by that that it does.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.turn)


def worker_is_known(url: str, worker: int, seconds: float) -> bool | None:
    """Whether this worker's heartbeat is recent, asked on a connection of its own."""
    try:
        return asyncio.run(_worker_is_known(url, worker, seconds))
    except StoreError:
        return None


async def _worker_is_known(url: str, worker: int, seconds: float) -> bool:
    question = """
        SELECT FROM procrastinate_workers
        WHERE id = %s AND last_heartbeat > now() - make_interval(secs => %s)
    """
    with translated():
        # Without a limit a frozen database would stop the watchdog.
        async with await open_connection(url) as connection, time_limit(connection, seconds):
            return bool(await fetch(connection, question, [worker, seconds]))
