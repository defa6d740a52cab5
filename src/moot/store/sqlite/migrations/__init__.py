"""Forward-only migrations of the SQLite store: `0001_*.sql`, `0002_*.sql` ... in order.

Each runs in a transaction of its own that ends by setting `user_version`, so a process killed in the middle
leaves the old schema or the new one, never half of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib.resources import files

from moot.core.diagnostics import crash_point
from moot.core.errors import NewerSchema


def migrate(connection: sqlite3.Connection) -> None:
    scripts = dict(_scripts())
    refuse_newer(_version(connection), max(scripts))
    for number in sorted(scripts):
        if number > _version(connection):
            _apply(connection, number, scripts[number])


def refuse_newer(version: int, known: int) -> None:
    if version > known:
        raise NewerSchema(
            f"This store has schema {version}, but this Moot knows only up to {known}: "
            "it was written by a newer version. Upgrade Moot to open it."
        )


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _apply(connection: sqlite3.Connection, number: int, script: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster while we waited for the lock.
        if _version(connection) < number:
            for statement in _statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
            crash_point("before-migration")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _scripts() -> Iterator[tuple[int, str]]:
    for file in files(__name__).iterdir():
        if file.name.endswith(".sql"):
            yield int(file.name[:4]), file.read_text("utf-8")


def _statements(script: str) -> Iterator[str]:
    """One by one, since `executescript` would commit our transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
