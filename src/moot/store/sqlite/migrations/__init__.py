"""Forward-only migrations of the SQLite store: `0001_*.sql`, `0002_*.sql` ... in order.

Each runs in a transaction of its own that ends by recording its number, so a process killed in the middle
leaves the old schema or the new one, never half of it. The number of the core is `user_version`; those of
extensions, which run after it, are in `extension_schemas`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from moot.core.crash_points import crash_point
from moot.core.errors import StoreError
from moot.store.extension_tables import (
    ExtensionSchemas,
    Tables,
    keeps_of,
    migration_failed,
    numbered_scripts,
    refuse_newer,
)

LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED")


class CoreSchema(NamedTuple):
    name: str = ""

    def version(self, connection: sqlite3.Connection) -> int:
        return connection.execute("PRAGMA user_version").fetchone()[0]

    def record(self, connection: sqlite3.Connection, number: int) -> None:
        connection.execute(f"PRAGMA user_version = {number}")


class ExtensionSchema(NamedTuple):
    tables: Tables[Any]
    name: str

    def version(self, connection: sqlite3.Connection) -> int:
        rows = connection.execute("SELECT version FROM extension_schemas WHERE name = ?", (self.name,))
        row = rows.fetchone()
        return row[0] if row else 0

    def record(self, connection: sqlite3.Connection, number: int) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO extension_schemas (name, version, keeps) VALUES (?, ?, ?)",
            (self.name, number, self.tables.keeps),
        )

    def adopt(self, connection: sqlite3.Connection) -> None:
        """Record the migrations that a version applied which did not record them."""
        if self.version(connection) == 0:
            adopted = sum(_has_column(connection, column) for column in self.tables.adopted)
            connection.execute(
                "INSERT OR IGNORE INTO extension_schemas (name, version, keeps) SELECT ?, ?, ? WHERE ? > 0",
                (self.name, adopted, self.tables.keeps, adopted),
            )


Schema = CoreSchema | ExtensionSchema
"""Whose migrations run, and where their number is kept."""


def migrate(connection: sqlite3.Connection, extensions: Iterable[Tables[Any]]) -> ExtensionSchemas:
    """Raises NewerSchema for the tables of the core only."""
    _catch_up(connection, CoreSchema(), dict(numbered_scripts(files(__name__))))
    failures: dict[str, StoreError | None] = {}
    for tables in extensions:
        failures[tables.name] = None
        schema = ExtensionSchema(tables, tables.name)
        try:
            schema.adopt(connection)
            _catch_up(connection, schema, tables.scripts("sqlite"))
        except StoreError as error:
            failures[tables.name] = error
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorname", "").startswith(LOCKED):
                raise
            failures[tables.name] = migration_failed(tables.name, error)
    rows = connection.execute(
        "SELECT keeps FROM extension_schemas WHERE keeps <> '' ORDER BY name"
    ).fetchall()
    return ExtensionSchemas(failures, keeps_of(rows))


def _catch_up(connection: sqlite3.Connection, schema: Schema, scripts: Mapping[int, str]) -> None:
    refuse_newer(schema.version(connection), max(scripts), schema.name)
    for number in sorted(scripts):
        if number > schema.version(connection):
            _apply(connection, schema, number, scripts[number])


def _apply(connection: sqlite3.Connection, schema: Schema, number: int, script: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster while we waited for the lock.
        if schema.version(connection) < number:
            for statement in _statements(script):
                connection.execute(statement)
            schema.record(connection, number)
            crash_point("before-migration")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _has_column(connection: sqlite3.Connection, column: str) -> bool:
    table, _, name = column.partition(".")
    rows = connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, name))
    return rows.fetchone() is not None


def _statements(script: str) -> Iterator[str]:
    """One by one, since `executescript` would commit our transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
