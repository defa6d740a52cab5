"""One call to a model: chunks in, text written to the log on the way, and in the end a `CallResult`.

Deadlines and length caps are held here; retries are up to the runner. `call_records.py` makes the events of a
call's end from its result.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, asynccontextmanager
from time import monotonic
from typing import assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from moot.core.errors import Fault, Unavailable
from moot.core.events import SegmentCompleted
from moot.core.segments import Piece, rebuilt
from moot.core.terms import (
    CompletionStatus,
    DeltaKind,
    PartStart,
    Reasoning,
    ReasoningPart,
    Request,
    Segment,
    Text,
    ToolCall,
    ToolResult,
    Truncation,
    UnknownItem,
    Usage,
)
from moot.core.word_count import first_tokens, quarter_tokens
from moot.engine.continued_calls import make_shifter
from moot.engine.text_writer import DeltaBuffer
from moot.providers.chunk_text import NUL, without_nul
from moot.providers.contract import (
    Degradation,
    KeepAlive,
    Provider,
    ReplyDelta,
    ReplyDone,
    ReplySegment,
    ReplyStarted,
)
from moot.providers.redaction import shown_remedy, without_folders
from moot.rules.runner_timings import RunnerTimings

MAX_NON_TEXT_CHARS = 2 * 1024 * 1024
MAX_SEGMENTS = 256
"""A reply that switches between text and reasoning more often than this is cut off."""


class CallResult(Struct):
    call: int = 0
    done: ReplyDone | None = None
    segments: dict[int, Segment] = field(default_factory=dict[int, Segment])
    deltas: dict[tuple[int, DeltaKind], list[str]] = field(
        default_factory=dict[tuple[int, DeltaKind], list[str]]
    )
    """By segment and kind: text and reasoning never share a segment, even under one number."""
    parts: dict[tuple[int, DeltaKind], list[tuple[int, PartStart]]] = field(
        default_factory=dict[tuple[int, DeltaKind], list[tuple[int, PartStart]]]
    )
    """Where the service counts its parts: the index in `deltas` at which each part of a segment starts."""
    response_id: str | None = None
    request_id: str = ""
    partial_usage: Usage | None = None
    """Usage reported before the end, by a reply that may then break off."""
    had_nul: bool = False
    """A NUL was replaced in it."""
    usage_is_final: bool = False
    """The service reported it together with its failure."""
    truncated: Truncation | None = None
    started: float = 0.0
    first_token: float | None = None
    chars: int = 0
    reasoning_chars: int = 0
    size: int = 0
    """In quarters of tokens, reasoning included."""
    reasoning_size: int = 0
    """The share of `size` that is reasoning."""
    non_text_size: int = 0
    """Characters beside text and reasoning: tool calls and results, encrypted reasoning, citations."""

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.all_segments() if isinstance(segment, Text))

    @property
    def reasoning(self) -> str:
        return "".join(segment.text for segment in self.all_segments() if isinstance(segment, Reasoning))

    @property
    def latency_ms(self) -> int:
        return int((monotonic() - self.started) * 1000)

    @property
    def first_token_ms(self) -> int | None:
        return None if self.first_token is None else int((self.first_token - self.started) * 1000)

    def all_segments(self) -> list[Segment]:
        """The segments that the provider finished, and those rebuilt from deltas alone."""
        rebuilt_segments = [
            rebuilt(index, kind, self._pieces(index, kind, words))
            for (index, kind), words in self.deltas.items()
            if index not in self.segments
        ]
        return sorted([*rebuilt_segments, *self.segments.values()], key=lambda segment: segment.index)

    def pending_tool_calls(self) -> tuple[ToolCall, ...]:
        """Tool calls that wait for our answer."""
        return tuple(part for part in self.all_segments() if isinstance(part, ToolCall) and part.needs_answer)

    def unfinished_segments(self) -> tuple[SegmentCompleted, ...]:
        """The segments that the provider never finished, as events."""
        segments = self.all_segments()
        last = segments[-1] if segments else None
        if self.done and self.done.finish == "length" and isinstance(last, Reasoning):
            segments[-1] = replace(last, incomplete=True)
        return tuple(
            SegmentCompleted(self.call, segment) for segment in segments if segment.index not in self.segments
        )

    def add_delta(self, index: int, kind: DeltaKind, text: str, part: PartStart | None = None) -> None:
        if self.first_token is None:
            self.first_token = monotonic()
        words = self.deltas.setdefault((index, kind), [])
        if part is not None:
            self.parts.setdefault((index, kind), []).append((len(words), part))
        words.append(text)
        self._count(kind, text)

    def add_segment(self, segment: Segment, most: int) -> Segment:
        """Keep a finished segment, clipped so that the reply stays within `most` quarters of tokens."""
        before = self.segments.get(segment.index)
        if isinstance(segment, Text | Reasoning):
            segment = self._fit(segment, before, most)
        self.non_text_size += max(
            0, _non_text_length(segment) - (_non_text_length(before) if before is not None else 0)
        )
        if self.non_text_size > MAX_NON_TEXT_CHARS or len(self.segments) > MAX_SEGMENTS:
            self.truncated = "cap"
        self.segments[segment.index] = segment
        return segment

    def was_reasoning(self, segment: Segment) -> bool:
        """Whether text that was streamed as speech turns out to have been reasoning."""
        return isinstance(segment, Reasoning) and (segment.index, "text") in self.deltas

    def _fit(self, segment: Text | Reasoning, before: Segment | None, most: int) -> Text | Reasoning:
        kind: DeltaKind = "text" if isinstance(segment, Text) else "reasoning"
        known = self._delta_length(segment.index, "text") + self._delta_length(segment.index, "reasoning")
        if isinstance(before, Text | Reasoning):
            known = max(known, len(before.text))
        elif self.was_reasoning(segment):
            moved = self._delta_length(segment.index, "text")
            self.chars, self.reasoning_chars = self.chars - moved, self.reasoning_chars + moved
            self.reasoning_size += quarter_tokens("".join(self.deltas[segment.index, "text"]))
        new_text = segment.text[known:]
        if not new_text:
            return segment
        fits = first_tokens(new_text, max(0, most - self.size))
        if fits != new_text:
            self.truncated = "cap"
            segment = _clipped(segment, known + len(fits))
        self._count(kind, segment.text[known:])
        return segment

    def _pieces(self, index: int, kind: DeltaKind, words: list[str]) -> Iterator[Piece]:
        start, part = 0, None
        for next_start, next_part in self.parts.get((index, kind), ()):
            if next_start:
                yield part, "".join(words[start:next_start])
            start, part = next_start, next_part
        yield part, "".join(words[start:])

    def _delta_length(self, index: int, kind: DeltaKind) -> int:
        return sum(map(len, self.deltas.get((index, kind), ())))

    def _count(self, kind: DeltaKind, text: str) -> None:
        size = quarter_tokens(text)
        self.size += size
        if kind == "text":
            self.chars += len(text)
        else:
            self.reasoning_chars += len(text)
            self.reasoning_size += size


def _clipped(segment: Text | Reasoning, length: int) -> Text | Reasoning:
    text = segment.text[:length]
    if isinstance(segment, Text):
        return replace(segment, text=text)
    # The provider would refuse its encrypted reasoning if the text it covers is gone.
    return replace(segment, parts=(ReasoningPart(text),), opaque="")


def _non_text_length(segment: Segment) -> int:
    """Characters of a segment beside its text."""
    match segment:
        case Text():
            return sum(len(str(note)) for note in segment.annotations)
        case Reasoning():
            return len(segment.opaque)
        case ToolCall():
            return len(segment.arguments + segment.output + segment.error) + len(segment.opaque)
        case ToolResult():
            return len(segment.output)
        case UnknownItem():
            return len(str(segment.item))
        case CompletionStatus():
            return 0


# --- making it ----------------------------------------------------------------------------------------


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
