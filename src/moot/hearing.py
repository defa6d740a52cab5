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
    spoken: dict[int, tuple[DeltaKind, list[str]]] = field(
        default_factory=dict[int, tuple[DeltaKind, list[str]]]
    )
    response_id: str | None = None
    truncated: Truncation | None = None
    started: float = 0.0
    first_token: float | None = None
    chars: int = 0
    reasoning_chars: int = 0

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
        made = {index: _from_words(index, *said) for index, said in self.spoken.items()}
        return [segment for _, segment in sorted({**made, **self.segments}.items())]

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
        if index not in self.spoken:
            self.spoken[index] = (kind, [])
        self.spoken[index][1].append(text)
        if kind == "text":
            self.chars += len(text)
        else:
            self.reasoning_chars += len(text)


def _from_words(index: int, kind: DeltaKind, words: list[str]) -> Segment:
    text = "".join(words)
    if kind == "text":
        return Text(text, index)
    return Reasoning((ReasoningPart(text),), index)
