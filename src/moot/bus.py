"""News that a debate has grown or gone, with the committed records as a hint.

In one process the bus is a list of listeners. Losing a message is allowed: the log is the truth, and every
listener fills holes from it.
"""

from __future__ import annotations

from typing import Protocol

from moot.events import Recorded
from moot.store.contract import Listener


class Bus(Protocol):
    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None: ...

    def subscribe(self, listener: Listener) -> None: ...


class MemoryBus:
    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        for listener in self._listeners:
            listener(debate_id, records)

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)
