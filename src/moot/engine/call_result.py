"""What one call has returned so far, and what the log says of it in the end.

`CallResult` collects text and segments in the provider's order while the reply streams. `call_completed` and
`call_failed` turn it into an event with usage, cost and the reason why the reply ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

from msgspec import Struct, field
from msgspec.structs import replace

from moot.core.errors import Fault
from moot.core.events import CallCompleted, CallFailed, SegmentCompleted
from moot.core.pricing import at_least, cost, estimate_usage, plausible_usage, sent_tokens, text_bytes
from moot.core.segments import Piece, rebuilt
from moot.core.terms import (
    CompletionStatus,
    DeltaKind,
    Money,
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
from moot.core.word_count import first_tokens, quarter_tokens, whole_tokens
from moot.providers.contract import ReplyDone

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


def call_completed(request: Request, result: CallResult, *, ended: bool) -> CallCompleted:
    """`ended`: no further call continues this one."""
    done = result.done
    usage = Usage() if done and done.unbilled else _usage(request, result)
    # A later call cannot refer to a reply that we cut off, or whose tool calls we never answered.
    unusable = done is None or (ended and bool(result.pending_tool_calls()))
    tier = done.service_tier if done and request.model.service_tier else ""
    return CallCompleted(
        call=result.call,
        finish=done.finish if done else "unknown",
        usage=usage,
        cost=Money(0) if done and done.unbilled else cost(request.model.price, usage, tier),
        latency_ms=result.latency_ms,
        first_token_ms=result.first_token_ms,
        response_id=None if unusable else result.response_id,
        truncated=result.truncated,
        stored=done.stored if done else True,
        reason=done.reason if done else "",
        answered_by=done.model if done else "",
        request_id=result.request_id,
        unread=done.unread if done else 0,
        refusal_category=done.refusal_category if done else "",
        service_tier=tier,
    )


def call_failed(request: Request, result: CallResult, fault: Fault, wait: float | None) -> CallFailed:
    """`wait` is the time until the next attempt, None where there is none."""
    usage = _usage(request, result) if fault.billed else Usage()
    return CallFailed(
        call=result.call,
        kind=fault.kind,
        severity=fault.severity,
        message=str(fault),
        usage=usage,
        cost=cost(request.model.price, usage) if fault.billed else Money(0),
        latency_ms=result.latency_ms,
        http_status=fault.http_status,
        retry_in_ms=None if wait is None else int(wait * 1000),
        billed=fault.billed,
        request_id=fault.request_id or result.request_id,
    )


def call_not_sent(call: int) -> CallFailed:
    """A call that was begun and given up before its request was sent: it costs nothing."""
    fault = Fault("cut", billed=False)
    return CallFailed(
        call=call,
        kind=fault.kind,
        severity=fault.severity,
        message=str(fault),
        usage=Usage(),
        cost=Money(0),
        latency_ms=0,
        billed=False,
    )


def _usage(request: Request, result: CallResult) -> Usage:
    # Prefilled text was sent, not generated.
    text_size = max(0, result.size - result.reasoning_size - quarter_tokens(request.prefill))
    guess = estimate_usage(sent_tokens(request), whole_tokens(text_size), whole_tokens(result.reasoning_size))
    if result.done is not None or result.usage_is_final:
        chars = max(0, result.chars - len(request.prefill)) + result.reasoning_chars
        reported = result.partial_usage if result.done is None else result.done.usage
        return plausible_usage(reported, guess, text_bytes(request), chars)
    # Figures from before the end are not final: Anthropic's begin with one token of output.
    return guess if result.partial_usage is None else at_least(result.partial_usage, guess)
