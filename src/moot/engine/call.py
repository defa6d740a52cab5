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
from moot.core.events import CallDelta, Narrated, SegmentCompleted
from moot.core.terms import DeltaKind, PartStart, Request
from moot.core.word_count import first_tokens
from moot.engine.call_result import MOST_SEGMENTS, Heard
from moot.engine.segment_offsets import place
from moot.providers.contract import Alive, Began, Done, Item, Provider, Said
from moot.providers.redaction import without_folders

SPLIT = 16 * 1024
"""A larger delta is written in pieces, so that no reader has to swallow it whole."""

Narrate = Callable[[Sequence[Narrated]], Awaitable[object]]


class Deadlines(Struct, frozen=True):
    """In seconds, on the monotonic clock. None where slow is not broken."""

    first: float | None = 30.0
    between: float | None = 30.0
    tick: float = 0.05


class Clock:
    """The time that a part has in all, over all its attempts; somebody may give it more while it runs."""

    def __init__(self, seconds: float) -> None:
        self._ends = monotonic() + seconds
        self._extended = 0.0
        self._alarm: asyncio.Timeout | None = None

    @property
    def left(self) -> float:
        return self._ends - monotonic()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Raises TimeoutError when the time is up."""
        async with asyncio.timeout(max(0.0, self.left)) as self._alarm:
            try:
                yield
            finally:
                self._alarm = None

    def put_off(self, seconds: float) -> None:
        self._ends += seconds
        if self._alarm is not None and not self._alarm.expired():
            self._alarm.reschedule(asyncio.get_running_loop().time() + self.left)

    def extend(self, total: float) -> None:
        """Beyond the usual time, so much in all."""
        if total > self._extended:
            self.put_off(total - self._extended)
            self._extended = total


class Narrator:
    """Collects words and writes them at most once per tick, in order, from one task."""

    def __init__(self, narrate: Narrate, tick: float) -> None:
        self._narrate = narrate
        self._tick = tick
        self._pending: list[Narrated] = []
        self._words: list[str] = []
        self._place: tuple[int, int, DeltaKind] | None = None
        self._part: PartStart | None = None
        self._ready = asyncio.Event()

    def say(self, call: int, segment: int, kind: DeltaKind, text: str, part: PartStart | None = None) -> None:
        place = (call, segment, kind)
        if place != self._place or part is not None:
            self._close()
            self._place, self._part = place, part
        self._words.append(text)
        self._ready.set()

    def add(self, event: SegmentCompleted) -> None:
        self._close()
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
        self._close()
        self._ready.clear()
        pending, self._pending = self._pending, []
        if pending:
            await self._narrate(pending)

    def _close(self) -> None:
        """Words of one kind in a row become one delta."""
        if self._place is not None and self._words:
            text = "".join(self._words)
            call, segment, kind = self._place
            for start in range(0, len(text), SPLIT):
                part = None if start else self._part
                self._pending.append(CallDelta(call, segment, kind, text[start : start + SPLIT], part))
        self._words = []
        self._place = self._part = None


async def listen(
    provider: Provider,
    request: Request,
    call: int,
    heard: Heard,
    narrate: Narrate,
    deadlines: Deadlines,
    most: int,
) -> None:
    """Fill `heard` until the provider is done, has said more than `most` quarters of tokens, or a Fault is
    raised."""
    narrator = Narrator(narrate, deadlines.tick)
    writing = asyncio.create_task(narrator.run(), name=f"narrator of call {call}")
    reading = asyncio.create_task(
        _read(provider, request, call, heard, narrator, deadlines, most), name=f"reader of call {call}"
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


async def _read(
    provider: Provider,
    request: Request,
    call: int,
    heard: Heard,
    narrator: Narrator,
    deadlines: Deadlines,
    most: int,
) -> None:
    held = provider.traits.deadlines
    first = deadlines.first if held else None
    between = deadlines.between if held else None
    loop = asyncio.get_running_loop()
    placed = place(request)
    moved = 0.0
    try:
        async with asyncio.timeout(first) as patience, aclosing(provider.stream(request)) as chunks:
            async for chunk in chunks:
                now = loop.time()
                # Moving a timer for each token would cost more than reading it.
                if between is not None and now - moved > between / 50:
                    moved = now
                    patience.reschedule(now + between)
                if placed is not None:
                    chunk = placed.put(chunk)
                match chunk:
                    case Said(said, kind, segment, part):
                        room = max(0, most - heard.size) if len(heard.spoken) <= MOST_SEGMENTS else 0
                        text = first_tokens(said, room)
                        heard.keep(segment, kind, text, part)
                        narrator.say(call, segment, kind, text, part)
                        if not room or text != said or heard.size >= most:
                            heard.truncated = "cap"
                            return
                    case Item(segment):
                        back = heard.takes_back(segment)
                        narrator.add(SegmentCompleted(call, heard.take(segment, most), back))
                        if heard.truncated:
                            return
                    case Began(response_id, request_id):
                        heard.response_id, heard.request_id = response_id, request_id
                    case Alive(usage):
                        heard.figures = usage or heard.figures
                    case Done():
                        heard.done = chunk
                        heard.response_id = chunk.response_id or heard.response_id
                        return
                    case _:
                        assert_never(chunk)
    except TimeoutError as error:
        if heard.first_token is None:
            provider.unheard(request.model)
        raise Fault("timeout" if heard.first_token is None else "stalled") from error
    except Unavailable as error:
        # Everybody who watches reads it.
        says = without_folders(f"{error} {error.fix}".strip())
        raise Fault("unavailable", "permanent", billed=False, says=says) from error
    raise Fault("disconnected")
