"""A consistent copy of the store in one file, made while others write to it.

The copy is made under a temporary name and checked before it is renamed, so a file of the final name is never
half a backup. One read transaction is held throughout: without it SQLite would start again with every commit
of another process, and never finish in a busy store.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from secrets import token_hex

from moot.core.errors import StoreError
from moot.store.sqlite.connect import connect, translated

ReportPages = Callable[[int, int], None]
"""Called with the pages done and the number of pages."""

STEP = 512
"""Pages between two reports."""


def back_up(source: Path, target: Path, report: ReportPages) -> int:
    """Returns the size of the copy. What was at `target` is replaced."""
    part = target.with_name(f".{target.name}.{token_hex(4)}.part")
    with translated(target):
        try:
            os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            _copy(source, part, report)
            _check(part)
            _sync(part)
            part.replace(target)
            _sync(target.parent)
        finally:
            for left in (part, part.with_name(f"{part.name}-journal")):
                left.unlink(missing_ok=True)
        return target.stat().st_size


def _copy(source: Path, part: Path, report: ReportPages) -> None:
    def progress(_status: int, left: int, total: int) -> None:
        report(total - left, total)

    with closing(connect(source, reader=True)) as original, closing(sqlite3.connect(part)) as copy:
        original.execute("BEGIN")
        original.execute("SELECT count(*) FROM sqlite_master").fetchone()
        original.backup(copy, pages=STEP, progress=progress)
        # The original's write-ahead log is named in its header; a copy has none and needs none.
        copy.execute("PRAGMA journal_mode = DELETE")


def _check(part: Path) -> None:
    with closing(sqlite3.connect(part)) as copy:
        verdict = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise StoreError(f"The copy is not sound, so it was not kept: {verdict}")


def _sync(path: Path) -> None:
    """A folder cannot be opened on Windows, nor need it be."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
