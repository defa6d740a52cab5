"""Reads the replies of all services together, once per tick, rather than token by token.

A token that arrives by itself costs a wake-up of the event loop, of the HTTP parser and of a task; what it
says is written to the log only with the next tick anyway. So a connection is not read between ticks: its
tokens wait in the socket, and one read takes them all. The first words of a reply are not held back, nor is
a reply that comes faster than it can be read.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol

SMALL_READ_BYTES = 16 * 1024
"""A connection that had more to read than this is not paused."""


class Ticks(Protocol):
    """Sets the pace, as the engine's `TextWriter` does."""

    @property
    def tick(self) -> float:
        """The seconds between two reads; with 0 nothing is paused."""
        ...

    def tick_passed(self) -> object:
        """Called before each read."""
        ...


class ReadPacer:
    def __init__(self, ticks: Ticks) -> None:
        self._ticks = ticks
        self._paused: list[asyncio.Transport] = []
        self._timer: asyncio.TimerHandle | None = None

    def pause(self, transport: asyncio.Transport) -> None:
        """Read nothing from this connection until the next tick."""
        tick = self._ticks.tick
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
        self._ticks.tick_passed()
        paused, self._paused = self._paused, []
        for transport in paused:
            if not transport.is_closing():
                # One that has begun to close is no longer read: it needs no resuming.
                with suppress(NotImplementedError, RuntimeError):
                    transport.resume_reading()
