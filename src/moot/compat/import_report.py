"""What an import found and what it kept, counted apart: every thought, call and result is accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, BinaryIO, Protocol

import msgspec
from msgspec import Struct, field

from moot.store.archive import segment_type
from moot.views.legacy_rows import MAX_NAME_CHARS, REASONING

MAX_PROBLEMS = 200
"""Of rows that could not be brought; the others are only counted."""
COUNTED_TYPES = (REASONING, "tool_call", "tool_result")
UNTYPED = "(no type)"


class RowProblem(Struct, frozen=True):
    row: str
    reason: str


class Listing(Protocol):
    """Gets every row that could not be brought, of the latest pass."""

    def clear(self) -> None:
        """Another pass over the whole source begins."""
        ...

    def add(self, problem: RowProblem) -> None: ...


class Unlisted:
    """For those who want no list."""

    def clear(self) -> None: ...

    def add(self, problem: RowProblem) -> None: ...


class ListedInFile:
    """A JSON object for each row: `row` and `reason`, a line each."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def clear(self) -> None:
        self._file.seek(0)
        self._file.truncate()

    def add(self, problem: RowProblem) -> None:
        self._file.write(msgspec.json.encode(problem) + b"\n")


class RowCounts(Struct):
    rows: int = 0
    segments: dict[str, int] = field(default_factory=dict[str, int])
    """By type. Thoughts count as segments, wherever they stood."""

    def add(self, segments: Iterable[Any], thoughts: int = 0) -> None:
        """`thoughts` stood beside the segments."""
        types = Counter(_type(segment) for segment in segments)
        types.update({REASONING: thoughts} if thoughts else {})
        for name, count in types.items():
            self.segments[name] = self.segments.get(name, 0) + count
        self.rows += 1


class ImportReport(Struct):
    """Of one pass over the whole source."""

    seen: RowCounts = field(default_factory=RowCounts)
    kept: RowCounts = field(default_factory=RowCounts)
    conversations: int = 0
    new: int = 0
    changed: int = 0
    """Written by this pass."""
    bad: int = 0
    problems: list[RowProblem] = field(default_factory=list[RowProblem])
    dry: bool = False
    lost: list[str] = field(default_factory=list[str])
    """What was written and is not there: it should never have a line."""

    def add_problem(self, row: str, reason: str) -> RowProblem:
        self.bad += 1
        # An id may be anything, bytes that are no text too.
        problem = RowProblem(row[:MAX_NAME_CHARS].encode(errors="replace").decode(), reason)
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        return problem

    def compare_counts(self) -> list[tuple[str, int, int]]:
        """Of rows, and of what must not get lost: how many were there, and how many are here."""
        seen, kept = self.seen.segments, self.kept.segments
        counted = [(name, seen.get(name, 0), kept.get(name, 0)) for name in COUNTED_TYPES]
        return [("rows", self.seen.rows, self.kept.rows), *counted]

    @property
    def is_complete(self) -> bool:
        return not self.lost and all(seen == kept for _, seen, kept in self.compare_counts())

    def check_stored(self, stored: dict[str, int]) -> None:
        """What the store itself counts. It may hold more: rows that the source has deleted since."""
        for name, count in self.kept.segments.items():
            if stored.get("" if name == UNTYPED else name, 0) < count:
                self.lost.append(name)

    def encoded(self) -> msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(self))


def _type(segment: Any) -> str:
    return (segment_type(segment) if isinstance(segment, dict) else "") or UNTYPED  # pyright: ignore[reportUnknownArgumentType] - JSON
