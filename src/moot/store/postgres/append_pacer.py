"""How long the writer waits between two appends while many calls speak.

An append costs client and server about as much as fifty rows in it. Debates change turns at different times,
so without a pause most appends would carry one event. And on a machine that is too busy an append takes
longer, whichever process is to blame: a pause that grows with the time of an append makes appends fewer and
larger, where otherwise work would queue. A call whose words are being written collects further words, so what
waits is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

MANY_CALLS = 16
"""An append with the words of so many calls spaces out those that follow."""
SPACING_SECONDS = 0.04
MAX_SPACING_SECONDS = 0.2
SPACING_FACTOR = 3.0
"""Appends are under way for at most a third of the time."""
KEPT_SECONDS = 0.5
"""How long the spacing lasts without another append with the words of many calls."""


class AppendPacer:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._spacing = 0.0
        self._spaced_until = float("-inf")
        self._started = float("-inf")

    def pause(self) -> float:
        """Seconds to wait before the next append; 0 where it may start."""
        now = self._clock()
        return max(self._started + self._spacing - now, 0.0) if now < self._spaced_until else 0.0

    @contextmanager
    def measure(self, calls: int) -> Generator[None]:
        """Around an append with the words of so many calls."""
        self._started = self._clock()
        yield
        ended = self._clock()
        if calls >= MANY_CALLS:
            spacing = SPACING_FACTOR * (ended - self._started)
            self._spacing = min(max(spacing, SPACING_SECONDS), MAX_SPACING_SECONDS)
            self._spaced_until = ended + KEPT_SECONDS
