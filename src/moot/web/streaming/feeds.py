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
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Literal

from moot.api.frames import Cursor, Dialect, seen_event
from moot.core.errors import StoreError, UnknownDebate
from moot.core.events import Recorded
from moot.core.evolve import evolve
from moot.core.visibility import Viewer
from moot.engine.followers import Followers
from moot.store.contract import Store
from moot.web.streaming.frame_cache import (
    CACHED_BYTES,
    PAGE_EVENTS,
    YIELD_EVERY,
    EncodeFrame,
    FeedKey,
    FramePage,
    PageCache,
)

log = logging.getLogger(__name__)

STORE_RETRY_SECONDS = 0.5
IDLE_SECONDS = 1.0
"""How long a feed is kept without readers: those who come back after a restart come and go one by one."""

TryWrite = Callable[[bytes], bool]
"""Writes the encoded frames of some events, or nothing for a heartbeat; False if it cannot do so now."""
FeedEnd = Literal["deleted", "closed"]
"""Why nothing more will come: the debate was deleted, or the server stops."""


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
        self._live: FramePage | None = None
        self._ready = asyncio.Event()
        self._building: dict[int, asyncio.Task[FramePage]] = {}
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

    async def page(self, number: int) -> FramePage:
        """The page with this number. It may still grow; it is empty if the debate was deleted."""
        while True:
            try:
                return await self._page(number)
            except UnknownDebate:
                self.end = "deleted"
                return FramePage(number * PAGE_EVENTS, None)
            except StoreError:
                await asyncio.sleep(STORE_RETRY_SECONDS)

    async def _page(self, number: int) -> FramePage:
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

    def is_over(self, page: FramePage) -> bool:
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

    async def _build(self, number: int) -> FramePage:
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

    async def _empty_page(self, first: int) -> FramePage:
        """A page with the state at the end of the page before, from the cache or else from the store."""
        earlier = self._cache.get((self.key, first // PAGE_EVENTS - 1))
        if earlier is not None:
            return FramePage(first, earlier.state)
        return FramePage(first, await self._store.state(self.key.debate, first) if first else None)

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
                self._live = page = FramePage(page.last, page.state)
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

    async def tells_more(self, debate_id: str, dialect: Dialect, viewer: Viewer, cursor: Cursor) -> bool:
        """Whether the log, as it stands, has anything after the cursor for this viewer in this dialect."""
        seq, skip = cursor.complete_seq, cursor.part
        before = await self._store.state(debate_id, seq) if seq else None
        while records := await self._store.read(debate_id, seq, PAGE_EVENTS):
            for recorded in records:
                after = evolve(before, recorded)
                if dialect.frames(seen_event(recorded, before, after, viewer))[skip:]:
                    return True
                before, seq, skip = after, recorded.seq, 0
        return False

    async def has_ended(
        self, debate_id: str, dialect: Dialect, viewer: Viewer, first: int, cursor: Cursor
    ) -> bool:
        """Whether a stream of this dialect that began after `first` had its end up to the cursor."""
        seq, last = first, cursor.complete_seq
        before = await self._store.state(debate_id, seq) if seq else None
        while seq < last and (records := await self._store.read(debate_id, seq, PAGE_EVENTS)):
            for recorded in records[: last - seq]:
                after = evolve(before, recorded)
                if dialect.ends(seen_event(recorded, before, after, viewer)):
                    return True
                before, seq = after, recorded.seq
        return False

    def forget(self, debate_id: str) -> None:
        """Drop the cached pages of a deleted debate."""
        self._cache.forget(debate_id)


async def read_bytes(feed: Feed, cursor: Cursor, try_write: TryWrite | None = None) -> AsyncGenerator[bytes]:
    """The frames after the cursor, joined up to a page at a time; b"" for a heartbeat.

    With `try_write`, only what it refuses is yielded.
    """
    if cursor.part:
        unseen, over = await _unseen_frames(feed, cursor)
        yield b"".join(unseen)
        if over:
            return
    seq, beats = cursor.seq, feed.heartbeats
    while True:
        page = await feed.page(seq // PAGE_EVENTS)
        last, over = page.last, feed.is_over(page)
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
        if try_write is None:
            await feed.wait_for_more(seq)
        else:
            seq = await feed.write_directly(seq, try_write)
        if feed.heartbeats != beats:
            beats = feed.heartbeats
            yield b""


async def _unseen_frames(feed: Feed, cursor: Cursor) -> tuple[tuple[bytes, ...], bool]:
    """The frames of the cursor's event that the viewer has not seen, and whether that is the last event."""
    while True:
        page = await feed.page(cursor.complete_seq // PAGE_EVENTS)
        if page.last > cursor.complete_seq:
            over = feed.is_over(page) and page.last == cursor.seq
            return page.since(cursor.complete_seq)[0][cursor.part :], over
        if feed.end:
            return (), True
        # A new page may not have reached the cursor yet.
        await feed.wait_for_more(cursor.complete_seq)
