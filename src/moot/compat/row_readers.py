"""Reading an old table or file, batch by batch, while somebody may be writing to it.

A batch is what follows a cursor in an order that does not change: the rowid in SQLite, the id in PostgreSQL,
the byte in a file. No transaction is held from one to the next. A row that comes or changes behind the cursor
is found by the next pass. Nothing is dropped here: what cannot be read comes as a `SourceRow` that says why.
"""

from __future__ import annotations

import sqlite3
from codecs import BOM_UTF8
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from typing import Any, LiteralString, Protocol, assert_never

import msgspec
from msgspec import Struct

from moot.compat.row_locations import (
    BUSY_SECONDS,
    RowLocation,
    check_exists,
    connect_postgres,
    quoted_table,
    translate_errors,
)
from moot.core.errors import Invalid, Unavailable


class SourceRow(Struct, frozen=True):
    name: str
    """By which it is reported: its id, or where it stands."""
    fields: Mapping[str, Any] | None
    problem: str = ""


class RowBatch(Struct, frozen=True):
    rows: list[SourceRow]
    cursor: str
    """Behind the last of them. Where a batch has no rows, the pass is over."""
    done: int
    """How much of the whole this batch was, in the unit of `RowReader.size`."""


class RowReader(Protocol):
    def size(self) -> int:
        """How much there is: rows, or bytes of a file."""
        ...

    def read(self, cursor: str, limit: int) -> RowBatch: ...


@contextmanager
def open_reader(location: RowLocation, needed: frozenset[str]) -> Generator[RowReader]:
    """Of a table that has at least the columns `needed`. Everything here waits for a disk or another machine:
    call it from a thread."""
    check_exists(location)
    match location.kind:
        case "jsonl":
            yield JsonLinesRowReader(location)
        case "sqlite":
            with _readable(location) as connection:
                yield SqliteRowReader(connection, location, needed)
        case "postgresql":
            with connect_postgres(location, reading=True) as connection:
                yield PostgresRowReader(connection, location, needed)
        case _:
            assert_never(location.kind)


def _shape(text: str | bytes) -> dict[str, Any] | None:
    """None where it is no JSON object."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _value(text: str | bytes) -> Any:
    """What it says as JSON, or the text itself where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


def _named(shape: dict[str, Any]) -> dict[str, Any]:
    """Some tables count their rows; and where an id looks like a number, a `uuid` is one to SQLite."""
    names = ("id", "conversation_id", "order_key")
    return shape | {name: str(shape[name]) for name in names if isinstance(shape.get(name), int)}


# --- a file ---------------------------------------------------------------------------------------------


class JsonLinesRowReader(Struct):
    location: RowLocation

    def size(self) -> int:
        return self.location.path.stat().st_size

    def read(self, cursor: str, limit: int) -> RowBatch:
        start = int(cursor or 0)
        rows: list[SourceRow] = []
        with self.location.path.open("rb") as file:
            file.seek(start)
            while len(rows) < limit and (line := file.readline()):
                at = file.tell() - len(line)
                if line.strip():
                    rows.append(self._row(line, at))
            end = file.tell()
        return RowBatch(rows, str(end), end - start)

    def _row(self, line: bytes, at: int) -> SourceRow:
        # Some programs put a mark before the first.
        shape = _shape(line.removeprefix(BOM_UTF8))
        name = str(shape.get("id") or "") if shape else ""
        return SourceRow(name or f"byte {at}", shape, "" if shape is not None else "not a JSON object")


# --- SQLite ---------------------------------------------------------------------------------------------


@contextmanager
def _readable(location: RowLocation) -> Generator[sqlite3.Connection]:
    try:
        address = f"{location.path.as_uri()}?mode=ro"
        with closing(
            sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
        ) as opened_:
            # Bytes that are no UTF-8 spoil their row, and not the batch.
            opened_.text_factory = _lenient
            yield opened_
    except sqlite3.Error as error:
        raise Unavailable(f"{location.label}: {error}.") from error


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


