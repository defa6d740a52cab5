"""Reading an old table or file, batch by batch, while somebody may be writing to it.

A batch is what follows a cursor in an order that does not change: the rowid in SQLite, the id in PostgreSQL,
the byte in a file. No transaction is held from one to the next. A row that comes or changes behind the cursor
is found by the next pass. Nothing is dropped here: what cannot be read comes as a `Found` that says why.
"""

from __future__ import annotations

import sqlite3
from codecs import BOM_UTF8
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from typing import Any, LiteralString, Protocol, assert_never

import msgspec
from msgspec import Struct

from moot.compat.row_locations import PATIENCE, Place, connected, look_for, quoted, translated
from moot.core.errors import Invalid, Unavailable


class Found(Struct, frozen=True):
    name: str
    """By which it is reported: its id, or where it stands."""
    shape: Mapping[str, Any] | None
    problem: str = ""


class Batch(Struct, frozen=True):
    rows: list[Found]
    cursor: str
    """Behind the last of them. Where a batch has no rows, the pass is over."""
    done: int
    """How much of the whole this batch was, in the unit of `Source.size`."""


class Source(Protocol):
    def size(self) -> int:
        """How much there is: rows, or bytes of a file."""
        ...

    def read(self, cursor: str, limit: int) -> Batch: ...


@contextmanager
def opened(place: Place, needed: frozenset[str]) -> Generator[Source]:
    """Of a table that has at least the columns `needed`. Everything here waits for a disk or another machine:
    call it from a thread."""
    look_for(place)
    match place.kind:
        case "jsonl":
            yield Lines(place)
        case "sqlite":
            with _readable(place) as connection:
                yield SqliteTable(connection, place, needed)
        case "postgresql":
            with connected(place, reading=True) as connection:
                yield PostgresTable(connection, place, needed)
        case _:
            assert_never(place.kind)


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


class Lines(Struct):
    place: Place

    def size(self) -> int:
        return self.place.path.stat().st_size

    def read(self, cursor: str, limit: int) -> Batch:
        start = int(cursor or 0)
        rows: list[Found] = []
        with self.place.path.open("rb") as file:
            file.seek(start)
            while len(rows) < limit and (line := file.readline()):
                at = file.tell() - len(line)
                if line.strip():
                    rows.append(self._found(line, at))
            end = file.tell()
        return Batch(rows, str(end), end - start)

    def _found(self, line: bytes, at: int) -> Found:
        # Some programs put a mark before the first.
        shape = _shape(line.removeprefix(BOM_UTF8))
        name = str(shape.get("id") or "") if shape else ""
        return Found(name or f"byte {at}", shape, "" if shape is not None else "not a JSON object")


# --- SQLite ---------------------------------------------------------------------------------------------


@contextmanager
def _readable(place: Place) -> Generator[sqlite3.Connection]:
    try:
        address = f"{place.path.as_uri()}?mode=ro"
        with closing(
            sqlite3.connect(address, uri=True, timeout=PATIENCE, check_same_thread=False)
        ) as opened_:
            # Bytes that are no UTF-8 spoil their row, and not the batch.
            opened_.text_factory = _lenient
            yield opened_
    except sqlite3.Error as error:
        raise Unavailable(f"{place.label}: {error}.") from error


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


class SqliteTable:
    def __init__(self, connection: sqlite3.Connection, place: Place, needed: frozenset[str]) -> None:
        self._connection = connection
        self._table = quoted(place)
        found = connection.execute(f"SELECT * FROM {self._table} LIMIT 0").description  # noqa: S608 - a checked name
        self._columns = [column[0] for column in found]
        _check(place, self._columns, needed)
        if not self._numbered():
            raise Invalid(
                f"{place.label} is a view, or has no rowid to read it by: copy it into a plain table first."
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

    def read(self, cursor: str, limit: int) -> Batch:
        rows = self._connection.execute(
            f"SELECT rowid, * FROM {self._table} WHERE rowid > ? ORDER BY rowid LIMIT ?",  # noqa: S608 - a checked name
            (int(cursor) if cursor else -(1 << 63), limit),
        ).fetchall()
        found = [self._found(row) for row in rows]
        return Batch(found, str(rows[-1][0]) if rows else cursor, len(rows))

    def _found(self, row: tuple[Any, ...]) -> Found:
        shape = _named(dict(zip(self._columns, row[1:], strict=True)))
        if isinstance(told := shape.get("reasoning"), str | bytes):
            # Other sources have values here. Text that is no JSON is what was thought, in bare words.
            shape["reasoning"] = _value(told)
        return Found(str(shape.get("id") or f"row {row[0]}"), shape)


# --- PostgreSQL -----------------------------------------------------------------------------------------


NAMELESS, NAMED = "-", "="
"""What a cursor begins with: rows without an id were read, or those up to this one."""


class PostgresTable:
    """The rows come as JSON, made by the server: whatever the types of the columns. Not as jsonb: that has no
    NUL, which a column of type json may hold, and the whole batch would fail."""

    def __init__(self, connection: Any, place: Place, needed: frozenset[str]) -> None:
        from psycopg import sql

        self._connection = connection
        self._place = place
        self._table = sql.Identifier(*place.names)
        with translated(place):
            found = connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(self._table)).description
        _check(place, [column.name for column in found], needed)

    def size(self) -> int:
        return self._ask("SELECT count(*) FROM {}")[0][0]

    def read(self, cursor: str, limit: int) -> Batch:
        """Ids are unique, or come together: WITH TIES. Rows without one come first."""
        if not cursor and (rows := self._ask("SELECT to_json(t)::text FROM {} t WHERE id IS NULL")):
            return Batch([_row("a row without id", text) for (text,) in rows], NAMELESS, len(rows))
        after = cursor.removeprefix(NAMED) if cursor.startswith(NAMED) else None
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
        return Batch(found, NAMED + rows[-1][0] if rows else cursor, len(rows))

    def _ask(self, query: LiteralString, *values: object) -> list[Any]:
        from psycopg import sql

        with translated(self._place):
            return self._connection.execute(sql.SQL(query).format(self._table), values).fetchall()


def _row(name: str, text: str) -> Found:
    shape = _shape(text)
    return Found(name, None, "not JSON") if shape is None else Found(name, _named(shape))


def _check(place: Place, columns: list[str], needed: frozenset[str]) -> None:
    if missing := needed - set(columns):
        raise Invalid(f"{place.label} has no column {', '.join(sorted(missing))}: it is not the old table.")
