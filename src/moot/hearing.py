"""What came of one call so far: words and segments in the provider's order, and how it ended."""

from __future__ import annotations

from time import monotonic

from msgspec import Struct, field

from moot.events import SegmentCompleted
from moot.providers.contract import Done
from moot.terms import DeltaKind, Reasoning, ReasoningPart, Segment, Text, Truncation


class Heard(Struct):
    done: Done | None = None
    segments: dict[int, Segment] = field(default_factory=dict[int, Segment])
    spoken: dict[tuple[int, DeltaKind], list[str]] = field(
        default_factory=dict[tuple[int, DeltaKind], list[str]]
    )
    """Thoughts and words never share a segment, whatever number a provider gives them."""
    response_id: str | None = None
    request_id: str = ""
    truncated: Truncation | None = None
    started: float = 0.0
    first_token: float | None = None
    chars: int = 0
    reasoning_chars: int = 0
    size: int = 0
    """In bytes, thoughts included."""

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
            _from_words(index, kind, words)
            for (index, kind), words in self.spoken.items()
            if index not in self.segments
        ]
        return sorted([*made, *self.segments.values()], key=lambda segment: segment.index)

    def unrecorded(self, call: int) -> tuple[SegmentCompleted, ...]:
        """Segments that the provider never finished by itself."""
        return tuple(
            SegmentCompleted(call, segment)
            for segment in self.all_segments()
            if segment.index not in self.segments
        )

    def keep(self, index: int, kind: DeltaKind, text: str) -> None:
        if self.first_token is None:
            self.first_token = monotonic()
        self.spoken.setdefault((index, kind), []).append(text)
        self.size += len(text) if text.isascii() else len(text.encode())
        if kind == "text":
            self.chars += len(text)
        else:
            self.reasoning_chars += len(text)


def _from_words(index: int, kind: DeltaKind, words: list[str]) -> Segment:
    text = "".join(words)
    if kind == "text":
        return Text(text, index)
    return Reasoning((ReasoningPart(text),), index)
