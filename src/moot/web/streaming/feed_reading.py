"""What a reader takes from a feed after its cursor, and whether the log has anything more for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from moot.api.frames import Cursor, Dialect
from moot.core.evolve import evolve
from moot.core.visibility import Viewer, seen_event
from moot.store.contract import Store
from moot.web.streaming.feeds import PAGE_EVENTS, Feed, TryWrite


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


async def tells_more(store: Store, debate_id: str, dialect: Dialect, viewer: Viewer, cursor: Cursor) -> bool:
    """Whether the log, as it stands, has anything after the cursor for this viewer in this dialect."""
    seq, skip = cursor.complete_seq, cursor.part
    before = await store.state(debate_id, seq) if seq else None
    while records := await store.read(debate_id, seq, PAGE_EVENTS):
        for recorded in records:
            after = evolve(before, recorded)
            if dialect.frames(seen_event(recorded, before, after, viewer))[skip:]:
                return True
            before, seq, skip = after, recorded.seq, 0
    return False


async def has_ended(
    store: Store, debate_id: str, dialect: Dialect, viewer: Viewer, first: int, cursor: Cursor
) -> bool:
    """Whether a stream of this dialect that began after `first` had its end up to the cursor."""
    seq, last = first, cursor.complete_seq
    before = await store.state(debate_id, seq) if seq else None
    while seq < last and (records := await store.read(debate_id, seq, PAGE_EVENTS)):
        for recorded in records[: last - seq]:
            after = evolve(before, recorded)
            if dialect.ends(seen_event(recorded, before, after, viewer)):
                return True
            before, seq = after, recorded.seq
    return False
