"""Followers: each is a cursor into the log, not a queue.

One `LogTail` per followed debate keeps the latest records of the bus in memory; a cursor that is further back
reads the store page by page. So a slow reader delays only itself, and a returning reader loses nothing.

The bus says that a debate has grown or was deleted, with the committed records as a hint. Its messages may
come late, twice, in any order or not at all: the log is the truth. Once a second the heads of all followed
debates are read from the store, and at once where the store reports that another process has written, so a
lost message only costs time. A bus that works gets a second to deliver what the store already has: otherwise
all debates of a busy process would be read from the store just when it is late. While the store cannot be
reached, followers wait.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import Protocol

from moot.core.errors import StoreError, UnknownDebate
from moot.core.events import Recorded, StreamedEvent
from moot.store.contract import Listener, Store

PAGE = 512
TAIL_SIZE = 1024
POLL_SECONDS = 1.0
CHANGE_CHECK_SECONDS = 0.05

log = logging.getLogger("moot")


Receive = Callable[[tuple[Recorded, ...]], None]


class Bus(Protocol):
    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None: ...

    def add_listener(self, listener: Listener) -> None:
        """Call `listener` with the records of each commit; with () where only the log can tell what is new;
        with None where the debate was deleted."""
        ...

    def subscribe(self, debate_id: str, *, words: bool) -> None:
        """Receive the commits of other processes to this debate; with `words`, streamed text as well."""
        ...

    def unsubscribe(self, debate_id: str) -> None: ...

    @property
    def connection_error(self) -> str:
        """Why commits of other processes arrive late; empty where they do not."""
        ...

    @property
    def delivers(self) -> bool:
        """Whether commits of other processes are expected to arrive at present."""
        ...

    async def close(self) -> None:
        """Messages published before are still sent, where that takes no time."""
        ...


class MemoryBus:
    """The bus of a single process; `cluster/redis_bus.py` joins several."""

    connection_error = ""
    delivers = False

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def publish(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        for listener in self._listeners:
            listener(debate_id, records)

    def add_listener(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def subscribe(self, debate_id: str, *, words: bool) -> None:
        """There are no other processes."""

    def unsubscribe(self, debate_id: str) -> None:
        """There are no other processes."""

    async def close(self) -> None:
        self._listeners.clear()


class LogTail:
    """The end of one debate's log, as far as this process has received it."""

    def __init__(self) -> None:
        self.window: deque[Recorded] = deque(maxlen=TAIL_SIZE)
        self.head = 0
        """The latest known version; 0 before the first look."""
        self.expected = 0
        """The version of the store a second ago: what the bus should have delivered by now."""
        self.deleted = False
        self.followers = 0
        self.word_followers = 0
        """Those of the followers that receive streamed text too."""
        self._waiting: list[asyncio.Future[None]] = []
        self._waiting_for_turns: list[asyncio.Future[None]] = []
        self._receivers: dict[asyncio.Future[int], Receive] = {}
        """Of followers that have received everything up to `head`."""

    def since(self, cursor: int) -> tuple[Recorded, ...] | None:
        """The records after the cursor; None where they have to be read from the store."""
        if not self.head:
            return None
        if cursor >= self.head:
            return ()
        window = self.window
        if not window or cursor + 1 < window[0].seq or window[-1].seq < self.head:
            return None
        # From the right, where nearly all cursors are: a deque is slow in its middle.
        return tuple([window[i] for i in range(cursor - self.head, min(0, cursor - self.head + PAGE))])

    def add(self, records: tuple[Recorded, ...]) -> None:
        before, turned = self.head, False
        for recorded in records:
            if self.window and recorded.seq <= self.window[-1].seq:
                continue
            if self.window and recorded.seq != self.window[-1].seq + 1:
                self.window.clear()
            self.window.append(recorded)
            # A hole may have held an event that is not streamed text: wake everybody.
            if recorded.seq > self.head + 1 or not isinstance(recorded.event, StreamedEvent):
                turned = True
            self.head = max(self.head, recorded.seq)
        if self.head > before:
            self._push(before, records)
            self._wake(turned)

    def saw_version(self, version: int) -> None:
        """The store was read at this version."""
        if version > self.head:
            self._end_pushes()
            self.head = version
            self._wake(True)

    def retract_head(self, head_before: int, cursor: int) -> None:
        """The store has nothing after the cursor, although `head` was beyond it before the read."""
        if self.head == head_before > cursor:
            self._end_pushes()
            self.head = cursor
            self.window.clear()

    def mark_deleted(self) -> None:
        self._end_pushes()
        self.deleted = True
        self._wake(True)

    async def wait_for_more(self, cursor: int, *, turns_only: bool) -> None:
        """Wait until there may be more after the cursor."""
        if self.deleted or self.head > cursor:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._waiting_for_turns if turns_only else self._waiting).append(future)
        await future

    async def push_to(self, receive: Receive) -> int:
        """Call `receive` with all that is added from now on, as long as there is no hole. Returns the seq of
        the last event that it got."""
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._receivers[done] = receive
        try:
            return await done
        finally:
            self._receivers.pop(done, None)

    def _push(self, before: int, records: tuple[Recorded, ...]) -> None:
        """`before` is the head before these records were added: what the receivers have got."""
        unseen = records[max(0, before + 1 - records[0].seq) :]
        is_next = unseen[0].seq == before + 1 and unseen[-1].seq == self.head
        for done, receive in tuple(self._receivers.items()):
            if not is_next:
                self._end_push(done, before)
                continue
            try:
                receive(unseen)
            except Exception as error:
                del self._receivers[done]
                done.set_exception(error)

    def _end_pushes(self) -> None:
        for done in tuple(self._receivers):
            self._end_push(done, self.head)

    def _end_push(self, done: asyncio.Future[int], seq: int) -> None:
        del self._receivers[done]
        if not done.done():
            done.set_result(seq)

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
        """Batches of records after `after`, without end, until the debate is deleted or `close` is called.

        With `turns_only`, streamed text is left out and does not even wake the follower.
        """
        tail = self._open_tail(debate_id, words=not turns_only)
        cursor = after
        self._begin_at_cached_state(tail, debate_id, cursor)
        try:
            while not self._closed:
                batch = tail.since(cursor)
                if batch is None:
                    batch = await self._read(tail, debate_id, cursor)
                if batch:
                    cursor = batch[-1].seq
                    records = _turns(batch) if turns_only else batch
                    if records:
                        yield records
                    continue
                if tail.deleted:
                    return
                await tail.wait_for_more(cursor, turns_only=turns_only)
        finally:
            self._close_tail(debate_id, tail, words=not turns_only)

    async def follow_into(self, debate_id: str, after: int, receive: Receive) -> None:
        """Like `follow`, but calls `receive` with each batch. A follower that has received everything gets
        what is committed in the same pass of the event loop, without a task being woken."""
        tail = self._open_tail(debate_id, words=True)
        cursor = after
        try:
            while not (self._closed or tail.deleted):
                batch = tail.since(cursor)
                if batch is None:
                    batch = await self._read(tail, debate_id, cursor)
                if batch:
                    receive(batch)
                    cursor = batch[-1].seq
                elif cursor == tail.head:
                    cursor = await tail.push_to(receive)
                else:
                    await tail.wait_for_more(cursor, turns_only=False)
        finally:
            self._close_tail(debate_id, tail, words=True)

    @property
    def closed(self) -> bool:
        return self._closed

    async def close(self) -> None:
        """End every stream."""
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
            head_before = tail.head
            try:
                batch = await self._store.read(debate_id, cursor, PAGE)
            except UnknownDebate:
                tail.mark_deleted()
            except StoreError:
                await self._wait_for_store()
            else:
                # An empty batch says nothing about the head: the cursor may be far beyond it.
                if len(batch) < PAGE:
                    tail.add(batch)
                if not batch:
                    tail.retract_head(head_before, cursor)
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
        tail.word_followers += words
        if tail.followers == 1 or (words and tail.word_followers == 1):
            self._bus.subscribe(debate_id, words=words)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll_store(), name="followers poll")
        return tail

    def _begin_at_cached_state(self, tail: LogTail, debate_id: str, cursor: int) -> None:
        """A follower that starts at the state in memory, as a runner does, need not read the log first. What
        came after that state is found by the next check, which is one query for all debates."""
        known = self._store.cached_state(debate_id) if cursor and not tail.head else None
        if known is not None and known.seq == cursor:
            tail.head = cursor
            self._to_check.add(debate_id)

    def _close_tail(self, debate_id: str, tail: LogTail, *, words: bool) -> None:
        tail.followers -= 1
        tail.word_followers -= words
        if self._tails.get(debate_id) is not tail:
            return
        if not tail.followers:
            del self._tails[debate_id]
            self._to_check.discard(debate_id)
            self._bus.unsubscribe(debate_id)
        elif words and not tail.word_followers:
            self._bus.subscribe(debate_id, words=False)

    # --- reading the heads ---------------------------------------------------------------------------

    async def _poll_store(self) -> None:
        checks = 0
        while self._tails and not self._closed:
            await asyncio.sleep(CHANGE_CHECK_SECONDS)
            checks += 1
            try:
                changed = await self._store.changed_elsewhere()
                if changed or checks * CHANGE_CHECK_SECONDS >= POLL_SECONDS:
                    checks = 0
                    await self._check_heads(self._tails, patient=self._bus.delivers and not changed)
                    self._wake_waiting()
                elif self._to_check:
                    await self._check_heads(self._to_check)
            except StoreError:
                pass
            except Exception:
                # Without this task followers would wait for ever for a message that was lost.
                log.exception("looking for new events failed; it is tried again")

    async def _check_heads(self, debate_ids: Iterable[str], *, patient: bool = False) -> None:
        """Patiently: what the bus has not delivered is looked for only at the next check."""
        followed = tuple(debate_ids)
        # Before the read: a check requested from here on may not be answered by it.
        requested = self._to_check.intersection(followed)
        self._to_check.difference_update(followed)
        positions = await self._store.positions(followed)
        for debate_id in followed:
            tail = self._tails.get(debate_id)
            if tail is None:
                continue
            if debate_id not in positions:
                tail.mark_deleted()
            else:
                version, before = positions[debate_id].version, tail.expected
                tail.expected = version
                tail.saw_version(before if patient and debate_id not in requested else version)

    async def _wait_for_store(self) -> None:
        """Wait until the poll, which tries once a second, reaches the store again."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting_for_store.append(future)
        await future

    def _wake_waiting(self) -> None:
        waiting, self._waiting_for_store = self._waiting_for_store, []
        for future in waiting:
            if not future.done():
                future.set_result(None)


def _turns(batch: tuple[Recorded, ...]) -> tuple[Recorded, ...]:
    return tuple(r for r in batch if not isinstance(r.event, StreamedEvent))
