"""Pages of encoded frames: 256 events of a debate each, for one kind of viewer, and a cache of them."""

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
"""After this many events a builder yields to other tasks."""
CACHED_BYTES = 64 * 1024 * 1024
EVENT_OVERHEAD = 200
"""Bytes of memory for an event, besides its frames."""

EncodeFrame = Callable[[Frame, str], bytes]


class FeedKey(Struct, frozen=True):
    debate: str
    dialect: str
    viewer: Viewer


class FramePage:
    """Up to 256 events after `first`; `state` is the debate after the last of them."""

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
        self,
        recorded: Recorded,
        dialect: Dialect,
        viewer: Viewer,
        encode: EncodeFrame,
        after: Debate | None = None,
    ) -> tuple[bytes, ...]:
        """Add an event; returns its encoded frames. `after` is the state after it, where that is known."""
        before = self.state
        self.state = after = after or evolve(before, recorded)
        seen = seen_event(recorded, before, after, viewer)
        # The stream ends there, even if the next event came at the same time.
        frames = () if self.ended else dialect.frames(seen)
        encoded: list[bytes] = []
        for index, frame in enumerate(frames, 1):
            encoded.append(encode(frame, frame_id(recorded.seq, index, len(frames))))
        self.events.append(tuple(encoded))
        self.size += EVENT_OVERHEAD + sum(map(len, encoded))
        self.ended = self.ended or dialect.ends(seen)
        return self.events[-1]

    def since(self, seq: int) -> Sequence[tuple[bytes, ...]]:
        return self.events[seq - self.first :]

    def joined(self, seq: int) -> bytes:
        """All frames after `seq` in one piece. The last result is kept: most readers ask for the same."""
        start, end, known = self._joined
        if (start, end) != (seq, self.last):
            known = b"".join(frame for frames in self.since(seq) for frame in frames)
            self._joined = (seq, self.last, known)
        return known


class PageCache:
    """Full pages of all feeds; the least recently used are dropped first."""

    def __init__(self, most: int = CACHED_BYTES) -> None:
        self._pages: OrderedDict[tuple[FeedKey, int], FramePage] = OrderedDict()
        self._most = most
        self._size = 0
        self.forgotten = 0
        """How often `forget` was called: a page built meanwhile may be of a deleted debate."""

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
