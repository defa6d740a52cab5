"""Connections to the SQLite file: how they are opened, run shared statements and report errors."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Generator
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from moot.core.errors import StoreError
from moot.store.extension_tables import ExtensionSchemas, loaded_tables
from moot.store.sql import Row, Statement, Steps, Values, sqlite_text
from moot.store.sqlite.migrations import migrate

LOCK_WAIT_SECONDS = 10.0
"""How long to wait for another process that is writing."""

T = TypeVar("T")


def prepare(path: Path) -> ExtensionSchemas:
    """Create the file, readable by its owner only, and migrate it. Raises StoreError or NewerSchema."""
    with translated(path):
        _make_private(path)
        with contextlib.closing(connect(path)) as connection:
            _when_unlocked(lambda: connection.execute("PRAGMA journal_mode = WAL"))
            return migrate(connection, loaded_tables())


def connect(path: Path, *, reader: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=LOCK_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        _set_up(connection, reader)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection, reader: bool) -> None:
    for pragma in (
        # The default of SQLite builds differs: FULL is what makes a commit survive a power cut.
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",
        "temp_store = MEMORY",
        "journal_size_limit = 67108864",
        f"query_only = {'ON' if reader else 'OFF'}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    connection.create_function("casefold", 1, str.casefold, deterministic=True)


def run_statement(connection: sqlite3.Connection, statement: Statement) -> list[Row]:
    """Run a statement of `store/sql.py` and return all rows."""
    if statement.many is None:
        return cursor_of(connection, statement).fetchall()
    connection.executemany(sqlite_text(statement.text), map(_adapted, statement.many))
    return []


def cursor_of(connection: sqlite3.Connection, statement: Statement) -> sqlite3.Cursor:
    """Run a statement of `store/sql.py` whose rows are read in pages."""
    return connection.execute(sqlite_text(statement.text), _adapted(statement.values))


def run_steps(connection: sqlite3.Connection, steps: Steps[T]) -> T:
    """Run statements of `store/sql.py` one after the other. The caller holds the transaction."""
    try:
        statement = next(steps)
        while True:
            statement = steps.send(run_statement(connection, statement))
    except StopIteration as finished:
        return finished.value


def _adapted(values: Values) -> dict[str, object]:
    return {name: _adapt(value) for name, value in values.items()}


def _adapt(value: object) -> object:
    """Times are kept as text; lists are passed as JSON."""
    if isinstance(value, datetime):
        return msgspec.to_builtins(value)
    return msgspec.json.encode(value).decode() if isinstance(value, list) else value


REASONS = {
    "SQLITE_FULL": "The disk is full",
    "SQLITE_BUSY": "Another process keeps the store locked",
    "SQLITE_IOERR": "The disk fails",
    "SQLITE_READONLY": "The store may only be read",
    "SQLITE_CANTOPEN": "The store cannot be opened",
    "SQLITE_CORRUPT": "The store is damaged",
    "SQLITE_NOTADB": "This is not a store of Moot",
}


def translate(error: sqlite3.Error | OSError, where: object = "") -> StoreError:
    """The error in our words, with the original as its cause."""
    # Extended codes carry a suffix: SQLITE_IOERR_WRITE.
    name = "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])
    reason = (
        REASONS.get(name) or (isinstance(error, OSError) and error.strerror) or "The log cannot be reached"
    )
    translation = StoreError(f"{reason}: {where}" if where else f"{reason}.")
    translation.__cause__ = error
    return translation


def is_locked(error: StoreError) -> bool:
    return getattr(error.__cause__, "sqlite_errorname", "").startswith("SQLITE_BUSY")


@contextlib.contextmanager
def translated(where: object = "") -> Generator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise translate(error, where) from error


def _make_private(path: Path) -> None:
    if not path.parent.exists():
        path.parent.mkdir(parents=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    # SQLite gives -wal and -shm the mode of the file, but an old one keeps the mode it has.
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            Path(f"{path}{suffix}").chmod(0o600)


def _when_unlocked(attempt: Callable[[], T]) -> T:
    """Retry while the file is locked: the switch to WAL does not wait by itself."""
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
