"""One call to a model: the request that was sent and the response."""

from __future__ import annotations

from typing import Any

import msgspec

from moot.api.problems import Problem
from moot.api.shapes.records import CallResponse, CallWords
from moot.core.events import CallCompleted, CallDelta, CallFailed, CallStarted, Event, SegmentCompleted
from moot.core.json_types import choose
from moot.core.segments import Piece, left_open
from moot.core.terms import DeltaKind, Segment
from moot.engine.arena import Arena

PAGE_SIZE = 1000


async def find_call(arena: Arena, debate_id: str, number: int) -> CallResponse:
    """For owners and moderators only: the request holds prompts and secret objectives. Raises Problem for an
    unknown number.
    """
    events = await _events_of(arena, debate_id, number)
    started = next((event for event in events if isinstance(event, CallStarted)), None)
    if started is None:
        raise Problem("not-found", "There is no such call")
    sent = await arena.store.request_body(debate_id, started.request)
    done = next((event for event in events if isinstance(event, CallCompleted | CallFailed)), None)
    return choose(
        CallResponse,
        started,
        order=started.order if started.judge else None,
        sent=msgspec.json.decode(sent) if sent else None,
        got=CallWords(
            text=_streamed_text(events, "text"),
            reasoning=_streamed_text(events, "reasoning"),
            segments=tuple(_segments(events)),
        ),
        outcome=msgspec.to_builtins(done) if done else None,
    )


def _segments(events: list[Event]) -> list[dict[str, Any]]:
    """The finished segments as they are in the log, then those that were cut off, marked as unfinished."""
    finished: list[Segment] = []
    words: list[tuple[int, DeltaKind, Piece]] = []
    for event in events:
        match event:
            case CallDelta():
                words.append((event.segment, event.kind, (event.part, event.text)))
            case SegmentCompleted():
                finished.append(event.segment)
                if event.taken_back:
                    words = [one for one in words if one[1] != "text"]
            case _:
                pass
    completed = any(isinstance(event, CallCompleted) for event in events)
    cut = () if completed else left_open(words, finished)
    shapes = [msgspec.to_builtins(segment) for segment in finished]
    return [*shapes, *({**msgspec.to_builtins(segment), "unfinished": True} for segment in cut)]


async def _events_of(arena: Arena, debate_id: str, number: int) -> list[Event]:
    events: list[Event] = []
    after = 0
    while records := await arena.store.read(debate_id, after, PAGE_SIZE):
        after = records[-1].seq
        for recorded in records:
            if getattr(recorded.event, "call", None) != number:
                continue
            events.append(recorded.event)
            if isinstance(recorded.event, CallCompleted | CallFailed):
                return events
    return events


def _streamed_text(events: list[Event], kind: str) -> str:
    return "".join(event.text for event in events if isinstance(event, CallDelta) and event.kind == kind)
