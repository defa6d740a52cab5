"""Pages: 256 events of one debate each, as one kind of viewer is told them, encoded once for all of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from msgspec import Struct

from moot.api.frames import Dialect, Frame, frame_id, seen_event
from moot.core.events import Recorded
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.visibility import Viewer

PAGE_EVENTS = 256
YIELD_EVERY = 16
"""After so many events others get their turn: to tell what each of them changed takes a moment."""
CACHED_BYTES = 64 * 1024 * 1024
EVENT_OVERHEAD = 200
"""Bytes that an event without any frame takes in a page."""

EncodeFrame = Callable[[Frame, str], bytes]


class FeedKey(Struct, frozen=True):
    debate: str
    dialect: str
    viewer: Viewer


class FramePage:
    """The events after `first`, up to 256 of them; `state` is the debate after the last of them."""

    def __init__(self, first: int, state: Debate | None) -> None:
        self.first = first
        self.state = state
        self.events: list[tuple[bytes, ...]] = []
        self.size = 0
        self.ended = False
        self._joined: tuple[int, int, bytes] = (0, 0, b"")

    @property
    def last(self) -> int:
        return self.first + len(self.events)

    @property
    def full(self) -> bool:
        return len(self.events) == PAGE_EVENTS

    def add(
        self, recorded: Recorded, dialect: Dialect, viewer: Viewer, encode: EncodeFrame
    ) -> tuple[bytes, ...]:
        """The frames of one more event."""
        before = self.state
        self.state = after = evolve(before, recorded)
        seen = seen_event(recorded, before, after, viewer)
        frames = dialect.frames(seen)
        count = len(frames)
        encoded = tuple(
            encode(frame, frame_id(recorded.seq, index, count)) for index, frame in enumerate(frames, 1)
        )
        self.events.append(encoded)
        self.size += EVENT_OVERHEAD + sum(map(len, encoded))
        self.ended = self.ended or dialect.ends(seen)
        return encoded

    def since(self, seq: int) -> Sequence[tuple[bytes, ...]]:
        return self.events[seq - self.first :]

    def joined(self, seq: int) -> bytes:
        """All frames after `seq`. Most readers ask for the same ones."""
        start, end, known = self._joined
        if (start, end) != (seq, self.last):
            known = b"".join(frame for frames in self.since(seq) for frame in frames)
            self._joined = (seq, self.last, known)
        return known


class PageCache:
    """Pages of all feeds, the least recently used forgotten first."""

    def __init__(self, most: int = CACHED_BYTES) -> None:
        self._pages: OrderedDict[tuple[FeedKey, int], FramePage] = OrderedDict()
        self._most = most
        self._size = 0
        self.forgotten = 0
        """How often debates have been forgotten."""

    def get(self, key: tuple[FeedKey, int]) -> FramePage | None:
        page = self._pages.get(key)
        if page is not None and page.full:
            self._pages.move_to_end(key)
            return page
        return None

    def put(self, key: tuple[FeedKey, int], page: FramePage) -> None:
        if not page.full or key in self._pages:
            return
        self._pages[key] = page
        self._size += page.size
        while self._size > self._most and len(self._pages) > 1:
            _, forgotten = self._pages.popitem(last=False)
            self._size -= forgotten.size

    def forget(self, debate_id: str) -> None:
        self.forgotten += 1
        for key in [key for key in self._pages if key[0].debate == debate_id]:
            self._size -= self._pages.pop(key).size
