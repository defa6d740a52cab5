"""Followers: each a cursor into the log, not a queue.

One tail per followed debate keeps the latest records that were heard at hand; a cursor that is further back
reads the store, page by page. A slow reader delays only itself, a returning one loses nothing. News may come
late, twice, in any order or not at all. So once a second the heads of all followed debates are looked up, and
a lost message only costs time; where the store says that another process has written, they are looked up at
once. While the store is away followers wait for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from itertools import islice

from moot.core.errors import StoreError, UnknownDebate
from moot.core.events import CallDelta, Recorded, SegmentCompleted
from moot.engine.bus import Bus
from moot.store.contract import Store

PAGE = 512
TAIL_SIZE = 1024
POLL_SECONDS = 1.0
CHANGE_CHECK_SECONDS = 0.05

log = logging.getLogger("moot")


class LogTail:
    """The end of one debate's log, as this process has heard it."""

    def __init__(self) -> None:
        self.window: deque[Recorded] = deque(maxlen=TAIL_SIZE)
        self.head = 0
        """The latest version that was heard of; 0 where nobody has looked yet."""
        self.deleted = False
        self.followers = 0
        self.listeners = 0
        """Those of the followers who want the words too."""
        self._waiting: list[asyncio.Future[None]] = []
        self._waiting_for_turns: list[asyncio.Future[None]] = []

    def since(self, cursor: int) -> tuple[Recorded, ...] | None:
        """What came after the cursor; None where only the store can tell."""
        if not self.head:
            return None
        if cursor >= self.head:
            return ()
        if not self.window or cursor + 1 < self.window[0].seq or self.window[-1].seq < self.head:
            return None
        return tuple(
            islice(self.window, cursor + 1 - self.window[0].seq, PAGE + cursor + 1 - self.window[0].seq)
        )

    def add(self, records: tuple[Recorded, ...]) -> None:
        before, turned = self.head, False
        for recorded in records:
            if self.window and recorded.seq <= self.window[-1].seq:
                continue
            if self.window and recorded.seq != self.window[-1].seq + 1:
                self.window.clear()
            self.window.append(recorded)
            # What was lost in a hole may have been a turn, and nothing else would tell of it.
            if recorded.seq > self.head + 1 or not isinstance(recorded.event, CallDelta | SegmentCompleted):
                turned = True
            self.head = max(self.head, recorded.seq)
        if self.head > before:
            self._wake(turned)

    def saw_version(self, version: int) -> None:
        """The store has been seen at this version."""
        if version > self.head:
            self.head = version
            self._wake(True)

    def retract_head(self, heard: int, cursor: int) -> None:
        """The log has nothing after the cursor, although more had been heard of before it was asked."""
        if self.head == heard > cursor:
            self.head = cursor
            self.window.clear()

    def mark_deleted(self) -> None:
        self.deleted = True
        self._wake(True)

    async def wait_for_more(self, cursor: int, *, turns_only: bool) -> None:
        """Wait until there may be more after the cursor."""
        if self.deleted or self.head > cursor:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._waiting_for_turns if turns_only else self._waiting).append(future)
        await future

    def _wake(self, turned: bool) -> None:
        waiting, self._waiting = self._waiting, []
        if turned:
            waiting += self._waiting_for_turns
            self._waiting_for_turns = []
        for future in waiting:
            if not future.done():
                future.set_result(None)


