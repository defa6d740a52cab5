"""News that a debate has grown or gone, with the committed records as a hint.

In one process the bus is a list of listeners; `redis_bus` joins several. Losing a message is allowed, and so
is telling it twice or late: the log is the truth, and every listener fills holes from it.
"""

from __future__ import annotations

from typing import Protocol

from moot.core.events import Recorded
from moot.store.contract import Listener


class Bus(Protocol):
    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None: ...

    def add_listener(self, listener: Listener) -> None:
        """It is called with no records where there may be more, and only the log can tell."""
        ...

    def subscribe(self, debate_id: str, *, words: bool) -> None:
        """From now on news of this debate is wanted from other processes too; `words`: even the words."""
        ...

    def unsubscribe(self, debate_id: str) -> None: ...

    @property
    def connection_error(self) -> str:
        """Why other processes are heard late; empty where they are not."""
        ...

    async def close(self) -> None:
        """What was published before is still sent on, where that takes no time."""
        ...


class MemoryBus:
    connection_error = ""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        for listener in self._listeners:
            listener(debate_id, records)

    def add_listener(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def subscribe(self, debate_id: str, *, words: bool) -> None:
        """There are no others."""

    def unsubscribe(self, debate_id: str) -> None:
        """There are no others."""

    async def close(self) -> None:
        self._listeners.clear()
