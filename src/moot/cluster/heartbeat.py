"""The heartbeat of a worker, sent by a thread of its own on a connection of its own.

Sent from the event loop it would be late just when the worker is busiest, and the others would take it for
dead. But the thread sends it only while the event loop runs: a worker that hangs must fall silent. The same
statement answers what the worker would otherwise ask for each by itself: whether there are jobs to fetch or
to take over, and now and then whether debates may need a runner and have no job.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from msgspec import Struct

from moot.cluster.background_tasks import restart_forever, wait_for_event
from moot.cluster.queue import SHARED_QUEUE, TASK
from moot.core.errors import StoreError
from moot.core.statuses import ACTIVE
from moot.store.postgres.connect import Connection, fetch, open_connection, time_limit, translated

CLOSE_SECONDS = 0.5

HEARTBEAT_SQL = """
    SELECT waiting, waiting_elsewhere, assigned, stalled, unclaimed
    FROM worker_heartbeat_2(%s, %s, %s, %s, %s, %s, %s) WHERE assigned IS NOT NULL
"""
UNCLAIMED_EVERY = 5
"""With each fifth heartbeat the debates are looked at, too."""
CHANGED_WITHIN = timedelta(seconds=150)
"""How far back: more than the time between two looks and the difference between the clocks of machines."""


class QueueGlance(Struct, frozen=True):
    """The queue at the time of a heartbeat."""

    waiting: bool
    """There are jobs in the queue of this worker."""
    waiting_elsewhere: bool
    """There are jobs in queues that only another worker reads."""
    assigned: int
    """Jobs that this worker has to run."""
    stalled: bool
    """There may be jobs of a worker that fell silent or is gone."""
    unclaimed: bool | None
    """There may be debates that need a runner and have no job; None where that was not looked at."""


OnHeartbeat = Callable[[int, QueueGlance | None, float], None]


class Heartbeat:
    def __init__(
        self, url: str, *, every: float, stall: float, within: float, on_heartbeat: OnHeartbeat
    ) -> None:
        """`on_heartbeat` is called on the event loop with the worker's number, the state of the queue (None
        where the database does not know this worker any more), and the time. It is not called where the
        database takes longer than `within`."""
        self._url = url
        self._every = every
        self._stall = stall
        self._most = max(int(stall / every / 2), 1)
        self._within = within
        self._heard = on_heartbeat
        self._unturned = 0
        """Beats since the event loop last ran; after half a stall none is sent. Beats are counted instead of
        seconds, so that a process that was stopped for a while is not taken for one that hangs."""
        self.worker = 0
        self.queue = SHARED_QUEUE
        """The queue from which the worker takes jobs."""
        self._closed = False
        self._thread: threading.Thread | None = None
        self._wake: Callable[[], object] | None = None
        self._beats = 0
        self._turn_requested = False

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run_thread, name="heartbeat", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        self._closed = True
        if self._wake is not None:
            with suppress(RuntimeError):
                self._wake()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, CLOSE_SECONDS)

    def _turned(self) -> None:
        self._turn_requested = False
        self._unturned = 0

    # --- in the thread --------------------------------------------------------------------------------

    def _run_thread(self) -> None:
        asyncio.run(restart_forever(self._connect_and_beat))

    async def _connect_and_beat(self) -> None:
        wake, loop = asyncio.Event(), asyncio.get_running_loop()
        self._wake = lambda: loop.call_soon_threadsafe(wake.set)
        while not self._closed:
            with suppress(StoreError):
                connection = await open_connection(self._url)
                try:
                    await self._beat_on(connection, wake)
                finally:
                    await connection.close()
            await wait_for_event(wake, self._every)

    async def _beat_on(self, connection: Connection, wake: asyncio.Event) -> None:
        while not self._closed:
            self._unturned += 1
            self._request_turn()
            if self._unturned <= self._most:
                await self._beat(connection)
            await wait_for_event(wake, self._every)

    def _request_turn(self) -> None:
        """Have the event loop show that it runs."""
        if not self._turn_requested:
            self._turn_requested = True
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._turned)

    async def _beat(self, connection: Connection) -> None:
        worker, at = self.worker, time.monotonic()
        look = CHANGED_WITHIN if self._beats % UNCLAIMED_EVERY == 0 else None
        self._beats += 1
        values = [worker, TASK, self.queue, SHARED_QUEUE, self._stall, look, list(ACTIVE)]
        with translated():
            async with time_limit(connection, self._within):
                rows = await fetch(connection, HEARTBEAT_SQL, values)
        glance = QueueGlance(*rows[0]) if rows else None
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._heard, worker, glance, at)
