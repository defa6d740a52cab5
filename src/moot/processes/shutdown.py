"""Shutdown by signals: the first one stops the process in order, a second one ends it at once.

A shutdown that takes too long is ended as well. The log survives both, as it survives a power cut.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


class ShutdownSignals:
    """Handles SIGINT and SIGTERM while the process runs and shuts down."""

    def __init__(self, last_seconds: float) -> None:
        self._last_seconds = last_seconds
        self._stop: Callable[[], None] | None = None
        self._requested = False

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Call `stop` on the first signal; at once where it has come already."""
        self._stop = stop
        if self._requested:
            stop()

    async def wait(self) -> None:
        """Wait for the first signal."""
        loop, signalled = asyncio.get_running_loop(), asyncio.Event()
        # The event loop has to be woken: a signal may arrive while it waits.
        self.on_stop(lambda: loop.call_soon_threadsafe(signalled.set) and None)
        await signalled.wait()

    async def run_unless_stopped(self, starting: Coroutine[Any, Any, T]) -> T | None:
        """The result of the work; None where a signal arrives first, and the work is cancelled."""
        work = asyncio.create_task(starting, name="starting")
        signalled = asyncio.create_task(self.wait(), name="signal")
        try:
            await asyncio.wait([work, signalled], return_when=asyncio.FIRST_COMPLETED)
        finally:
            work.cancel()
            signalled.cancel()
            await asyncio.gather(work, signalled, return_exceptions=True)
        return None if work.cancelled() else work.result()

    @contextmanager
    def installed(self) -> Generator[None, None, None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        if self._requested:
            os._exit(128 + number)
        self._requested = True
        if self._stop is not None:
            self._stop()
        # A thread, because what hangs may be the event loop.
        last = threading.Timer(self._last_seconds, _force_exit)
        last.daemon = True
        last.start()


def _force_exit() -> None:
    log.critical("could not stop in time and exits now; everything acknowledged is in the log")
    os._exit(1)
