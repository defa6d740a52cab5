"""Reads the replies of all services together, once per tick, rather than token by token.

A token that arrives by itself costs a wake-up of the event loop, of the HTTP parser and of a task; what it
says is written to the log only with the next tick anyway. So a connection is not read between ticks: its
tokens wait in the socket, and one read takes them all. The first words of a reply are not held back, nor is
a reply that comes faster than it can be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

SMALL_READ_BYTES = 16 * 1024
"""A connection that had more to read than this is not paused."""


def _do_nothing() -> None: ...


class ReadPacer:
    def __init__(self, tick: Callable[[], float], on_tick: Callable[[], object] = _do_nothing) -> None:
        """`tick` returns the seconds between two reads; `on_tick` is called before each."""
        self._tick = tick
        self._on_tick = on_tick
        self._paused: list[asyncio.Transport] = []
        self._timer: asyncio.TimerHandle | None = None

    def pause(self, transport: asyncio.Transport) -> None:
        """Read nothing from this connection until the next tick."""
        tick = self._tick()
        if not tick or transport.is_closing():
            return
        # A transport that cannot pause, or that has begun to close, is read as before.
        with suppress(NotImplementedError, RuntimeError):
            transport.pause_reading()
            self._paused.append(transport)
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(tick, self._resume_all)

    def _resume_all(self) -> None:
        self._timer = None
        self._on_tick()
        paused, self._paused = self._paused, []
        for transport in paused:
            if not transport.is_closing():
                # One that has begun to close is no longer read: it needs no resuming.
                with suppress(NotImplementedError, RuntimeError):
                    transport.resume_reading()
