"""A database that does not answer: told once and borne; for a while then nobody is blamed for silence."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager

from moot.errors import StoreError

log = logging.getLogger(__name__)


class Outage:
    def __init__(self, stall_seconds: float) -> None:
        self._stall_seconds = stall_seconds
        self._time = asyncio.get_running_loop().time
        self._noted_at = float("-inf")
        self.lasts = False

    @property
    def recent(self) -> bool:
        """While it lasted nobody could say that they live: everybody gets a stall's time to do so."""
        return self._time() - self._noted_at < self._stall_seconds

    @contextmanager
    def borne(self) -> Generator[None]:
        """What is done again and again goes on when the database is back."""
        try:
            yield
        except StoreError as error:
            self.note(error)
        else:
            self.lasts = False

    def note(self, error: StoreError) -> None:
        self._noted_at = self._time()
        if not self.lasts:
            log.warning("The queue does not answer: %s What is running goes on.", error)
        self.lasts = True
