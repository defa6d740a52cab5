"""One call to a model: chunks in, text written to the log on the way, and in the end a `CallResult`.

Deadlines and length caps are held here; retries are up to the runner.

A speech may take several calls, because tools answer in between. Each call numbers its segments from zero;
`SegmentShifter` moves them behind those of the earlier calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from time import monotonic
from typing import assert_never

from msgspec.structs import replace

from moot.core.errors import Fault, Unavailable
from moot.core.events import SegmentCompleted
from moot.core.segments import paragraph_break
from moot.core.terms import (
    HostedTool,
    Reasoning,
    Request,
    Segment,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from moot.core.word_count import first_tokens
from moot.engine.call_result import MAX_SEGMENTS, CallResult
from moot.engine.text_writer import DeltaBuffer
from moot.providers.chunk_text import NUL, without_nul
from moot.providers.contract import (
    OWN_ID_PREFIX,
    Chunk,
    Degradation,
    KeepAlive,
    Provider,
    ReplyDelta,
    ReplyDone,
    ReplySegment,
    ReplyStarted,
)
from moot.providers.redaction import shown_remedy, without_folders
from moot.rules.retry import RunnerTimings

TITLES: dict[HostedTool, str] = {"web_search": "Web search", "code": "Code"}
HINTS: tuple[tuple[str, HostedTool], ...] = (("search", "web_search"), ("code", "code"), ("python", "code"))
"""Words by which the names of providers' own tools are recognized."""


class JobTimer:
    """The time that a job has over all its attempts. It can be extended while the job runs."""

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
        """Extend to `total` seconds beyond the usual time; earlier extensions count towards it."""
        if total > self._extended:
            self.extend_by(total - self._extended)
            self._extended = total


async def stream_call(
    provider: Provider,
    request: Request,
    result: CallResult,
    buffer: DeltaBuffer,
    timings: RunnerTimings,
    most: int,
) -> None:
    """Fill `result` until the provider is done or has sent more than `most` quarters of tokens.

    Raises Fault where the reply breaks off or stalls, and what the buffer's writes fail with.
    """
    reading = asyncio.create_task(
        _read_chunks(provider, request, result, buffer, timings, most), name=f"reader of call {result.call}"
    )
    buffer.on_error = reading.cancel
    try:
        await reading
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        # Also raises the error for which the reading was cancelled.
        await buffer.flush()


async def _read_chunks(
    provider: Provider,
    request: Request,
    result: CallResult,
    buffer: DeltaBuffer,
    timings: RunnerTimings,
    most: int,
) -> None:
    has_deadlines = provider.traits.deadlines
    first = timings.first_byte if has_deadlines else None
    between = timings.between_bytes if has_deadlines else None
    loop = asyncio.get_running_loop()
    shifter = make_shifter(request)
    call = result.call
    rescheduled = 0.0
    try:
        async with asyncio.timeout(first) as timeout, aclosing(provider.stream(request)) as chunks:
            async for chunk in chunks:
                now = loop.time()
                # Moving a timer for each token would cost more than reading it.
                if between is not None and now - rescheduled > between / 50:
                    rescheduled = now
                    timeout.reschedule(now + between)
                if type(chunk) is not ReplyDelta or chunk.part is not None or NUL in chunk.text:
                    clean = without_nul(chunk)
                    chunk, result.had_nul = clean, result.had_nul or clean is not chunk
                if shifter is not None:
                    chunk = shifter.shift(chunk)
                match chunk:
                    case ReplyDelta(sent, kind, segment, part):
                        tokens_left = max(0, most - result.size) if len(result.deltas) <= MAX_SEGMENTS else 0
                        text = first_tokens(sent, tokens_left)
                        result.add_delta(segment, kind, text, part)
                        buffer.add_text(call, segment, kind, text, part)
                        if not tokens_left or text != sent or result.size >= most:
                            result.truncated = "cap"
                            return
                    case ReplySegment(segment):
                        taken_back = result.was_reasoning(segment)
                        added = result.add_segment(segment, most)
                        buffer.add_segment(SegmentCompleted(call, added, taken_back))
                        if result.truncated:
                            return
                    case ReplyStarted(response_id, request_id):
                        result.response_id, result.request_id = response_id, request_id
                    case KeepAlive(usage, final):
                        result.partial_usage = usage or result.partial_usage
                        result.usage_is_final = final
                    case ReplyDone():
                        result.done = marked_broken(chunk) if result.had_nul else chunk
                        result.response_id = chunk.response_id or result.response_id
                        return
                    case _:
                        assert_never(chunk)
    except TimeoutError as error:
        if result.first_token is None:
            provider.report_timeout(request.model)
        raise Fault("timeout" if result.first_token is None else "stalled") from error
    except Unavailable as error:
        # Every viewer reads this message.
        message = f"{without_folders(str(error))} {shown_remedy(error.fix)}".strip()
        raise Fault("unavailable", "permanent", billed=False, message=message) from error
    raise Fault("disconnected")


