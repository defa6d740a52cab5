"""Imports old conversations: pass after pass over the source, until one finds nothing new.

A batch and the position of the import are written in one transaction, so an import that was killed continues
after its last batch. Rows that came or changed during a pass are found by the next one, or by the next run of
the import. A row that cannot be read is reported by its id. The report counts what was found and what was
kept apart, so that every thought, tool call and result is accounted for.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, BinaryIO, Protocol

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.extensions.conversations.archive import Archive, Import, IncomingEvent, import_undone, segment_type
from moot.extensions.conversations.archive_rows import incoming_event, legacy_row, nesting_depth
from moot.extensions.conversations.legacy_rows import (
    MAX_NAME_CHARS,
    REASONING,
    LegacyRow,
    canonical,
    parsed,
    read_reasoning,
    read_row,
    thoughts_in,
)
from moot.row_io.readers import RowLocation, RowProblem, RowReader, SourceRow, SourceTable, open_reader

MAX_PROBLEMS = 200
"""Rows that could not be imported are listed up to this number; further ones are only counted."""
COUNTED_TYPES = (REASONING, "tool_call", "tool_result")
UNTYPED = "(no type)"


class Listing(Protocol):
    """Receives every row of the latest pass that could not be imported."""

    def clear(self) -> None:
        """A further pass over the whole source begins."""
        ...

    def add(self, problem: RowProblem) -> None: ...


class Unlisted:
    """Drops them."""

    def clear(self) -> None: ...

    def add(self, problem: RowProblem) -> None: ...


class ListedInFile:
    """Writes them as JSON lines with `row` and `reason`."""

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
    """By type. Reasoning counts as segments, wherever it stood."""

    def add(self, segments: Iterable[Any], thoughts: int = 0) -> None:
        """`thoughts` is the number of pieces of reasoning outside the segments."""
        types = Counter(_type(segment) for segment in segments)
        types.update({REASONING: thoughts} if thoughts else {})
        for name, count in types.items():
            self.segments[name] = self.segments.get(name, 0) + count
        self.rows += 1


class ImportReport(Struct):
    """The result of one pass over the whole source."""

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
    """Segment types that were written and are missing in the store; always empty unless there is a bug."""

    def add_problem(self, row: str, reason: str) -> RowProblem:
        self.bad += 1
        # An id may contain bytes that are no text.
        problem = RowProblem(row[:MAX_NAME_CHARS].encode(errors="replace").decode(), reason)
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        return problem

    def compare_counts(self) -> list[tuple[str, int, int]]:
        """Name, number found and number kept: of rows, and of the segment types that must not get lost."""
        seen, stored = self.seen.segments, self.kept.segments
        counted = [(name, seen.get(name, 0), stored.get(name, 0)) for name in COUNTED_TYPES]
        return [("rows", self.seen.rows, self.kept.rows), *counted]

    @property
    def is_complete(self) -> bool:
        return not self.lost and all(seen == stored for _, seen, stored in self.compare_counts())

    def check_stored(self, stored: dict[str, int]) -> None:
        """Compare with the counts of the store. It may hold more: rows that the source has deleted since."""
        for name, count in self.kept.segments.items():
            if stored.get("" if name == UNTYPED else name, 0) < count:
                self.lost.append(name)

    def encoded(self) -> msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(self))


def _type(segment: Any) -> str:
    return (segment_type(segment) if isinstance(segment, dict) else "") or UNTYPED  # pyright: ignore[reportUnknownArgumentType] - JSON


OLD_TABLE = SourceTable(
    frozenset({"id", "conversation_id", "role", "segments", "order_key", "ts"}),
    ids=("id", "conversation_id", "order_key"),
    json=("reasoning",),
)
BATCH, MAX_BATCH = 1000, 100_000
MOST_PASSES = 20
"""After this many, the source is written faster than we read. The import reports it and can be run again."""
DUPLICATE_ROW = "another row has the same conversation and id"
OTHER_IMPORT = "its conversation was brought by another import"
NOT_REVERSIBLE = "it could not be given back as it is"
TOO_DEEP = "it is nested too deeply"
MAX_DEPTH = 500
"""Later readers may have less stack than the import."""


class ImportProgress(Struct, frozen=True):
    """The progress of a pass, in rows or bytes."""

    passed: int
    """The number of passes before this one."""
    done: int
    total: int
    written: int


class ImportOutcome(Struct, frozen=True):
    import_: Import
    report: ImportReport
    caught_up: bool
    """The last pass found nothing new."""
    new: int = 0
    changed: int = 0
    """Rows, over all passes of this run."""


Clock = Callable[[], datetime]
OnProgress = Callable[[ImportProgress], None]


def _now() -> datetime:
    return datetime.now(UTC)


async def import_rows(
    archive: Archive,
    location: RowLocation,
    *,
    owner: str = "",
    batch: int = BATCH,
    dry: bool = False,
    on_progress: OnProgress = lambda _: None,
    clock: Clock = _now,
    listing: Listing | None = None,
) -> ImportOutcome:
    """Import what is new. A dry run reads it all once and writes nothing. `listing` gets all bad rows."""
    if not 1 <= batch <= MAX_BATCH:
        raise Invalid(f"A batch has 1 to {MAX_BATCH:,} rows.")
    name = _id_of(location, owner)
    earlier = (one for one in await archive.imports() if one.id == name)
    import_ = next(earlier, None) or Import(name, owner, location.label, clock(), clock())
    if import_.state == "undoing":
        raise import_undone(import_.id)
    run = _ImportRun(
        archive, replace(import_, state="running"), batch, dry, on_progress, clock, listing or Unlisted()
    )
    with open_reader(location, OLD_TABLE) as source:
        if not dry:
            await archive.save(run.import_, ())
        new = changed = 0
        while True:
            resumed = bool(run.import_.cursor) and not dry
            report = await run.run_pass(source)
            new, changed = new + report.new, changed + report.changed
            quiet = not resumed and not (report.new or report.changed)
            if dry or quiet or run.import_.passes - import_.passes >= MOST_PASSES:
                break
    if dry:
        return ImportOutcome(import_, report, True, new)
    report.check_stored(await archive.segment_counts(import_.id))
    done = replace(run.import_, state="done", report=report.encoded(), updated_at=clock())
    await archive.save(done, ())
    return ImportOutcome(done, report, quiet, new, changed)


def _id_of(location: RowLocation, owner: str) -> str:
    """Made of source and owner: two imports of the same source at the same time are one import."""
    return f"imp_{hashlib.blake2b(canonical([location.label, owner]), digest_size=10).hexdigest()}"


async def undo_import(
    archive: Archive, import_id: str, on_progress: Callable[[int], None] = lambda _: None
) -> int:
    """Remove an import and exactly what it brought. Returns the number of events. Raises Invalid."""
    if all(one.id != import_id for one in await archive.imports()):
        raise Invalid(f"There is no import {import_id!r}.")
    total = 0
    while removed := await archive.undo_import(import_id):
        total += removed
        on_progress(total)
    return total


class _ImportRun:
    """An import that is running."""

    def __init__(
        self,
        archive: Archive,
        import_: Import,
        batch: int,
        dry: bool,
        on_progress: OnProgress,
        clock: Clock,
        listing: Listing,
    ) -> None:
        self._listing = listing
        self.import_ = import_
        self._archive = archive
        self._batch = batch
        self._dry = dry
        self._on_progress = on_progress
        self._clock = clock
        self._seen: set[int] = set()
        self._conversations: set[str] = set()

    async def run_pass(self, source: RowReader) -> ImportReport:
        """One pass, from the position of the import to the end of the source."""
        report, done, cursor = ImportReport(dry=self._dry), 0, "" if self._dry else self.import_.cursor
        self._seen.clear()
        self._conversations.clear()
        self._listing.clear()
        total = await asyncio.to_thread(source.size)
        while (batch := await asyncio.to_thread(source.read, cursor, self._batch)).rows:
            cursor, done = batch.cursor, done + batch.done
            self.import_ = replace(self.import_, cursor=cursor, updated_at=self._clock())
            await self._keep(self._readable(batch.rows, report), report)
            self._on_progress(
                ImportProgress(self.import_.passes, done, max(total, done), report.new + report.changed)
            )
        report.conversations = len(self._conversations)
        self.import_ = replace(self.import_, cursor="", passes=self.import_.passes + 1)
        if not self._dry:
            await self._archive.save(self.import_, ())
        return report

    def _readable(self, rows: Iterable[SourceRow], report: ImportReport) -> list[IncomingEvent]:
        events: list[IncomingEvent] = []
        for row in rows:
            shape = row.fields or {}
            report.seen.add(_segments(shape), _thoughts(shape))
            try:
                events.append(self._read(row))
            except Invalid as problem:
                self._listing.add(report.add_problem(row.name, str(problem)))
        return events

    def _read(self, source_row: SourceRow) -> IncomingEvent:
        if source_row.fields is None:
            raise Invalid(source_row.problem)
        row = read_row(source_row.fields)
        key = hash((row.conversation_id, row.id))
        if key in self._seen:
            raise Invalid(DUPLICATE_ROW)
        self._seen.add(key)
        return _mapped(row)

    async def _keep(self, events: list[IncomingEvent], report: ImportReport) -> None:
        if self._dry:
            refused = await self._of_other_imports(events)
            report.new += sum(one.event.conversation not in refused for one in events)
        else:
            written = await self._archive.save(self.import_, events)
            report.new, report.changed = report.new + written.new, report.changed + written.changed
            refused = {*written.refused}
        for one in events:
            if one.event.conversation in refused:
                self._listing.add(report.add_problem(one.event.id, OTHER_IMPORT))
                continue
            self._conversations.add(one.event.conversation)
            report.kept.add(msgspec.json.decode(one.event.segments))

    async def _of_other_imports(self, events: list[IncomingEvent]) -> set[str]:
        names = {one.event.conversation for one in events} - self._conversations
        known = [await self._archive.conversation(name) for name in names]
        return {one.id for one in known if one and one.import_id != self.import_.id}


def _mapped(row: LegacyRow) -> IncomingEvent:
    """The row as an event. Raises Invalid where the row could not be exported from it unchanged."""
    try:
        if nesting_depth(row) > MAX_DEPTH:
            raise Invalid(TOO_DEEP)
        event = incoming_event(row)
        same = canonical(legacy_row(event.event)) == canonical(row)
    except (TypeError, ValueError, RecursionError):
        raise Invalid(NOT_REVERSIBLE) from None
    if not same:
        raise Invalid(NOT_REVERSIBLE)
    return event


def _segments(shape: Any) -> list[Any]:
    """The segments of a row that may be invalid otherwise, to count them."""
    try:
        segments = parsed(shape.get("segments"), "segments")
    except Invalid:
        return []
    return segments if isinstance(segments, list) else []  # pyright: ignore[reportUnknownVariableType] - JSON


def _thoughts(shape: Any) -> int:
    try:
        return len(thoughts_in(read_reasoning(shape.get("reasoning"))))
    except Invalid:
        return 1
