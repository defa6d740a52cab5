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
WINDOW = 1024
PULSE_SECONDS = 1.0
GLANCE_SECONDS = 0.05

log = logging.getLogger("moot")


class Tail:
    """The end of one debate's log, as this process has heard it."""

    def __init__(self) -> None:
        self.window: deque[Recorded] = deque(maxlen=WINDOW)
        self.head = 0
        """The latest version that was heard of; 0 where nobody has looked yet."""
        self.gone = False
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

    def hear(self, records: tuple[Recorded, ...]) -> None:
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

    def look(self, version: int) -> None:
        """The store has been seen at this version."""
        if version > self.head:
            self.head = version
            self._wake(True)

    def doubt(self, heard: int, cursor: int) -> None:
        """The log has nothing after the cursor, although more had been heard of before it was asked."""
        if self.head == heard > cursor:
            self.head = cursor
            self.window.clear()

    def end(self) -> None:
        self.gone = True
        self._wake(True)

    async def grown(self, cursor: int, *, turns_only: bool) -> None:
        """Wait until there may be more after the cursor."""
        if self.gone or self.head > cursor:
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


class Hub:
    def __init__(self, store: Store, bus: Bus) -> None:
        self._store = store
        self._bus = bus
        self._tails: dict[str, Tail] = {}
        self._unseen: set[str] = set()
        self._stranded: list[asyncio.Future[None]] = []
        self._closed = False
        self._pulse: asyncio.Task[None] | None = None
        bus.subscribe(self._heard)

    async def follow(
        self, debate_id: str, after: int = 0, *, turns_only: bool = False
    ) -> AsyncIterator[tuple[Recorded, ...]]:
        """Batches of records after `after`, for ever; ends when the debate is deleted or the hub closes.

        With `turns_only` words are left out, and do not even wake the follower.
        """
        tail = self._enter(debate_id, words=not turns_only)
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
                if tail.gone:
                    return
                await tail.grown(cursor, turns_only=turns_only)
        finally:
            self._leave(debate_id, tail, words=not turns_only)

    @property
    def closed(self) -> bool:
        return self._closed

    async def close(self) -> None:
        """End every stream, then rest."""
        self._closed = True
        for tail in self._tails.values():
            tail.end()
        self._rescue()
        if self._pulse is not None:
            self._pulse.cancel()
            with suppress(asyncio.CancelledError):
                await self._pulse

    async def _read(self, tail: Tail, debate_id: str, cursor: int) -> tuple[Recorded, ...]:
        while not (self._closed or tail.gone):
            heard = tail.head
            try:
                batch = await self._store.read(debate_id, cursor, PAGE)
            except UnknownDebate:
                tail.end()
            except StoreError:
                await self._until_looked()
            else:
                # An empty one tells nothing of the head: the cursor may be far beyond it.
                if len(batch) < PAGE:
                    tail.hear(batch)
                if not batch:
                    tail.doubt(heard, cursor)
                return batch
        return ()

    def _heard(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        tail = self._tails.get(debate_id)
        if tail is None:
            return
        if records is None:
            tail.end()
        elif records:
            tail.hear(records)
        else:
            self._unseen.add(debate_id)

    def _enter(self, debate_id: str, *, words: bool) -> Tail:
        tail = self._tails.setdefault(debate_id, Tail())
        tail.followers += 1
        tail.listeners += words
        if tail.followers == 1 or (words and tail.listeners == 1):
            self._bus.heed(debate_id, words=words)
        if self._pulse is None or self._pulse.done():
            self._pulse = asyncio.create_task(self._keep_looking(), name="hub pulse")
        return tail

    def _leave(self, debate_id: str, tail: Tail, *, words: bool) -> None:
        tail.followers -= 1
        tail.listeners -= words
        if self._tails.get(debate_id) is not tail:
            return
        if not tail.followers:
            del self._tails[debate_id]
            self._unseen.discard(debate_id)
            self._bus.ignore(debate_id)
        elif words and not tail.listeners:
            self._bus.heed(debate_id, words=False)

    # --- looking at the store -------------------------------------------------------------------------

    async def _keep_looking(self) -> None:
        glances = 0
        while self._tails and not self._closed:
            await asyncio.sleep(GLANCE_SECONDS)
            glances += 1
            try:
                if await self._store.changed_elsewhere() or glances * GLANCE_SECONDS >= PULSE_SECONDS:
                    glances = 0
                    await self._look(self._tails)
                    self._rescue()
                elif self._unseen:
                    await self._look(self._unseen)
            except StoreError:
                pass
            except Exception:
                # Without this task followers would wait for ever for what they have not heard.
                log.exception("the heads of the debates could not be looked up")

    async def _look(self, debate_ids: Iterable[str]) -> None:
        followed = tuple(debate_ids)
        # Before the look: whoever asks for one from here on is not sure to be answered by it.
        self._unseen.difference_update(followed)
        pulses = await self._store.pulses(followed)
        for debate_id in followed:
            tail = self._tails.get(debate_id)
            if tail is None:
                continue
            if debate_id not in pulses:
                tail.end()
            else:
                tail.look(pulses[debate_id].version)

    async def _until_looked(self) -> None:
        """The store is away. One look a second finds out when it is back, however many wait for it."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stranded.append(future)
        await future

    def _rescue(self) -> None:
        stranded, self._stranded = self._stranded, []
        for future in stranded:
            if not future.done():
                future.set_result(None)


def _turns(batch: tuple[Recorded, ...]) -> tuple[Recorded, ...]:
    return tuple(r for r in batch if not isinstance(r.event, CallDelta | SegmentCompleted))
