"""Feeds: one debate in one dialect for one kind of viewer, encoded once and read by any number of viewers.

A feed is a sequence of pages of 256 events each. The last page grows: one task folds the log and appends the
encoded frames as they are committed. Earlier pages are built from the store when they are first read, and
kept in a cache that all feeds share. A reader has a cursor and no queue: it is woken when there is more, and
takes what it has not seen. For a reader that has seen everything the feed may write directly to the
connection, without waking it: that is the case for most viewers most of the time, and many times cheaper.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Literal

from msgspec import Struct

from moot.api.frames import Dialect, Frame, frame_id
from moot.core.errors import StoreError, UnknownDebate
from moot.core.events import Recorded
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.visibility import Viewer, seen_event
from moot.engine.followers import Followers
from moot.store.contract import Store

log = logging.getLogger(__name__)

PAGE_EVENTS = 256
YIELD_EVERY = 16
"""After this many events a builder yields to other tasks."""
CACHED_BYTES = 64 * 1024 * 1024
EVENT_OVERHEAD = 200
"""Bytes of memory for an event, besides its frames."""
STORE_RETRY_SECONDS = 0.5
IDLE_SECONDS = 1.0
"""How long a feed is kept without readers: those who come back after a restart come and go one by one."""

EncodeFrame = Callable[[Frame, str], bytes]
TryWrite = Callable[[bytes], bool]
"""Writes the encoded frames of some events, or nothing for a heartbeat; False if it cannot do so now."""
FeedEnd = Literal["deleted", "closed"]
"""Why nothing more will come: the debate was deleted, or the server stops."""


class FeedKey(Struct, frozen=True):
    debate: str
    dialect: str
    viewer: Viewer


class FeedPage:
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
        self._pages: OrderedDict[tuple[FeedKey, int], FeedPage] = OrderedDict()
        self._most = most
        self._size = 0
        self.forgotten = 0
        """How often `forget` was called: a page built meanwhile may be of a deleted debate."""

    def get(self, key: tuple[FeedKey, int]) -> FeedPage | None:
        page = self._pages.get(key)
        if page is not None and page.full:
            self._pages.move_to_end(key)
            return page
        return None

    def put(self, key: tuple[FeedKey, int], page: FeedPage) -> None:
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


class Feed:
    """Use `Feeds.open_feed`."""

    def __init__(
        self,
        key: FeedKey,
        dialect: Dialect,
        encode: EncodeFrame,
        store: Store,
        followers: Followers,
        cache: PageCache,
    ) -> None:
        self.key = key
        self.heartbeats = 0
        self.end: FeedEnd | None = None
        self._dialect = dialect
        self._encode = encode
        self._store = store
        self._followers = followers
        self._cache = cache
        self._live: FeedPage | None = None
        self._ready = asyncio.Event()
        self._building: dict[int, asyncio.Task[FeedPage]] = {}
        self._waiting: list[asyncio.Future[None]] = []
        self._direct_writers: dict[asyncio.Future[int], TryWrite] = {}
        self._head = 0
        """The last event when this feed began or a reader came: states before it are past ones."""
        self._written_seq = 0
        """The last event that was written directly."""
        self._ended = False
        """Whether the dialect has had its last frame."""
        self._pump: asyncio.Task[None] | None = None
        self._readers = 0

    async def page(self, number: int) -> FeedPage:
        """The page with this number. It may still grow; it is empty if the debate was deleted."""
        while True:
            try:
                return await self._page(number)
            except UnknownDebate:
                self.end = "deleted"
                return FeedPage(number * PAGE_EVENTS, None)
            except StoreError:
                await asyncio.sleep(STORE_RETRY_SECONDS)

    async def _page(self, number: int) -> FeedPage:
        await self._ready.wait()
        live = self._live
        if live is not None and number * PAGE_EVENTS == live.first:
            return live
        page = self._cache.get((self.key, number))
        if page is not None:
            return page
        # Shielded: the first reader may leave while others wait for the page.
        task = self._building.get(number)
        if task is None:
            task = asyncio.create_task(self._build(number), name=f"page {number} of {self.key.debate}")
            self._building[number] = task
            task.add_done_callback(lambda _: self._building.pop(number, None))
        return await asyncio.shield(task)

    def is_over(self, page: FeedPage) -> bool:
        """Whether nothing follows this page, ever or until a command continues the debate."""
        if page.ended or page is not self._live or page.last < self._head or page.state is None:
            return page.ended
        return self._dialect.rests(page.state)

    async def wait_for_more(self, seq: int) -> None:
        """Wait for an event after `seq`, a heartbeat or the end."""
        if self._has_more(seq):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future

    async def write_directly(self, seq: int, try_write: TryWrite) -> int:
        """Write everything after `seq` directly, until that fails. Returns the last seq that was written."""
        if self._has_more(seq) or seq > self._written_seq:
            # A new page may not have reached the cursor yet.
            await self.wait_for_more(seq)
            return seq
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._direct_writers[done] = try_write
        try:
            return await done
        finally:
            self._direct_writers.pop(done, None)

    def heartbeat(self) -> None:
        self.heartbeats += 1
        self._try_write(b"")
        self._wake()

    def add_reader(self, version: int) -> None:
        """`version` is that of the debate as the reader has found it; the feed may not be as far yet."""
        self._readers += 1
        self._head = max(self._head, version)
        if self._pump is None:
            self._pump = asyncio.create_task(self._follow(), name=f"feed of {self.key.debate}")

    def remove_reader(self) -> None:
        self._readers -= 1

    @property
    def idle(self) -> bool:
        return not self._readers

    def close(self) -> None:
        if self._pump is not None:
            self._pump.cancel()

    async def _build(self, number: int) -> FeedPage:
        first, before = number * PAGE_EVENTS, self._cache.forgotten
        page = await self._empty_page(first)
        for recorded in await self._store.read(self.key.debate, first, PAGE_EVENTS):
            if recorded.seq % YIELD_EVERY == 0:
                await asyncio.sleep(0)
            page.add(recorded, self._dialect, self.key.viewer, self._encode)
        if self._cache.forgotten == before:
            # A debate that was deleted meanwhile must not stay in the cache.
            self._cache.put((self.key, number), page)
        return page

    async def _empty_page(self, first: int) -> FeedPage:
        """A page with the state at the end of the page before, from the cache or else from the store."""
        earlier = self._cache.get((self.key, first // PAGE_EVENTS - 1))
        if earlier is not None:
            return FeedPage(first, earlier.state)
        return FeedPage(first, await self._store.state(self.key.debate, first) if first else None)

    def _has_more(self, seq: int) -> bool:
        return self.end is not None or (self._live is not None and self._live.last > seq)

    async def _follow(self) -> None:
        while self.end is None:
            try:
                await self._grow()
                # Following ends when the debate is deleted or the server stops.
                self.end = "closed" if self._followers.closed else "deleted"
            except UnknownDebate:
                self.end = "deleted"
            except StoreError:
                await asyncio.sleep(STORE_RETRY_SECONDS)
            except Exception:
                log.exception("a feed failed", extra={"debate": self.key.debate})
                self.end = "closed"
        if self.end == "deleted":
            self._cache.forget(self.key.debate)
        self._ready.set()
        self._release_writers()
        self._wake()

    async def _grow(self) -> None:
        if self._live is None:
            head = await self._store.head(self.key.debate)
            self._head = max(self._head, head.version)
            self._live = await self._empty_page(head.version // PAGE_EVENTS * PAGE_EVENTS)
            self._written_seq, self._ended = self._live.last, self._live.ended
            self._ready.set()
        await self._followers.follow_into(self.key.debate, self._live.last, self._add)

    def _add(self, records: tuple[Recorded, ...]) -> None:
        """Append the frames of these records, and write them to all who have seen the rest."""
        page = self._live
        if page is None:
            return
        committed = self._store.cached_state(self.key.debate)
        fresh: list[bytes] = []
        for recorded in records:
            # The store has folded the last of them already.
            after = committed if committed is not None and committed.seq == recorded.seq else None
            fresh += page.add(recorded, self._dialect, self.key.viewer, self._encode, after)
            self._ended = self._ended or page.ended
            if page.full:
                self._cache.put((self.key, page.first // PAGE_EVENTS), page)
                self._live = page = FeedPage(page.last, page.state)
        # No await since the first of them was added to its page: otherwise a reader could get it twice.
        if self._ended or self.is_over(page):
            # Readers fetch the end themselves, so that they notice it.
            self._release_writers()
        elif fresh:
            self._try_write(fresh[0] if len(fresh) == 1 else b"".join(fresh))
        self._written_seq = page.last
        self._wake()

    def _try_write(self, piece: bytes) -> None:
        for done, try_write in tuple(self._direct_writers.items()):
            if not try_write(piece):
                self._release(done)

    def _release_writers(self) -> None:
        for done in tuple(self._direct_writers):
            self._release(done)

    def _release(self, done: asyncio.Future[int]) -> None:
        del self._direct_writers[done]
        if not done.done():
            done.set_result(self._written_seq)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)


class Feeds:
    """All feeds of this process."""

    def __init__(self, store: Store, followers: Followers, *, cached: int = CACHED_BYTES) -> None:
        self._store = store
        self._followers = followers
        self._cache = PageCache(cached)
        self._feeds: dict[FeedKey, Feed] = {}
        self._closing: set[Feed] = set()
        """Feeds that had no reader a moment ago."""

    @asynccontextmanager
    async def open_feed(
        self,
        debate_id: str,
        dialect: Dialect,
        viewer: Viewer,
        encode: EncodeFrame,
        medium: str = "sse",
        version: int = 0,
    ) -> AsyncGenerator[Feed]:
        """The feed of a reader; it is closed soon after its last one.

        `medium` separates feeds by encoding. The feed does not end before it has reached `version`.
        """
        key = FeedKey(debate_id, f"{dialect.name}/{medium}", viewer)
        feed = self._feeds.get(key)
        if feed is None or feed.end:
            feed = Feed(key, dialect, encode, self._store, self._followers, self._cache)
            self._feeds[key] = feed
        feed.add_reader(version)
        try:
            yield feed
        finally:
            feed.remove_reader()
            if feed.idle and feed not in self._closing:
                self._closing.add(feed)
                asyncio.get_running_loop().call_later(IDLE_SECONDS, self._close_if_idle, feed)

    def _close_if_idle(self, feed: Feed) -> None:
        self._closing.discard(feed)
        if not feed.idle:
            return
        feed.close()
        if self._feeds.get(feed.key) is feed:
            del self._feeds[feed.key]

    def heartbeat(self) -> None:
        for feed in tuple(self._feeds.values()):
            feed.heartbeat()

    def on_records(self, debate_id: str, records: Sequence[Recorded] | None) -> None:
        """Drop the cached pages of a debate that was deleted."""
        if records is None:
            self._cache.forget(debate_id)
