"""How long the writer waits between two appends while many calls speak.

An append costs client and server about as much as fifty rows in it. Debates change turns at different times,
so without a pause most appends would carry one event: a few requests wait for the words of the next tick. And
on a machine that is too busy an append takes long, whichever process is to blame: then all requests wait, so
that appends become fewer and larger, where otherwise work would queue. A call whose words are being written
collects further words, so what waits is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

MANY_CALLS = 16
"""An append with the words of so many calls spaces out those that follow; as many requests do not wait."""
SPACING_SECONDS = 0.04
MAX_SPACING_SECONDS = 0.2
SLOW_SECONDS = 0.025
"""An append that takes longer shows that the machine is too busy."""
SPACING_FACTOR = 3.0
"""Slow appends are under way for at most a third of the time."""
KEPT_SECONDS = 0.5
"""How long the spacing lasts without another append with the words of many calls."""


class AppendPacer:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._took = 0.0
        self._spaced_until = float("-inf")
        self._started = float("-inf")

    def pause(self, waiting: int) -> float:
        """Seconds to wait before the next append, for so many requests; 0 where it may start."""
        now = self._clock()
        if now >= self._spaced_until:
            return 0.0
        spacing = min(SPACING_FACTOR * self._took, MAX_SPACING_SECONDS) if self._took >= SLOW_SECONDS else 0.0
        if waiting < MANY_CALLS:
            spacing = max(spacing, SPACING_SECONDS)
        return max(self._started + spacing - now, 0.0)

    @contextmanager
    def measure(self, calls: int) -> Generator[None]:
        """Around an append with the words of so many calls."""
        self._started = self._clock()
        yield
        if calls >= MANY_CALLS:
            ended = self._clock()
            self._took = ended - self._started
            self._spaced_until = ended + KEPT_SECONDS
