"""Followers: each a cursor into the log, not a queue.

One tail per followed debate keeps the latest records of this process at hand; a cursor that is further back
reads the store, page by page. A slow reader delays only itself, a returning one loses nothing. Once a second
the heads of all followed debates are looked up, so that a lost message only costs time; where the store says
that another process has written, they are looked up at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import islice

from moot.bus import Bus
from moot.errors import StoreError, UnknownDebate
from moot.events import CallDelta, Recorded, SegmentCompleted
from moot.store.contract import Store

PAGE = 512
WINDOW = 1024
PULSE_SECONDS = 1.0
GLANCE_SECONDS = 0.05


class Tail:
    """The end of one debate's log, as this process has heard it."""

    def __init__(self) -> None:
        self.window: deque[Recorded] = deque(maxlen=WINDOW)
        self.head = 0
        self.turning = 0
        self.known = False
        self.gone = False
        self.followers = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._waiting_for_turns: list[asyncio.Future[None]] = []

    def since(self, cursor: int) -> tuple[Recorded, ...] | None:
        """What came after the cursor; None where only the store can tell."""
        if not self.known:
            return None
        if cursor >= self.head:
            return ()
        if not self.window or cursor + 1 < self.window[0].seq or self.window[-1].seq < self.head:
            return None
        return tuple(
            islice(self.window, cursor + 1 - self.window[0].seq, PAGE + cursor + 1 - self.window[0].seq)
        )

    def hear(self, records: tuple[Recorded, ...]) -> None:
        turned = False
        for recorded in records:
            if recorded.seq <= self.head and self.known:
                continue
            if self.window and recorded.seq != self.window[-1].seq + 1:
                self.window.clear()
            self.window.append(recorded)
            self.head = recorded.seq
            self.known = True
            if not isinstance(recorded.event, CallDelta | SegmentCompleted):
                turned = True
        self._wake(turned)

    def look(self, version: int) -> None:
        """The store has been seen at this version."""
        grown = version > self.head or not self.known
        self.known = True
        if grown:
            self.head = max(self.head, version)
            self._wake(True)

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
        self._tails: dict[str, Tail] = {}
        self._closed = False
        self._pulse: asyncio.Task[None] | None = None
        bus.subscribe(self._heard)

    async def follow(
        self, debate_id: str, after: int = 0, *, turns_only: bool = False
    ) -> AsyncIterator[tuple[Recorded, ...]]:
        """Batches of records after `after`, for ever; ends when the debate is deleted or the hub closes.

        With `turns_only` words are left out, and do not even wake the follower.
        """
        tail = self._enter(debate_id)
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
            self._leave(debate_id, tail)

    @property
    def closed(self) -> bool:
        return self._closed

    async def close(self) -> None:
        """End every stream, then rest."""
        self._closed = True
        for tail in self._tails.values():
            tail.end()
        if self._pulse is not None:
            self._pulse.cancel()
            with suppress(asyncio.CancelledError):
                await self._pulse

    async def _read(self, tail: Tail, debate_id: str, cursor: int) -> tuple[Recorded, ...]:
        try:
            batch = await self._store.read(debate_id, cursor, PAGE)
        except UnknownDebate:
            tail.end()
            return ()
        if len(batch) < PAGE:
            tail.look(batch[-1].seq if batch else cursor)
        return batch

    def _heard(self, debate_id: str, records: tuple[Recorded, ...] | None) -> None:
        tail = self._tails.get(debate_id)
        if tail is None:
            return
        if records is None:
            tail.end()
        else:
            tail.hear(records)

    def _enter(self, debate_id: str) -> Tail:
        tail = self._tails.setdefault(debate_id, Tail())
        tail.followers += 1
        if self._pulse is None or self._pulse.done():
            self._pulse = asyncio.create_task(self._keep_looking(), name="hub pulse")
        return tail

    def _leave(self, debate_id: str, tail: Tail) -> None:
        tail.followers -= 1
        if tail.followers == 0 and self._tails.get(debate_id) is tail:
            del self._tails[debate_id]

    async def _keep_looking(self) -> None:
        glances = 0
        while self._tails and not self._closed:
            await asyncio.sleep(GLANCE_SECONDS)
            glances += 1
            due = glances * GLANCE_SECONDS >= PULSE_SECONDS
            with suppress(StoreError):
                if await self._store.changed_elsewhere() or due:
                    glances = 0
                    await self._look()

    async def _look(self) -> None:
        followed = tuple(self._tails)
        pulses = await self._store.pulses(followed)
        for debate_id in followed:
            tail = self._tails.get(debate_id)
            if tail is None:
                continue
            if debate_id not in pulses:
                tail.end()
            elif pulses[debate_id].version > tail.head:
                tail.look(pulses[debate_id].version)


def _turns(batch: tuple[Recorded, ...]) -> tuple[Recorded, ...]:
    return tuple(r for r in batch if not isinstance(r.event, CallDelta | SegmentCompleted))
