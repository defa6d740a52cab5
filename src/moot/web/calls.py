"""One call to a model as it was: what it was sent, and what came back."""

from __future__ import annotations

from typing import Any

import msgspec

from moot.arena import Arena
from moot.events import CallCompleted, CallDelta, CallFailed, CallStarted, Event, SegmentCompleted
from moot.wire.problems import Problem

PAGE = 1000


async def find_call(arena: Arena, debate_id: str, number: int) -> dict[str, Any]:
    """For owners and moderators only: the request holds prompts and secret objectives."""
    events = await _events_of(arena, debate_id, number)
    started = next((event for event in events if isinstance(event, CallStarted)), None)
    if started is None:
        raise Problem("not-found", "There is no such call")
    sent = await arena.store.body(debate_id, started.request)
    done = next((event for event in events if isinstance(event, CallCompleted | CallFailed)), None)
    return {
        "call": number,
        "model": started.model,
        "attempt": started.attempt,
        "turn": started.turn,
        "judge": started.judge,
        "aside": started.aside,
        "order": started.order if started.judge else None,
        "sent": msgspec.json.decode(sent) if sent else None,
        "got": {
            "text": _said(events, "text"),
            "reasoning": _said(events, "reasoning"),
            "segments": [
                msgspec.to_builtins(event.segment) for event in events if isinstance(event, SegmentCompleted)
            ],
        },
        "outcome": msgspec.to_builtins(done) if done else None,
    }


async def _events_of(arena: Arena, debate_id: str, number: int) -> list[Event]:
    found: list[Event] = []
    after = 0
    while records := await arena.store.read(debate_id, after, PAGE):
        after = records[-1].seq
        for recorded in records:
            if getattr(recorded.event, "call", None) != number:
                continue
            found.append(recorded.event)
            if isinstance(recorded.event, CallCompleted | CallFailed):
                return found
    return found


def _said(events: list[Event], kind: str) -> str:
    return "".join(event.text for event in events if isinstance(event, CallDelta) and event.kind == kind)
