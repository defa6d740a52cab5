"""Frames: what a dialect sends to viewers for an event, and the cursor with which they resume.

An event may become none, one or several frames. Of several the earlier ones carry the id `seq.k`, the last
`seq`, so that a viewer who was cut off between them resumes exactly there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Raw, Struct

from moot.api.problems import Problem
from moot.api.shapes.records import LogEntry
from moot.core.events import encode
from moot.core.json_types import encoder
from moot.core.state import Debate
from moot.core.visibility import SeenEvent

_CURSOR = re.compile(r"0|([1-9][0-9]{0,17})(?:\.([1-9][0-9]{0,3}))?", re.ASCII)


class Frame(Struct, frozen=True):
    """`event` is its name; empty for dialects whose events have none. `data` is a dictionary or a struct."""

    event: str
    data: Any


class Dialect(Protocol):
    @property
    def name(self) -> str: ...

    def frames(self, seen: SeenEvent) -> Sequence[Frame]: ...

    def ends(self, seen: SeenEvent) -> bool:
        """Nothing follows in this dialect after the frames of this event."""
        ...

    def rests(self, debate: Debate) -> bool:
        """Nothing follows in this dialect until a command continues the debate; streams end there."""
        ...


class Cursor(NamedTuple):
    """Everything up to `seq` has been seen; with `part`, only the first so many frames of `seq`."""

    seq: int = 0
    part: int = 0

    @property
    def complete_seq(self) -> int:
        """The last event that has been seen as a whole."""
        return self.seq - 1 if self.part else self.seq


def parse_cursor(text: str) -> Cursor:
    match = _CURSOR.fullmatch(text)
    if match is None:
        raise Problem("malformed-request", "The last event id is not one of ours")
    return Cursor(int(match[1] or 0), int(match[2] or 0))


def frame_id(seq: int, index: int, count: int) -> str:
    """The id of the frame at `index` (from 1) of the `count` frames of an event."""
    return str(seq) if index == count else f"{seq}.{index}"


def as_sse(frame: Frame, id: str = "") -> bytes:
    name = f"event: {frame.event}\n" if frame.event else ""
    id_field = f"id: {id}\n" if id else ""
    return f"{name}{id_field}data: ".encode() + encoder.encode(frame.data) + b"\n\n"


def as_lines(frame: Frame, _id: str) -> bytes:
    """For clients that split a stream by hand: a name where there is one, one line of data, nothing else."""
    return as_sse(frame)


def as_message(frame: Frame, id: str | None = None) -> bytes:
    """The same for a WebSocket."""
    return encoder.encode({"event": frame.event, "id": id, "data": frame.data})


# --- the log itself -----------------------------------------------------------------------------------

HIDDEN = Raw(b'{"type":"hidden"}')


class NativeFrames(Struct, frozen=True):
    """The log as a dialect: one frame for each event, as it is stored.

    An event that a viewer may not see leaves a `hidden` frame, so that `seq` is dense for all. The log of a
    debate that is over may still grow, so this dialect never ends.
    """

    @property
    def name(self) -> str:
        return "native"

    def frames(self, seen: SeenEvent) -> tuple[Frame, ...]:
        return (Frame("", log_entry(seen)),)

    def ends(self, seen: SeenEvent) -> bool:
        return False

    def rests(self, debate: Debate) -> bool:
        return False


def log_entry(seen: SeenEvent) -> LogEntry:
    """The event as it is stored: amounts are strings."""
    return LogEntry(seq=seen.seq, at=seen.at, event=HIDDEN if seen.event is None else Raw(encode(seen.event)))
