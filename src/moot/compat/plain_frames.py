"""A debate as it is told to those who can only add words: a speech is begun, goes on, and is over.

Where what was said no longer stands (an attempt broke off, the words were thoughts, the end differs from the
stream) the speech is begun once more, and the words come again. For these viewers a debate is over when it
ends or fails for the first time; that somebody took it up again is told elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from moot.api.frames import Frame, SeenEvent
from moot.core.events import (
    CallDelta,
    CallFailed,
    CallStarted,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from moot.core.state import REPLAYED_INTERRUPTIONS, Debate, Turn

PIECE_LENGTH = 4 * 1024
"""Characters; a text that comes late is sent in pieces of at most 16 KiB."""


class SpeechBegun(Struct, frozen=True):
    """Whatever was heard of this speech before does not count."""

    turn: Turn


class SpeechText(Struct, frozen=True):
    turn: Turn
    text: str


class SpeechOver(Struct, frozen=True):
    """`turn.text` is what it came to; of one that failed nobody heard anything."""

    turn: Turn


SpeechEvent = SpeechBegun | SpeechText | SpeechOver


def end_seq(debate: Debate) -> int:
    """The seq of the event after which nothing more is told; 0 while it goes on."""
    return min((seq for seq in (debate.ended_seq, debate.failed_seq) if seq), default=0)


def is_after_end(seen: SeenEvent) -> bool:
    """What happened after the end."""
    return 0 < end_seq(seen.after) < seen.seq


def speech_events(seen: SeenEvent) -> Iterator[SpeechEvent]:
    """What this event tells of speeches."""
    event = seen.event
    match event:
        case CallDelta():
            turn = _speaking(seen.after, event.call)
            if turn is not None and event.text and event.kind == "text":
                yield SpeechText(turn, event.text)
        case TurnStarted():
            turn = seen.after.turn(event.turn)
            if turn is not None:
                yield SpeechBegun(turn)
        case CallStarted() | CallFailed() | SegmentCompleted():
            yield from _struck(seen, event.call)
        case TurnCompleted() | TurnInterrupted() | TurnFailed():
            yield from _ended(seen, event)
            yield from _unveiled(seen, event.turn)
        case _:
            return


def counted_turns(debate: Debate) -> list[Turn]:
    """The speeches that count, in the order of the schedule."""
    return sorted((turn for turn in debate.turns if turn.used_slot), key=lambda turn: turn.slot)


def content(turn: Turn) -> str:
    """What a speaker said before it failed was heard by nobody."""
    return "" if turn.state == "failed" else turn.text


def milliseconds(debate: Debate) -> int:
    """From the start to the end, or to the last event."""
    began, last = debate.started_at or debate.created_at, debate.ended_at or debate.updated_at
    return round((last - began).total_seconds() * 1000)


def numbered_frames(seen: SeenEvent, shapes: Sequence[dict[str, Any]]) -> tuple[Frame, ...]:
    """Frames without a name; each tells from where to come back: `seq`, or `seq.part` for an earlier one."""
    last = len(shapes)
    return tuple(
        Frame("", {**shape, "seq": seen.seq, **({"part": index} if index < last else {})})
        for index, shape in enumerate(shapes, 1)
    )


def _struck(seen: SeenEvent, call: int) -> Iterator[SpeechEvent]:
    """Words no longer stand: a further attempt begins, or they were thoughts."""
    turn = _speaking(seen.after, call)
    was = seen.before.turn(turn.number) if seen.before and turn else None
    if turn is not None and was is not None and not turn.text.startswith(was.text):
        yield SpeechBegun(turn)
        yield from _pieces(turn, turn.text)


def _ended(seen: SeenEvent, event: TurnCompleted | TurnInterrupted | TurnFailed) -> Iterator[SpeechEvent]:
    given_again = isinstance(event, TurnInterrupted) and event.by in REPLAYED_INTERRUPTIONS
    streamed = next(
        (turn for turn in (seen.before.live if seen.before else ()) if turn.number == event.turn), None
    )
    turn = seen.after.turn(event.turn)
    if streamed is None or turn is None or given_again:
        return
    if not isinstance(event, TurnFailed) and turn.text != streamed.text:
        goes_on = turn.text.startswith(streamed.text)
        if not goes_on:
            yield SpeechBegun(turn)
        yield from _pieces(turn, turn.text[len(streamed.text) :] if goes_on else turn.text)
    yield SpeechOver(turn)


def _unveiled(seen: SeenEvent, number: int) -> Iterator[SpeechEvent]:
    """What was said at the same time, told to the one who could not hear it before their own speech ended."""
    own, before, after = seen.after.turn(number), seen.before, seen.after
    if own is None or before is None or not after.phase(own.slot).simultaneous:
        return
    group = after.schedule[own.slot].group
    for turn in (*after.turns, *after.live):
        was = before.turn(turn.number) if after.schedule[turn.slot].group == group else None
        if was is None or turn.number == number or was.text or not turn.text:
            continue
        yield SpeechBegun(turn)
        yield from _pieces(turn, turn.text)
        if turn.state != "live":
            yield SpeechOver(turn)


def _pieces(turn: Turn, text: str) -> Iterator[SpeechText]:
    for start in range(0, len(text), PIECE_LENGTH):
        yield SpeechText(turn, text[start : start + PIECE_LENGTH])


def _speaking(debate: Debate | None, call: int) -> Turn | None:
    return next((turn for turn in (debate.live if debate else ()) if turn.call == call), None)
