"""A database that does not answer: told of once, and of its return."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

from moot.core.errors import StoreError

log = logging.getLogger(__name__)


class Outage:
    def __init__(self) -> None:
        self.active = False

    @contextmanager
    def tolerate(self) -> Generator[None]:
        """What is done again and again goes on when the database is back. Whoever comes through without an
        error has asked it something: nothing else belongs in here."""
        try:
            yield
        except StoreError as error:
            self.note(error)
        else:
            self._answered()

    def note(self, error: StoreError) -> None:
        if not self.active:
            log.warning("The queue does not answer: %s What is running goes on.", error)
        self.active = True

    def _answered(self) -> None:
        if self.active:
            log.info("the queue answers again")
        self.active = False