class SqliteRowReader:
    def __init__(self, connection: sqlite3.Connection, location: RowLocation, needed: frozenset[str]) -> None:
        self._connection = connection
        self._table = quoted_table(location)
        found = connection.execute(f"SELECT * FROM {self._table} LIMIT 0").description  # noqa: S608 - a checked name
        self._columns = [column[0] for column in found]
        _check(location, self._columns, needed)
        if not self._numbered():
            raise Invalid(
                f"{location.label} is a view, or has no rowid to read it by: "
                "copy it into a plain table first."
            )

    def _numbered(self) -> bool:
        """Some versions of SQLite give the rows of a view a rowid, which is null: none would be read."""
        try:
            found = self._connection.execute(f"SELECT rowid FROM {self._table} LIMIT 1").fetchone()  # noqa: S608 - a checked name
            return found is None or found[0] is not None
        except sqlite3.OperationalError:
            return False

    def size(self) -> int:
        return self._connection.execute(f"SELECT count(*) FROM {self._table}").fetchone()[0]  # noqa: S608 - a checked name

    def read(self, cursor: str, limit: int) -> RowBatch:
        rows = self._connection.execute(
            f"SELECT rowid, * FROM {self._table} WHERE rowid > ? ORDER BY rowid LIMIT ?",  # noqa: S608 - a checked name
            (int(cursor) if cursor else -(1 << 63), limit),
        ).fetchall()
        found = [self._row(row) for row in rows]
        return RowBatch(found, str(rows[-1][0]) if rows else cursor, len(rows))

    def _row(self, row: tuple[Any, ...]) -> SourceRow:
        shape = _named(dict(zip(self._columns, row[1:], strict=True)))
        if isinstance(told := shape.get("reasoning"), str | bytes):
            # Other sources have values here. Text that is no JSON is what was thought, in bare words.
            shape["reasoning"] = _value(told)
        return SourceRow(str(shape.get("id") or f"row {row[0]}"), shape)


# --- PostgreSQL -----------------------------------------------------------------------------------------


NO_ID_CURSOR, ID_CURSOR = "-", "="
"""What a cursor begins with: rows without an id were read, or those up to this one."""


class PostgresRowReader:
    """The rows come as JSON, made by the server: whatever the types of the columns. Not as jsonb: that has no
    NUL, which a column of type json may hold, and the whole batch would fail."""

    def __init__(self, connection: Any, location: RowLocation, needed: frozenset[str]) -> None:
        from psycopg import sql

        self._connection = connection
        self._location = location
        self._table = sql.Identifier(*location.table_parts)
        with translate_errors(location):
            found = connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(self._table)).description
        _check(location, [column.name for column in found], needed)

    def size(self) -> int:
        return self._ask("SELECT count(*) FROM {}")[0][0]

    def read(self, cursor: str, limit: int) -> RowBatch:
        """Ids are unique, or come together: WITH TIES. Rows without one come first."""
        if not cursor and (rows := self._ask("SELECT to_json(t)::text FROM {} t WHERE id IS NULL")):
            return RowBatch([_row("a row without id", text) for (text,) in rows], NO_ID_CURSOR, len(rows))
        after = cursor.removeprefix(ID_CURSOR) if cursor.startswith(ID_CURSOR) else None
        rows = self._ask(
            """
            SELECT id::text, to_json(t)::text FROM (
                SELECT * FROM {} WHERE id IS NOT NULL ORDER BY id FETCH FIRST %s ROWS WITH TIES
            ) t ORDER BY t.id
            """
            if after is None
            else """
            SELECT id::text, to_json(t)::text FROM (
                SELECT * FROM {} WHERE id > %s ORDER BY id FETCH FIRST %s ROWS WITH TIES
            ) t ORDER BY t.id
            """,
            *(() if after is None else (after,)),
            limit,
        )
        found = [_row(name, text) for name, text in rows]
        return RowBatch(found, ID_CURSOR + rows[-1][0] if rows else cursor, len(rows))

    def _ask(self, query: LiteralString, *values: object) -> list[Any]:
        from psycopg import sql

        with translate_errors(self._location):
            return self._connection.execute(sql.SQL(query).format(self._table), values).fetchall()


def _row(name: str, text: str) -> SourceRow:
    shape = _shape(text)
    return SourceRow(name, None, "not JSON") if shape is None else SourceRow(name, _named(shape))


def _check(location: RowLocation, columns: list[str], needed: frozenset[str]) -> None:
    if missing := needed - set(columns):
        raise Invalid(
            f"{location.label} has no column {', '.join(sorted(missing))}: it is not the old table."
        )
