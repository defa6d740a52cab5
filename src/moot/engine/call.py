"""One call to a model: chunks in, words narrated to the log, and in the end what was heard.

The first words are written at once, then at most one write per tick, so that a token costs a list append and
a write costs the same for one token as for fifty. Deadlines and caps are held here; whether to try again is
the runner's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from time import monotonic
from typing import assert_never

from msgspec import Struct

from moot.core.errors import Fault, Unavailable
from moot.core.events import CallDelta, SegmentCompleted, StreamedEvent
from moot.core.terms import DeltaKind, PartStart, Request
from moot.core.word_count import first_tokens
from moot.engine.call_result import MAX_SEGMENTS, CallResult
from moot.engine.segment_offsets import make_shifter
from moot.providers.contract import KeepAlive, Provider, ReplyDelta, ReplyDone, ReplySegment, ReplyStarted
from moot.providers.redaction import without_folders

MAX_DELTA_CHARS = 16 * 1024
"""A larger delta is written in pieces, so that no reader has to swallow it whole."""

WriteStreamed = Callable[[Sequence[StreamedEvent]], Awaitable[object]]


class CallDeadlines(Struct, frozen=True):
    """In seconds, on the monotonic clock. None where slow is not broken."""

    first: float | None = 30.0
    between: float | None = 30.0
    tick: float = 0.05


class JobTimer:
    """The time that a part has in all, over all its attempts; somebody may give it more while it runs."""

    def __init__(self, seconds: float) -> None:
        self._ends = monotonic() + seconds
        self._extended = 0.0
        self._alarm: asyncio.Timeout | None = None

    @property
    def seconds_left(self) -> float:
        return self._ends - monotonic()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Raises TimeoutError when the time is up."""
        async with asyncio.timeout(max(0.0, self.seconds_left)) as self._alarm:
            try:
                yield
            finally:
                self._alarm = None

    def extend_by(self, seconds: float) -> None:
        self._ends += seconds
        if self._alarm is not None and not self._alarm.expired():
            self._alarm.reschedule(asyncio.get_running_loop().time() + self.seconds_left)

    def extend(self, total: float) -> None:
        """Beyond the usual time, so much in all."""
        if total > self._extended:
            self.extend_by(total - self._extended)
            self._extended = total


class DeltaBuffer:
    """Collects words and writes them at most once per tick, in order, from one task."""

    def __init__(self, narrate: WriteStreamed, tick: float) -> None:
        self._narrate = narrate
        self._tick = tick
        self._pending: list[StreamedEvent] = []
        self._words: list[str] = []
        self._current: tuple[int, int, DeltaKind] | None = None
        self._part: PartStart | None = None
        self._ready = asyncio.Event()

    def add_text(
        self, call: int, segment: int, kind: DeltaKind, text: str, part: PartStart | None = None
    ) -> None:
        place = (call, segment, kind)
        if place != self._current or part is not None:
            self._merge_text()
            self._current, self._part = place, part
        self._words.append(text)
        self._ready.set()

    def add_segment(self, event: SegmentCompleted) -> None:
        self._merge_text()
        self._pending.append(event)
        self._ready.set()

    async def run(self) -> None:
        # All narrators of a process write on the same beat: one commit then serves them all.
        loop = asyncio.get_running_loop()
        while True:
            await self._ready.wait()
            await self.flush()
            if self._tick:
                await asyncio.sleep(self._tick - loop.time() % self._tick)

    async def flush(self) -> None:
        self._merge_text()
        self._ready.clear()
        pending, self._pending = self._pending, []
        if pending:
            await self._narrate(pending)

    def _merge_text(self) -> None:
        """Words of one kind in a row become one delta."""
        if self._current is not None and self._words:
            text = "".join(self._words)
            call, segment, kind = self._current
            for start in range(0, len(text), MAX_DELTA_CHARS):
                part = None if start else self._part
                self._pending.append(
                    CallDelta(call, segment, kind, text[start : start + MAX_DELTA_CHARS], part)
                )
        self._words = []
        self._current = self._part = None


async def stream_call(
    provider: Provider,
    request: Request,
    call: int,
    result: CallResult,
    narrate: WriteStreamed,
    deadlines: CallDeadlines,
    most: int,
) -> None:
    """Fill `result` until the provider is done, has said more than `most` quarters of tokens, or a Fault is
    raised."""
    narrator = DeltaBuffer(narrate, deadlines.tick)
    writing = asyncio.create_task(narrator.run(), name=f"narrator of call {call}")
    reading = asyncio.create_task(
        _read_chunks(provider, request, call, result, narrator, deadlines, most),
        name=f"reader of call {call}",
    )
    try:
        await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
        if writing.done():
            writing.result()
        await reading
    finally:
        for task in (reading, writing):
            task.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)
        await narrator.flush()


async def _read_chunks(
    provider: Provider,
    request: Request,
    call: int,
    result: CallResult,
    narrator: DeltaBuffer,
    deadlines: CallDeadlines,
    most: int,
) -> None:
    held = provider.traits.deadlines
    first = deadlines.first if held else None
    between = deadlines.between if held else None
    loop = asyncio.get_running_loop()
    shifter = make_shifter(request)
    moved = 0.0
    try:
        async with asyncio.timeout(first) as timeout, aclosing(provider.stream(request)) as chunks:
            async for chunk in chunks:
                now = loop.time()
                # Moving a timer for each token would cost more than reading it.
                if between is not None and now - moved > between / 50:
                    moved = now
                    timeout.reschedule(now + between)
                if shifter is not None:
                    chunk = shifter.shift(chunk)
                match chunk:
                    case ReplyDelta(said, kind, segment, part):
                        room = max(0, most - result.size) if len(result.deltas) <= MAX_SEGMENTS else 0
                        text = first_tokens(said, room)
                        result.add_delta(segment, kind, text, part)
                        narrator.add_text(call, segment, kind, text, part)
                        if not room or text != said or result.size >= most:
                            result.truncated = "cap"
                            return
                    case ReplySegment(segment):
                        back = result.was_reasoning(segment)
                        narrator.add_segment(SegmentCompleted(call, result.add_segment(segment, most), back))
                        if result.truncated:
                            return
                    case ReplyStarted(response_id, request_id):
                        result.response_id, result.request_id = response_id, request_id
                    case KeepAlive(usage):
                        result.partial_usage = usage or result.partial_usage
                    case ReplyDone():
                        result.done = chunk
                        result.response_id = chunk.response_id or result.response_id
                        return
                    case _:
                        assert_never(chunk)
    except TimeoutError as error:
        if result.first_token is None:
            provider.report_timeout(request.model)
        raise Fault("timeout" if result.first_token is None else "stalled") from error
    except Unavailable as error:
        # Everybody who watches reads it.
        says = without_folders(f"{error} {error.fix}".strip())
        raise Fault("unavailable", "permanent", billed=False, message=says) from error
    raise Fault("disconnected")
