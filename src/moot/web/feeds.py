"""Feeds: one debate in one dialect for one kind of viewer, encoded once and read by any number of them.

A feed is a row of pages of 256 events each. The last page grows: one task folds the log and appends the
encoded frames as they are committed. Earlier pages are built from the store when somebody asks for them,
once for all who ask, and kept in a cache that all feeds share. A reader holds a cursor and no queue: it is
woken when there is more, and takes what it has not seen.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Literal

from msgspec import Struct

from moot.audience import Viewer, visible
from moot.debate import Debate
from moot.errors import StoreError, UnknownDebate
from moot.events import Recorded
from moot.evolve import evolve
from moot.hub import Hub
from moot.store.contract import Store
from moot.wire.frames import Cursor, Dialect, Frame, Seen, frame_id

log = logging.getLogger(__name__)

SIZE = 256
CACHED_BYTES = 64 * 1024 * 1024
OVERHEAD = 200
"""Bytes that an event without any frame takes in a page."""
LATER_SECONDS = 0.5

Encode = Callable[[Frame, str], bytes]
End = Literal["deleted", "closed"]
"""Why nothing more will come: the debate is gone, or the server stops."""


class Key(Struct, frozen=True):
    debate: str
    dialect: str
    viewer: Viewer


class Page:
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
        return len(self.events) == SIZE

    def add(self, recorded: Recorded, dialect: Dialect, viewer: Viewer, encode: Encode) -> None:
        before = self.state
        self.state = after = evolve(before, recorded)
        shown = visible(after, recorded, viewer)
        seen = Seen(recorded.seq, recorded.at, shown.event if shown else None, before, after)
        frames = dialect.frames(seen)
        count = len(frames)
        encoded = tuple(
            encode(frame, frame_id(recorded.seq, place, count)) for place, frame in enumerate(frames, 1)
        )
        self.events.append(encoded)
        self.size += OVERHEAD + sum(map(len, encoded))
        self.ended = self.ended or dialect.ends(seen)

    def since(self, seq: int) -> Sequence[tuple[bytes, ...]]:
        return self.events[seq - self.first :]

    def joined(self, seq: int) -> bytes:
        """All frames after `seq`. Most readers ask for the same ones."""
        start, end, known = self._joined
        if (start, end) != (seq, self.last):
            known = b"".join(frame for frames in self.since(seq) for frame in frames)
            self._joined = (seq, self.last, known)
        return known


class Feed:
    """Use `Feeds.reading`."""

    def __init__(
        self, key: Key, dialect: Dialect, encode: Encode, store: Store, hub: Hub, cache: Cache
    ) -> None:
        self.key = key
        self.beats = 0
        self.end: End | None = None
        self._dialect = dialect
        self._encode = encode
        self._store = store
        self._hub = hub
        self._cache = cache
        self._live: Page | None = None
        self._ready = asyncio.Event()
        self._building: dict[int, asyncio.Task[Page]] = {}
        self._waiting: list[asyncio.Future[None]] = []
        self._pump: asyncio.Task[None] | None = None
        self._readers = 0

    async def page(self, number: int) -> Page:
        """The page with this number; it may be growing."""
        await self._ready.wait()
        live = self._live
        if live is not None and number * SIZE == live.first:
            return live
        page = self._cache.get((self.key, number))
        if page is not None:
            return page
        # Whoever asks first may leave; the others still want it.
        task = self._building.get(number)
        if task is None:
            task = asyncio.create_task(self._build(number), name=f"page {number} of {self.key.debate}")
            self._building[number] = task
            task.add_done_callback(lambda _: self._building.pop(number, None))
        return await asyncio.shield(task)

    async def more(self, seq: int) -> None:
        """Wait until there is something after `seq`, or a beat, or the end."""
        live = self._live
        if self.end or (live is not None and live.last > seq):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future

    def beat(self) -> None:
        self.beats += 1
        self._wake()

    def enter(self) -> None:
        self._readers += 1
        if self._pump is None:
            self._pump = asyncio.create_task(self._follow(), name=f"feed of {self.key.debate}")

    def leave(self) -> bool:
        """Whether that was the last reader."""
        self._readers -= 1
        if self._readers:
            return False
        if self._pump is not None:
            self._pump.cancel()
        return True

    async def _build(self, number: int) -> Page:
        first = number * SIZE
        earlier = self._cache.get((self.key, number - 1))
        if earlier is not None:
            page = Page(first, earlier.state)
        else:
            page = await self._blank(first)
        for recorded in await self._store.read(self.key.debate, first, SIZE):
            self._add(page, recorded)
        self._cache.put((self.key, number), page)
        return page

    async def _blank(self, first: int) -> Page:
        return Page(first, await self._store.state(self.key.debate, first) if first else None)

    def _add(self, page: Page, recorded: Recorded) -> None:
        page.add(recorded, self._dialect, self.key.viewer, self._encode)

    async def _follow(self) -> None:
        while self.end is None:
            try:
                await self._grow()
                # The hub lets a follower go where the debate is gone, or where it closes itself.
                self.end = "closed" if self._hub.closed else "deleted"
            except UnknownDebate:
                self.end = "deleted"
            except StoreError:
                await asyncio.sleep(LATER_SECONDS)
            except Exception:
                log.exception("a feed broke off", extra={"debate": self.key.debate})
                self.end = "closed"
        if self.end == "deleted":
            self._cache.forget(self.key.debate)
        self._ready.set()
        self._wake()

    async def _grow(self) -> None:
        if self._live is None:
            head = await self._store.head(self.key.debate)
            self._live = await self._blank(head.version // SIZE * SIZE)
            self._ready.set()
        async for batch in self._hub.follow(self.key.debate, self._live.last):
            for recorded in batch:
                self._add(self._live, recorded)
                if self._live.full:
                    self._turn_over(self._live)
            self._wake()

    def _turn_over(self, done: Page) -> None:
        self._cache.put((self.key, done.first // SIZE), done)
        self._live = Page(done.last, done.state)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)


class Cache:
    """Pages of all feeds, the least recently used forgotten first."""

    def __init__(self, most: int = CACHED_BYTES) -> None:
        self._pages: OrderedDict[tuple[Key, int], Page] = OrderedDict()
        self._most = most
        self._size = 0

    def get(self, place: tuple[Key, int]) -> Page | None:
        page = self._pages.get(place)
        if page is not None and page.full:
            self._pages.move_to_end(place)
            return page
        return None

    def put(self, place: tuple[Key, int], page: Page) -> None:
        if not page.full or place in self._pages:
            return
        self._pages[place] = page
        self._size += page.size
        while self._size > self._most and len(self._pages) > 1:
            _, forgotten = self._pages.popitem(last=False)
            self._size -= forgotten.size

    def forget(self, debate_id: str) -> None:
        for place in [place for place in self._pages if place[0].debate == debate_id]:
            self._size -= self._pages.pop(place).size


class Feeds:
    """All feeds of this process."""

    def __init__(self, store: Store, hub: Hub, *, cached: int = CACHED_BYTES) -> None:
        self._store = store
        self._hub = hub
        self._cache = Cache(cached)
        self._feeds: dict[Key, Feed] = {}

    @asynccontextmanager
    async def reading(
        self, debate_id: str, dialect: Dialect, viewer: Viewer, encode: Encode, medium: str = "sse"
    ) -> AsyncGenerator[Feed]:
        """The feed, for as long as somebody reads it. `medium` tells feeds apart that encode differently."""
        key = Key(debate_id, f"{dialect.name}/{medium}", viewer)
        feed = self._feeds.get(key)
        if feed is None or feed.end:
            feed = Feed(key, dialect, encode, self._store, self._hub, self._cache)
            self._feeds[key] = feed
        feed.enter()
        try:
            yield feed
        finally:
            if feed.leave() and self._feeds.get(key) is feed:
                del self._feeds[key]

    def beat(self) -> None:
        for feed in tuple(self._feeds.values()):
            feed.beat()

    def forget(self, debate_id: str) -> None:
        """It was deleted: nothing of it stays."""
        self._cache.forget(debate_id)


async def read(feed: Feed, cursor: Cursor) -> AsyncGenerator[tuple[bytes, ...]]:
    """What a viewer has not seen yet, event by event; nothing, where a beat came and no event."""
    seq, skip, beats = cursor.whole, cursor.part, feed.beats
    while True:
        page = await feed.page(seq // SIZE)
        # It may grow while these are being sent.
        events, last, over = page.since(seq), page.last, page.ended
        for frames in events:
            if frames[skip:]:
                yield frames[skip:]
            skip = 0
        seq = last
        if over:
            return
        if events:
            continue
        if feed.end:
            return
        await feed.more(seq)
        if feed.beats != beats:
            beats = feed.beats
            yield ()


async def read_joined(feed: Feed, cursor: Cursor) -> AsyncGenerator[bytes]:
    """The same in pieces as large as a page, for those who send bytes: encoded and joined once for all."""
    if cursor.part:
        first = await feed.page(cursor.whole // SIZE)
        rest = first.since(cursor.whole)
        if rest:
            yield b"".join(rest[0][cursor.part :])
    seq, beats = cursor.seq, feed.beats
    while True:
        page = await feed.page(seq // SIZE)
        last, over = page.last, page.ended
        if last > seq:
            frames = page.joined(seq)
            seq = last
            if frames:
                yield frames
            if over:
                return
            continue
        if over or feed.end:
            return
        await feed.more(seq)
        if feed.beats != beats:
            beats = feed.beats
            yield b""
