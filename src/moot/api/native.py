"""The log itself as a dialect: one frame for each event, as it was written down.

What a viewer may not see leaves its place behind, so that `seq` is dense for everybody. The log of a debate
that is over may still grow, so this dialect never ends.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from moot.api.frames import Frame, SeenEvent
from moot.api.shapes.records import LogEntry
from moot.core.events import encode
from moot.core.state import Debate

HIDDEN = Raw(b'{"type":"hidden"}')


class NativeFrames(Struct, frozen=True):
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
    """The event in its own spelling, in which amounts are strings."""
    return LogEntry(seq=seen.seq, at=seen.at, event=HIDDEN if seen.event is None else Raw(encode(seen.event)))
