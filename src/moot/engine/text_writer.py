"""Writes the streamed text of all calls of a process together: one write per tick, however many speak.

A token costs a list append. The first text of a call is written at once, later text within a tick; then one
request takes the text of all calls to the store, and one answer comes back. No task is woken for either. A
call has at most one write under way, so its text stays in order.

Under load the tick grows, up to twice its length where many calls speak and up to four times where the
process can hardly keep up: fewer and larger writes cost less for each token, and what is waiting is bounded
by the text of one tick.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from time import process_time
from typing import Any

from moot.core.crash_points import crash_point
from moot.core.errors import StoreError
from moot.core.events import CallDelta, SegmentCompleted, StreamedEvent
from moot.core.terms import DeltaKind, PartStart
from moot.store.contract import AppendStreamed

MAX_DELTA_CHARS = 16 * 1024
"""A longer delta is split, so that no reader has to take it in one piece."""
STRETCHES = ((0.8, 0, 4.0), (0.4, 16, 2.0))
"""From this share of a core and this many calls on, a tick may have so many times its usual length. The
threads of a process share one interpreter, so it has at most one core. A longer tick saves work for each
call, hence little where few calls have thousands of viewers."""
MAX_STRETCH = STRETCHES[0][2]
STRETCH_STEP = 1.25

SendStreamed = Callable[[Sequence[AppendStreamed]], object]


class DeltaBuffer:
    """The text of one call that is not written yet. It is also where the store answers its write."""

    def __init__(self, writer: TextWriter, debate_id: str, epoch: int) -> None:
        self.error: Exception | None = None
        """Why its text can no longer be written."""
        self.on_error: Callable[[], object] = _do_nothing
        self.waiting = False
        """Whether it is in the writer's queue."""
        self.writing = False
        self.never_written = True
        self._writer = writer
        self._debate_id = debate_id
        self._epoch = epoch
        self._pending: list[StreamedEvent] = []
        self._words: list[str] = []
        self._target: tuple[int, int, DeltaKind] | None = None
        self._part: PartStart | None = None
        self._flushing: asyncio.Future[None] | None = None

    def add_text(
        self, call: int, segment: int, kind: DeltaKind, text: str, part: PartStart | None = None
    ) -> None:
        target = (call, segment, kind)
        if target != self._target or part is not None:
            self._merge_text()
            self._target, self._part = target, part
        self._words.append(text)
        self._writer.has_text(self)

    def add_segment(self, event: SegmentCompleted) -> None:
        self._merge_text()
        self._pending.append(event)
        self._writer.has_text(self)

    def take(self) -> AppendStreamed:
        """Everything that is waiting, as a write that is under way from now on."""
        self._merge_text()
        events, self._pending = self._pending, []
        self.waiting, self.writing, self.never_written = False, True, False
        return AppendStreamed(self, self._debate_id, events, self._epoch)

    async def flush(self) -> None:
        """Return when all its text is durable. Raises what a write failed with."""
        while self.error is None and (self.writing or self.waiting):
            self._flushing = asyncio.get_running_loop().create_future()
            if not self.writing:
                self._writer.write([self])
            await self._flushing
        if self.error is not None:
            raise self.error

    def _merge_text(self) -> None:
        """Make one delta of the text collected for one segment."""
        if self._target is not None and self._words:
            text = "".join(self._words)
            for start in range(0, len(text), MAX_DELTA_CHARS):
                part = None if start else self._part
                self._pending.append(CallDelta(*self._target, text[start : start + MAX_DELTA_CHARS], part))
        self._words = []
        self._target = self._part = None

    # --- the answer of a write ------------------------------------------------------------------------

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._writer.loop

    def done(self) -> bool:
        return not self.writing

    def set_result(self, result: Any, /) -> None:
        crash_point("narrated")
        self._written()

    def set_exception(self, error: Exception, /) -> None:
        self.error = error
        self._written()
        self.on_error()

    def _written(self) -> None:
        self.writing = False
        if self._flushing is not None and not self._flushing.done():
            self._flushing.set_result(None)


class TextWriter:
    def __init__(self, send: SendStreamed, tick: float) -> None:
        """`send` takes the writes of several calls to the store; with a tick of 0 nothing waits."""
        self._send = send
        self._shortest_tick = tick
        self.tick = tick
        self._waiting: dict[DeltaBuffer, None] = {}
        """In the order in which they got text."""
        self._waiting_since = 0.0
        self._written_at = float("-inf")
        self._due_from = float("-inf")
        """From then on a token is written at once, with all that is waiting."""
        self._cpu_then = process_time()
        self._due: asyncio.Handle | None = None
        self._due_at_once = False

    @cached_property
    def loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    def open_buffer(self, debate_id: str, epoch: int) -> DeltaBuffer:
        return DeltaBuffer(self, debate_id, epoch)

    def has_text(self, buffer: DeltaBuffer) -> None:
        """Called for each token: the text of a buffer is to be written soon."""
        if buffer.error is not None:
            return
        if not buffer.waiting:
            buffer.waiting = True
            if not self._waiting:
                self._waiting_since = self.loop.time()
            self._waiting[buffer] = None
            if buffer.never_written and not buffer.writing:
                self.loop.call_soon(self._write_first, buffer)
        if self._due_at_once:
            return
        # A token that comes after the tick takes the others along; the timer is for when none comes.
        now = self.loop.time()
        if now >= self._due_from:
            self._schedule(at_once=True)
        elif self._due is None:
            self._schedule(at_once=False)

    def tick_passed(self) -> None:
        """What was held back until now arrives next: write it when it does."""
        self._due_from = float("-inf")

    def write(self, buffers: Sequence[DeltaBuffer]) -> None:
        requests = [buffer.take() for buffer in buffers]
        try:
            self._send(requests)
        except StoreError as error:
            for request in requests:
                request.reply.set_exception(error)

    def _write_first(self, buffer: DeltaBuffer) -> None:
        """The first text of a call, unless it was written with that of others by now."""
        if buffer.never_written:
            self.write([buffer])

    def _schedule(self, *, at_once: bool) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due_at_once = at_once
        if at_once:
            self._due = self.loop.call_soon(self._write_all)
        else:
            self._due = self.loop.call_later(self.tick, self._write_all)

    def _write_all(self) -> None:
        self._due, self._due_at_once = None, False
        self._adapt_tick()
        # Those that were flushed, or written as the first of their call, are no longer waiting.
        waiting = [buffer for buffer in self._waiting if buffer.waiting]
        self._waiting = {buffer: None for buffer in waiting if buffer.writing}
        if ready := [buffer for buffer in waiting if not buffer.writing]:
            self.write(ready)
        if self._waiting:
            self._waiting_since = self._written_at
            self._schedule(at_once=False)

    def _adapt_tick(self) -> None:
        """Lengthen the tick step by step when the process is busy or late, shorten it when it is not."""
        now, cpu = self.loop.time(), process_time()
        late = now - self._waiting_since > 1.5 * self.tick
        busy = cpu - self._cpu_then
        passed, calls = now - self._written_at, len(self._waiting)
        stretches = (most for share, many, most in STRETCHES if busy > share * passed and calls >= many)
        goal = self._shortest_tick * (MAX_STRETCH if late else next(stretches, 1.0))
        if self.tick < goal:
            self.tick = min(goal, self.tick * STRETCH_STEP)
        else:
            self.tick = max(goal, self.tick / STRETCH_STEP)
        self._written_at, self._cpu_then = now, cpu
        self._due_from = now + self.tick


def _do_nothing() -> None: ...
