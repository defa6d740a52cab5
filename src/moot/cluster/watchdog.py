"""Ends a worker that hangs, so that whoever looks after processes starts it anew.

Two things show that one hangs: its event loop does not turn, or the database has not heard of it for a stall
although the database can be reached. A thread counts its own ticks for both and never looks at a clock: a
process that was stopped, and goes on, was not counted meanwhile, and gets its chance to go on working.
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
"""In one stall."""


def end() -> None:
    os._exit(1)


class Watchdog:
    def __init__(
        self, stall_seconds: float, *, is_heard: Callable[[], bool | None], end: Callable[[], None] = end
    ) -> None:
        """`is_heard` is called in the thread where the heartbeat is late: None where nobody answers."""
        self._tick = stall_seconds / TICKS
        self._is_known = is_heard
        self._end = end
        self._since_turn = 0
        self._since_beat = 0
        self._unheard = False
        """The database was there already when it was last asked, and had not heard of us."""
        self._over = threading.Event()
        self._turning: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._turning = asyncio.create_task(self._reset_on_loop(), name="turning of the loop")
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def beat(self) -> None:
        """The database has heard of us."""
        self._since_beat = 0
        self._unheard = False

    async def close(self) -> None:
        self._over.set()
        if self._turning is not None:
            self._turning.cancel()
            await asyncio.gather(self._turning, return_exceptions=True)

    async def _reset_on_loop(self) -> None:
        while True:
            self._since_turn = 0
            await asyncio.sleep(self._tick / 2)

    def _watch(self) -> None:
        while not self._over.wait(self._tick):
            self._since_turn += 1
            self._since_beat += 1
            if reason := self._reason():
                log.critical("%s: this process ends, others take its debates over", reason)
                self._end()
                return

    def _reason(self) -> str:
        if self._since_turn > TICKS:
            return "the event loop does not turn"
        if self._since_beat > 2 * TICKS:
            self._since_beat = TICKS
            heard = None
            with suppress(Exception):
                heard = self._is_known()
            # One that has just come back cannot have heard of anybody: asked again, one stall later.
            before, self._unheard = self._unheard, heard is False
            if before and self._unheard:
                return "the database does not hear of this worker"
        return ""


def worker_is_known(url: str, worker: int, seconds: float) -> bool | None:
    """Whether the database has heard of this worker lately, asked on a line of its own."""
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
        # Whoever waited for ever for a database that froze would watch over nobody.
        async with await open_connection(url) as line, time_limit(line, seconds):
            return bool(await fetch(line, question, [worker, seconds]))