def marked_broken(done: ReplyDone) -> ReplyDone:
    """A character of the reply had to be replaced."""
    mark: Degradation = "utf8"
    return replace(done, degraded=",".join(sorted({*filter(None, done.degraded.split(",")), mark})))


# --- calls that continue others -----------------------------------------------------------------------


class SegmentShifter:
    """Numbers the segments of one call so that they follow those of the earlier calls of its speech.

    Text after the text of an earlier call begins a new paragraph. Tool calls get the name of their server
    and an id that is unique within the speech.
    """

    def __init__(self, request: Request) -> None:
        self._first = next_index(request.exchange)
        self._tools = {tool.name: tool for tool in request.tools}
        self._provider = request.model.provider
        self._separator = _separator(request.exchange)
        self._separated: int | None = None
        """The segment of this call that begins with the separator."""
        self._ids: dict[int, str] = {}
        self._used_ids = {part.id for part in request.exchange if isinstance(part, ToolCall)}

    def shift(self, chunk: Chunk) -> Chunk:
        if isinstance(chunk, ReplyDelta):
            text = self._separate(chunk.segment) + chunk.text if chunk.kind == "text" else chunk.text
            return ReplyDelta(text, chunk.kind, chunk.segment + self._first, chunk.part)
        if isinstance(chunk, ReplySegment):
            return ReplySegment(self._segment(chunk.segment))
        return chunk

    def _separate(self, index: int) -> str:
        """The separator before the first text of the call; empty before all other text."""
        if not self._separator or self._separated is not None:
            return ""
        self._separated = index
        return self._separator

    def _segment(self, segment: Segment) -> Segment:
        index = segment.index
        shifted = replace(segment, index=index + self._first)
        match shifted:
            case Text() if shifted.text:
                self._separate(index)
                if self._separated != index:
                    return shifted
                return replace(shifted, text=self._separator + shifted.text)
            case Reasoning():
                if self._separated == index:
                    # That text was reasoning: the first text is still to come.
                    self._separated = None
                return shifted
            case ToolCall():
                return self._label_call(shifted)
            case _:
                return shifted

    def _label_call(self, call: ToolCall) -> ToolCall:
        if not call.needs_answer:
            title = next(
                (TITLES[tool] for hint, tool in HINTS if hint in f"{call.kind} {call.name}".lower()), ""
            )
            return replace(call, server=call.server or self._provider, title=call.title or title)
        call_id = self._ids.get(call.index)
        if call_id is None:
            is_free = call.id and call.id not in self._used_ids
            call_id = self._ids[call.index] = call.id if is_free else f"{OWN_ID_PREFIX}{call.index}"
            self._used_ids.add(call_id)
        tool = self._tools.get(call.name, Tool("", "", {}))
        return replace(call, id=call_id, server=tool.server, title=tool.title)


def make_shifter(request: Request) -> SegmentShifter | None:
    """None for the many calls that stand alone: their segments need no change."""
    return SegmentShifter(request) if request.tools or request.hosted or request.exchange else None


def next_index(segments: Sequence[Segment]) -> int:
    """The number after the last of these segments."""
    return max((part.index for part in segments), default=-1) + 1


def _separator(exchange: Sequence[Segment]) -> str:
    """Empty where the last call only paused: its text goes on in mid-sentence."""
    if not exchange or not isinstance(exchange[-1], ToolResult):
        return ""
    return paragraph_break("".join(part.text for part in exchange if isinstance(part, Text)))
