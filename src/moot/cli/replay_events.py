"""A recorded debate as a film: its events at the times they had, divided by the speed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime, timedelta
from time import monotonic

from moot.core.events import DebateResumed, DebateStarted, Recorded, TurnRetried

WAKING_EVENTS = (DebateResumed, DebateStarted, TurnRetried)
"""What was before these was waiting, not debating."""


class EventReplay:
    def __init__(self, records: Sequence[Recorded], speed: float) -> None:
        self._records = records
        self._speed = speed
        self._shown = records[0].at
        self._since = monotonic()

    def clock(self) -> datetime:
        """What time it was then."""
        if self._speed == float("inf"):
            return self._shown
        return self._shown + timedelta(seconds=(monotonic() - self._since) * self._speed)

    async def records(self) -> AsyncGenerator[Recorded]:
        before = self._records[0]
        for recorded in self._records:
            wait = seconds_between(before, recorded) / self._speed
            if wait > 0:
                await asyncio.sleep(max(0.0, wait - (monotonic() - self._since)))
            self._shown, self._since = recorded.at, monotonic()
            before = recorded
            yield recorded
        await asyncio.sleep(0)


def seconds_between(before: Recorded, recorded: Recorded) -> float:
    """Seconds between two events, none where nobody was running the debate."""
    if isinstance(recorded.event, WAKING_EVENTS) or recorded.epoch != before.epoch:
        return 0.0
    return max(0.0, (recorded.at - before.at).total_seconds())
