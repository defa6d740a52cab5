"""Segments of replies that were cut, rebuilt from the text that had been streamed.

A turn keeps all its text in one string and all its reasoning in another; a `Run` says from where on they
belong to which segment. `rebuilt` makes one segment from its pieces, with the service's ids. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from moot.core.terms import DeltaKind, PartStart, Reasoning, ReasoningPart, Segment, Text

BETWEEN = "\n\n"
"""Between two parts of reasoning, as in `Reasoning.text`, and between two messages of a reply."""
MOST_RUNS = 1024
"""A reply that switches between segments more often than this is not told apart any further."""

Piece = tuple[PartStart | None, str]


class Run(Struct, frozen=True):
    """Consecutive text of one segment."""

    index: int
    kind: DeltaKind
    start: int
    """Where it begins in the text of the turn, or in its reasoning."""
    at: datetime
    part: PartStart | None = None


def with_run(runs: tuple[Run, ...], run: Run) -> tuple[Run, ...]:
    """The runs and this one, unless it continues the last one of its kind."""
    last = next((other for other in reversed(runs) if other.kind == run.kind), None)
    continues = last is not None and last.index == run.index and run.part is None
    return runs if continues or len(runs) >= MOST_RUNS else (*runs, run)


def left_open(deltas: Iterable[tuple[int, DeltaKind, Piece]], finished: Iterable[Segment]) -> list[Segment]:
    """The unfinished segments of one call, from its deltas."""
    done = {(_kind(segment), segment.index) for segment in finished}
    pieces: dict[tuple[DeltaKind, int], list[Piece]] = {}
    for index, kind, piece in deltas:
        if (kind, index) not in done:
            pieces.setdefault((kind, index), []).append(piece)
    return [rebuilt(index, kind, parts) for (kind, index), parts in pieces.items()]


def unfinished(
    runs: Sequence[Run], text: str, reasoning: str, finished: Iterable[Segment]
) -> tuple[Text | Reasoning, ...]:
    """The unfinished segments of a turn, from its text and reasoning."""
    done = {(_kind(segment), segment.index) for segment in finished}
    pieces: dict[tuple[DeltaKind, int], list[Piece]] = {}
    ends: dict[DeltaKind, int] = {"text": len(text), "reasoning": len(reasoning)}
    for run in reversed(runs):
        words = (text if run.kind == "text" else reasoning)[run.start : ends[run.kind]]
        ends[run.kind] = run.start
        if words and (run.kind, run.index) not in done:
            pieces.setdefault((run.kind, run.index), []).insert(0, (run.part, words))
    return tuple(rebuilt(index, kind, parts) for (kind, index), parts in pieces.items())


def rebuilt(index: int, kind: DeltaKind, pieces: Iterable[Piece]) -> Text | Reasoning:
    """One segment from its pieces; a piece with a `PartStart` begins a new part, all others continue."""
    parts: list[tuple[PartStart, str]] = []
    for start, words in pieces:
        if start is None:
            start = parts[-1][0] if parts else PartStart()
        known = next((n for n, (part, _) in enumerate(parts) if part == start), None)
        if known is None:
            parts.append((start, words.removeprefix(BETWEEN) if parts else words))
        else:
            parts[known] = (start, parts[known][1] + words)
    item = parts[0][0] if parts else PartStart()
    if kind == "text":
        return Text("".join(words for _, words in parts), index, item.item_id, item.sequence_number)
    thoughts = (ReasoningPart(words, part.summary_index, part.part_number) for part, words in parts)
    return Reasoning(tuple(thoughts), index, item.item_id, item.sequence_number)


def paragraph_break(text: str) -> str:
    """What belongs between this text and another one that does not continue it."""
    return BETWEEN if text.strip() and not text[-1].isspace() else ""


def in_order(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """In the provider's order; reasoning comes before text of the same number."""
    return tuple(sorted(segments, key=lambda segment: (segment.index, not isinstance(segment, Reasoning))))


def _kind(segment: Segment) -> DeltaKind | None:
    match segment:
        case Text():
            return "text"
        case Reasoning():
            return "reasoning"
        case _:
            return None