class Followers:
    def __init__(self, store: Store, bus: Bus) -> None:
        self._store = store
        self._bus = bus
        self._tails: dict[str, LogTail] = {}
        self._to_check: set[str] = set()
        self._waiting_for_store: list[asyncio.Future[None]] = []
        self._closed = False
        self._poller: asyncio.Task[None] | None = None
        bus.add_listener(self._on_records)

    async def follow(
        self, debate_id: str, after: int = 0, *, turns_only: bool = False
    ) -> AsyncIterator[tuple[Recorded, ...]]:
        """Batches of records after `after`, for ever; ends when the debate is deleted or the hub closes.

        With `turns_only` words are left out, and do not even wake the follower.
        """
        tail = self._open_tail(debate_id, words=not turns_only)
        cursor = after
        try:
            while not self._closed:
                batch = tail.since(cursor)
                if batch is None:
                    batch = await self._read(tail, debate_id, cursor)
                if batch:
                    cursor = batch[-1].seq
                    shown = _turns(batch) if turns_only else batch
                    if shown:
                        yield shown
                    continue
                if tail.deleted:
                    return
                await tail.wait_for_more(cursor, turns_only=turns_only)
        finally:
            self._close_tail(debate_id, tail, words=not turns_only)

    @property
    def closed(self) -> bool:
        return self._closed

    async def close(self) -> None:
        """End every stream, then rest."""
        self._closed = True
        for tail in self._tails.values():
            tail.mark_deleted()
        self._wake_waiting()
        if self._poller is not None:
            self._poller.cancel()
            with suppress(asyncio.CancelledError):
                await self._poller

    async def _read(self, tail: LogTail, debate_id: str, cursor: int) -> tuple[Recorded, ...]:
        while not (self._closed or tail.deleted):
            heard = tail.head
            try:
                batch = await self._store.read(debate_id, cursor, PAGE)
            except UnknownDebate:
                tail.mark_deleted()
            except StoreError:
                await self._wait_for_store()
            else:
                # An empty one tells nothing of the head: the cursor may be far beyond it.
                if len(batch) < PAGE:
                    tail.add(batch)
                if not batch:
                    tail.retract_head(heard, cursor)
                return batch
        return ()

    def _on_records(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        tail = self._tails.get(debate_id)
        if tail is None:
            return
        if records is None:
            tail.mark_deleted()
        elif records:
            tail.add(records)
        else:
            self._to_check.add(debate_id)

    def _open_tail(self, debate_id: str, *, words: bool) -> LogTail:
        tail = self._tails.setdefault(debate_id, LogTail())
        tail.followers += 1
        tail.listeners += words
        if tail.followers == 1 or (words and tail.listeners == 1):
            self._bus.subscribe(debate_id, words=words)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll_store(), name="hub pulse")
        return tail

    def _close_tail(self, debate_id: str, tail: LogTail, *, words: bool) -> None:
        tail.followers -= 1
        tail.listeners -= words
        if self._tails.get(debate_id) is not tail:
            return
        if not tail.followers:
            del self._tails[debate_id]
            self._to_check.discard(debate_id)
            self._bus.unsubscribe(debate_id)
        elif words and not tail.listeners:
            self._bus.subscribe(debate_id, words=False)

    # --- looking at the store -------------------------------------------------------------------------

    async def _poll_store(self) -> None:
        glances = 0
        while self._tails and not self._closed:
            await asyncio.sleep(CHANGE_CHECK_SECONDS)
            glances += 1
            try:
                if await self._store.changed_elsewhere() or glances * CHANGE_CHECK_SECONDS >= POLL_SECONDS:
                    glances = 0
                    await self._check_heads(self._tails)
                    self._wake_waiting()
                elif self._to_check:
                    await self._check_heads(self._to_check)
            except StoreError:
                pass
            except Exception:
                # Without this task followers would wait for ever for what they have not heard.
                log.exception("looking for new events failed; it is tried again")

    async def _check_heads(self, debate_ids: Iterable[str]) -> None:
        followed = tuple(debate_ids)
        # Before the look: whoever asks for one from here on is not sure to be answered by it.
        self._to_check.difference_update(followed)
        pulses = await self._store.positions(followed)
        for debate_id in followed:
            tail = self._tails.get(debate_id)
            if tail is None:
                continue
            if debate_id not in pulses:
                tail.mark_deleted()
            else:
                tail.saw_version(pulses[debate_id].version)

    async def _wait_for_store(self) -> None:
        """The store is away. One look a second finds out when it is back, however many wait for it."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting_for_store.append(future)
        await future

    def _wake_waiting(self) -> None:
        stranded, self._waiting_for_store = self._waiting_for_store, []
        for future in stranded:
            if not future.done():
                future.set_result(None)


def _turns(batch: tuple[Recorded, ...]) -> tuple[Recorded, ...]:
    return tuple(r for r in batch if not isinstance(r.event, CallDelta | SegmentCompleted))
