"""Writes rows to a table of PostgreSQL or SQLite, which is created if needed, or to a new file of JSON lines.

Nothing is overwritten: a row whose id is in the table already is left as it is, and counted.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import uuid
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Protocol, assert_never

import msgspec
from msgspec import Struct, field

from moot.core.errors import Invalid, Unavailable
from moot.row_io.readers import (
    BUSY_SECONDS,
    RowLocation,
    RowProblem,
    connect_postgres,
    driver,
    quoted_table,
    translate_errors,
)

Row = dict[str, Any]

_IN_SQLITE = (
    (r"\bTIMESTAMP(TZ)? DEFAULT NOW\(\)", "TEXT DEFAULT CURRENT_TIMESTAMP"),
    (r"\b(UUID|JSONB)\b", "TEXT"),
)
"""SQLite has no such types, and stores text for all of them."""


class TableDefinition(Struct, frozen=True):
    """The columns of a table. A file of JSON lines also gets all other fields of a row."""

    ddl: str
    """For PostgreSQL, with `{}` for the name."""
    columns: tuple[str, ...]
    json: tuple[str, ...]
    """The columns that hold JSON."""
    uuids: tuple[str, ...] = ()
    """The columns of type uuid; they become text when an id is no UUID."""

    @property
    def sqlite_ddl(self) -> str:
        ddl = self.ddl
        for old, new in _IN_SQLITE:
            ddl = re.sub(old, new, ddl, flags=re.IGNORECASE)
        return ddl


class WriteReport(Struct):
    rows: int = 0
    existing: int = 0
    """Left as they were."""
    problems: list[RowProblem] = field(default_factory=list[RowProblem])


class RowWriter(Protocol):
    def write(self, rows: Sequence[Row], report: WriteReport) -> None: ...


async def write_rows(
    location: RowLocation,
    table: TableDefinition,
    *sources: AsyncGenerator[list[Row], None],
    on_progress: Callable[[int], None] = lambda _: None,
) -> WriteReport:
    report = WriteReport()
    with open_writer(location, table) as writer:
        for source in sources:
            async for batch in source:
                await asyncio.to_thread(writer.write, batch, report)
                on_progress(report.rows)
    return report


@contextmanager
def open_writer(location: RowLocation, table: TableDefinition) -> Generator[RowWriter]:
    match location.kind:
        case "jsonl":
            with _new_file(location) as file:
                yield JsonLinesRowWriter(file)
        case "sqlite":
            with _writable(location) as connection:
                yield SqliteRowWriter(connection, location, table)
        case "postgresql":
            with connect_postgres(location, reading=False) as connection:
                yield PostgresRowWriter(connection, location, table)
        case _:
            assert_never(location.kind)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def _is_uuid(value: str) -> bool:
    """Whether it is a UUID in canonical form: PostgreSQL would change any other form."""
    try:
        return str(uuid.UUID(value)) == value
    except ValueError:
        return False


def _values(table: TableDefinition, row: Row, convert: Callable[[str, Any], Any]) -> list[Any]:
    return [convert(name, row[name]) for name in table.columns]


# --- a file ---------------------------------------------------------------------------------------------


@contextmanager
def _new_file(location: RowLocation) -> Generator[Any]:
    try:
        with location.path.open("xb") as file:
            yield file
    except FileExistsError:
        raise Invalid(f"{location.path} is there already.") from None
    except OSError as error:
        raise Unavailable(f"{location.path} cannot be written: {error.strerror}.") from error


class JsonLinesRowWriter(Struct):
    file: Any

    def write(self, rows: Sequence[Row], report: WriteReport) -> None:
        self.file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        report.rows += len(rows)


# --- SQLite ---------------------------------------------------------------------------------------------


@contextmanager
def _writable(location: RowLocation) -> Generator[sqlite3.Connection]:
    try:
        with closing(
            sqlite3.connect(location.path, timeout=BUSY_SECONDS, check_same_thread=False)
        ) as connection:
            yield connection
    except sqlite3.Error as error:
        raise Unavailable(f"{location.label}: {error}.") from error


class SqliteRowWriter:
    def __init__(self, connection: sqlite3.Connection, location: RowLocation, table: TableDefinition) -> None:
        self._connection = connection
        self._table = table
        name, marks = quoted_table(location), ", ".join("?" * len(table.columns))
        connection.execute(table.sqlite_ddl.format(name))
        # Not OR IGNORE: it would also skip rows that break another constraint of the table.
        self._insert = f"""
            INSERT INTO {name} ({", ".join(table.columns)}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING
        """  # noqa: S608 - a checked name

    def write(self, rows: Sequence[Row], report: WriteReport) -> None:
        with self._connection:
            values = (_values(self._table, row, self._value) for row in rows)
            written = self._connection.executemany(self._insert, values).rowcount
        report.rows += written
        report.existing += len(rows) - written

    def _value(self, name: str, value: Any) -> Any:
        """JSON as text; a string that is no JSON stays as it is, since it cannot be mistaken for JSON."""
        if value is None or name not in self._table.json:
            return value
        return value if isinstance(value, str) and not _is_json(value) else _json(value)


# --- PostgreSQL -----------------------------------------------------------------------------------------


class PostgresRowWriter:
    """Writes a batch at once; where a row is refused, row by row, and reports the refused ones."""

    def __init__(self, connection: Any, location: RowLocation, table: TableDefinition) -> None:
        from psycopg import sql

        self._connection = connection
        self._location = location
        self._table = table
        name = self._name = sql.Identifier(*location.table_parts)
        with translate_errors(location):
            existing = connection.execute("SELECT to_regclass(%s)", (name.as_string(connection),)).fetchone()
            self._uuids = [] if existing[0] is not None else list(table.uuids)
            """The uuid columns of a table that is created here."""
            connection.execute(sql.SQL(table.ddl).format(name))  # pyright: ignore[reportArgumentType] - our own text
        names = sql.SQL(", ").join(map(sql.Identifier, table.columns))
        values = sql.SQL(", ").join(sql.Placeholder() * len(table.columns))
        insert = "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT (id) DO NOTHING"
        self._insert = sql.SQL(insert).format(name, names, values)

    def write(self, rows: Sequence[Row], report: WriteReport) -> None:
        refusal: type[Exception] = driver().DataError
        with translate_errors(self._location):
            self._widen(rows)
            try:
                self._together(rows, report)
            except refusal:
                for row in rows:
                    try:
                        self._together([row], report)
                    except refusal as error:
                        report.problems.append(RowProblem(row["id"], str(error).partition("\n")[0]))

    def _widen(self, rows: Sequence[Row]) -> None:
        """Change uuid columns of a table that was created here to text, when an id is no UUID."""
        from psycopg import sql

        for column in [name for name in self._uuids if not all(_is_uuid(row[name]) for row in rows)]:
            change = sql.SQL("ALTER TABLE {} ALTER COLUMN {} TYPE text")
            self._connection.execute(change.format(self._name, sql.Identifier(column)))
            self._uuids.remove(column)

    def _together(self, rows: Sequence[Row], report: WriteReport) -> None:
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(self._insert, [_values(self._table, row, self._value) for row in rows])
            written = max(0, cursor.rowcount)
        report.rows += written
        report.existing += len(rows) - written

    def _value(self, name: str, value: Any) -> Any:
        """Times as text: a number that is no time is then refused with its row, not with the statement."""
        if value is None:
            return None
        if name in self._table.json:
            return _json(value)
        return str(value) if name.endswith("_at") else value
