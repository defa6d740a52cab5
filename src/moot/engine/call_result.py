"""What came of one call so far: words and segments in the provider's order, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

from msgspec import Struct, field
from msgspec.structs import replace

from moot.core.events import SegmentCompleted
from moot.core.segments import Piece, rebuilt
from moot.core.terms import (
    CompletionStatus,
    DeltaKind,
    PartStart,
    Reasoning,
    ReasoningPart,
    Segment,
    Text,
    ToolCall,
    ToolResult,
    Truncation,
    UnknownItem,
    Usage,
)
from moot.core.word_count import first_tokens, quarter_tokens
from moot.providers.contract import ReplyDone

MAX_NON_TEXT_CHARS = 2 * 1024 * 1024
MAX_SEGMENTS = 256
"""Words and thoughts that change places more often than this are no speech."""


class CallResult(Struct):
    call: int = 0
    done: ReplyDone | None = None
    segments: dict[int, Segment] = field(default_factory=dict[int, Segment])
    deltas: dict[tuple[int, DeltaKind], list[str]] = field(
        default_factory=dict[tuple[int, DeltaKind], list[str]]
    )
    """Thoughts and words never share a segment, whatever number a provider gives them."""
    parts: dict[tuple[int, DeltaKind], list[tuple[int, PartStart]]] = field(
        default_factory=dict[tuple[int, DeltaKind], list[tuple[int, PartStart]]]
    )
    """Of those that the service counts: with which of its words each part of a segment starts."""
    response_id: str | None = None
    request_id: str = ""
    partial_usage: Usage | None = None
    """What was reported by a reply that then broke off."""
    truncated: Truncation | None = None
    started: float = 0.0
    first_token: float | None = None
    chars: int = 0
    reasoning_chars: int = 0
    size: int = 0
    """In quarters of tokens, thoughts included: at least as many as bytes."""
    reasoning_size: int = 0
    """What of it is thoughts."""
    non_text_size: int = 0
    """What came beside words, in characters: what tools were asked and gave, seals, citations."""

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
        """Those the provider finished, and those we have only the words of."""
        made = [
            rebuilt(index, kind, self._pieces(index, kind, words))
            for (index, kind), words in self.deltas.items()
            if index not in self.segments
        ]
        return sorted([*made, *self.segments.values()], key=lambda segment: segment.index)

    def unfinished_segments(self, call: int) -> tuple[SegmentCompleted, ...]:
        """Segments that the provider never finished by itself."""
        return tuple(
            SegmentCompleted(call, segment)
            for segment in self.all_segments()
            if segment.index not in self.segments
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
        """Keep a finished segment, as far as there is room for what was not heard before it."""
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
        """Its words were said as speech, and turn out to have been thoughts."""
        return isinstance(segment, Reasoning) and (segment.index, "text") in self.deltas

    def _fit(self, segment: Text | Reasoning, before: Segment | None, most: int) -> Text | Reasoning:
        kind: DeltaKind = "text" if isinstance(segment, Text) else "reasoning"
        known = self._delta_length(segment.index, "text") + self._delta_length(segment.index, "reasoning")
        if isinstance(before, Text | Reasoning):
            known = max(known, len(before.text))
        elif self.was_reasoning(segment):
            taken = self._delta_length(segment.index, "text")
            self.chars, self.reasoning_chars = self.chars - taken, self.reasoning_chars + taken
            self.reasoning_size += quarter_tokens("".join(self.deltas[segment.index, "text"]))
        unheard = segment.text[known:]
        if not unheard:
            return segment
        fits = first_tokens(unheard, max(0, most - self.size))
        if fits != unheard:
            self.truncated = "cap"
            segment = _clipped(segment, known + len(fits))
        self._count(kind, segment.text[known:])
        return segment

    def _pieces(self, index: int, kind: DeltaKind, words: list[str]) -> Iterator[Piece]:
        start, part = 0, None
        for until, following in self.parts.get((index, kind), ()):
            if until:
                yield part, "".join(words[start:until])
            start, part = until, following
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
    # A seal over words that are no longer there would be refused.
    return replace(segment, parts=(ReasoningPart(text),), opaque="")


def _non_text_length(segment: Segment) -> int:
    """What a segment holds beside words, in characters."""
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
