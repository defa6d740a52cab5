"""The steps from which the suites are made: a clock, decisions, and a debate that is opened or speaks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from moot.core.errors import Refused
from moot.core.events import CallFailed, DebateStarted, Event, RemarkInjected, StreamedEvent
from moot.core.state import Debate
from moot.core.terms import Usage
from moot.store.contract import AppendStreamed, DecideOnHead, RecordResult, Store
from moot.testing.event_factories import call_started, opened, turn_started


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


def always(*events: Event) -> DecideOnHead:
    return lambda debate: events


def remark(debate: Debate | None) -> Sequence[Event]:
    """An event that depends on the head: numbered by what is there."""
    assert debate
    return [RemarkInjected(remark=len(debate.remarks) + 1, text="hear, hear")]


def refuse(debate: Debate | None) -> Sequence[Event]:
    raise Refused("not now", "paused")


async def open_debate(
    store: Store, debate_id: str = "d1", *more: Event, owner: str = "", **changes: Any
) -> RecordResult:
    return await store.record(debate_id, always(opened(**changes), *more), owner=owner)


async def open_call(store: Store, debate_id: str = "d1") -> RecordResult:
    return await open_debate(store, debate_id, DebateStarted(), turn_started(), call_started())


def call_ended() -> CallFailed:
    return CallFailed(call=1, kind="cut", severity="permanent", message="", usage=Usage(), cost=None)


async def append_streamed(
    store: Store, debate_id: str, events: Sequence[StreamedEvent], *, epoch: int
) -> RecordResult:
    """Append streamed text to one debate and wait for it, as a runner does for all of its calls together."""
    reply: asyncio.Future[RecordResult] = asyncio.get_running_loop().create_future()
    store.append_streamed([AppendStreamed(reply, debate_id, events, epoch)])
    return await reply
