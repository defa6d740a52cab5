"""To stop in good order: the first signal asks for it, a second one ends the process at once.

What takes too long after the first is ended as well: the log bears that, as it bears a power cut.
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
    """Heeds the signals that ask to leave, until all is put away."""

    def __init__(self, last_seconds: float) -> None:
        self._last_seconds = last_seconds
        self._stop: Callable[[], None] | None = None
        self._requested = False

    def on_stop(self, stop: Callable[[], None]) -> None:
        """From here on `stop` is called when somebody asks; at once where somebody has."""
        self._stop = stop
        if self._requested:
            stop()

    async def wait(self) -> None:
        """Until somebody asks."""
        loop, asked = asyncio.get_running_loop(), asyncio.Event()
        # A signal may come while the loop waits for something: it has to be woken up.
        self.on_stop(lambda: loop.call_soon_threadsafe(asked.set) and None)
        await asked.wait()

    async def run_unless_stopped(self, coming: Coroutine[Any, Any, T]) -> T | None:
        """What comes of it; None where somebody asks first, and it is broken off."""
        work = asyncio.create_task(coming, name="coming")
        asked = asyncio.create_task(self.wait(), name="asked to leave")
        try:
            await asyncio.wait([work, asked], return_when=asyncio.FIRST_COMPLETED)
        finally:
            work.cancel()
            asked.cancel()
            await asyncio.gather(work, asked, return_exceptions=True)
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
