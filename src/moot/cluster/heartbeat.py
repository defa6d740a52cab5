"""The heartbeat of a worker: said by a thread of its own, on a line of its own.

From the event loop it would come late just when there is most to do, and the others would take a worker for
dead that is only busy. But the thread says it only while the loop turns: one that hangs must fall silent.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from moot.cluster.background_tasks import restart_forever, wait_for_event
from moot.core.errors import StoreError
from moot.store.postgres.connect import Connection, fetch, open_connection, time_limit, translated

CLOSE_SECONDS = 0.5

OnHeartbeat = Callable[[int, bool, float], None]


class Heartbeat:
    def __init__(self, url: str, *, every: float, stall: float, within: float, heard: OnHeartbeat) -> None:
        """`heard` is told, on the loop, of which worker, whether the others still know it, and when. Where
        the database takes longer than `within`, nobody is told."""
        self._url = url
        self._every = every
        self._most = max(int(stall / every / 2), 1)
        self._within = within
        self._heard = heard
        self._unturned = 0
        """Beats since the loop last turned; after half a stall of them none is said. No clock is looked at:
        of a process that was stopped nothing was counted meanwhile."""
        self.worker = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._wake: Callable[[], object] | None = None

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run_thread, name="heartbeat", daemon=True)
        self._thread.start()

    async def watch_loop(self) -> None:
        """Stands on the loop for as long as it is to be heard of."""
        while True:
            self._unturned = 0
            await asyncio.sleep(self._every / 2)

    async def close(self) -> None:
        self._closed = True
        if self._wake is not None:
            with suppress(RuntimeError):
                self._wake()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, CLOSE_SECONDS)

    # --- in the thread --------------------------------------------------------------------------------

    def _run_thread(self) -> None:
        asyncio.run(restart_forever(self._connect_and_beat))

    async def _connect_and_beat(self) -> None:
        wake, loop = asyncio.Event(), asyncio.get_running_loop()
        self._wake = lambda: loop.call_soon_threadsafe(wake.set)
        while not self._closed:
            with suppress(StoreError):
                line = await open_connection(self._url)
                try:
                    await self._beat_on(line, wake)
                finally:
                    await line.close()
            await wait_for_event(wake, self._every)

    async def _beat_on(self, line: Connection, wake: asyncio.Event) -> None:
        while not self._closed:
            self._unturned += 1
            if self._unturned <= self._most:
                await self._beat(line)
            await wait_for_event(wake, self._every)

    async def _beat(self, line: Connection) -> None:
        worker, at = self.worker, time.monotonic()
        # procrastinate's own function does not say whether there was such a worker.
        question = "UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = %s RETURNING id"
        with translated():
            async with time_limit(line, self._within):
                known = await fetch(line, question, [worker])
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._heard, worker, bool(known), at)
