"""Reads rows of tables that are not ours: from PostgreSQL, a SQLite file or a file of JSON lines.

What a user types becomes a `RowLocation`. Its `label` is stored and shown; neither it nor any error raised
here contains a password. A batch is what follows a cursor in an order that does not change: the rowid in
SQLite, the id in PostgreSQL, the line in a file. No transaction is held between batches, so others may write
meanwhile: a row that comes or changes behind the cursor is found by the next pass. Nothing is dropped here: a
row that cannot be read becomes a `SourceRow` that says why.
"""

from __future__ import annotations

import re
import sqlite3
from codecs import BOM_UTF8
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, LiteralString, Protocol, assert_never
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from moot.core.errors import Invalid, Unavailable
from moot.installation import install_command

if TYPE_CHECKING:
    import psycopg

Kind = Literal["postgresql", "sqlite", "jsonl"]
TABLE = "events"
CONNECT_SECONDS = 10
BUSY_SECONDS = 10.0
"""Seconds to wait while another process writes to a SQLite file."""
JSONL_SUFFIXES = (".jsonl", ".ndjson")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?", re.ASCII)
_CONNINFO = re.compile(r"(^|\s)(host|dbname|user|password)\s*=")
"""The other form of PostgreSQL addresses. Taken for a path it would be shown, with the password."""
_MAGIC = b"SQLite format 3\0"


class RowLocation(Struct, frozen=True):
    kind: Kind
    address: str
    """The path, or the database URL with its secrets."""
    table: str
    label: str

    def __repr__(self) -> str:
        return f"<RowLocation {self.label}>"

    @property
    def path(self) -> Path:
        return Path(self.address)

    @property
    def table_parts(self) -> tuple[str, ...]:
        """The table, and before it the schema if one is named."""
        return tuple(self.table.split("."))


def parse_location(typed: str, table: str = TABLE) -> RowLocation:
    if not _NAME.fullmatch(table):
        raise Invalid("--table is the name of a table, or of a schema and a table: events, public.events.")
    if re.match(r"postgres(ql)?://", typed):
        return RowLocation("postgresql", typed, table, f"{without_secrets(typed, options=False)}#{table}")
    if "://" in typed or _CONNINFO.search(typed):
        raise Invalid("That is an address, but none of PostgreSQL: postgresql://user@host/database.")
    path = Path(typed).absolute()
    if path.suffix.lower() in JSONL_SUFFIXES:
        return RowLocation("jsonl", str(path), table, str(path))
    return RowLocation("sqlite", str(path), table, f"{path}#{table}")


def quoted_table(location: RowLocation) -> str:
    """The table name, quoted for SQLite."""
    return ".".join(f'"{name}"' for name in location.table_parts)


def check_exists(location: RowLocation) -> None:
    """Raises Unavailable where there is no such file, Invalid where it is no SQLite file."""
    if location.kind == "postgresql":
        return
    try:
        with location.path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        raise Unavailable(f"{location.path} cannot be read: {error.strerror}.") from error
    if location.kind == "sqlite" and start != _MAGIC:
        raise Invalid(f"{location.path} is no SQLite file. JSON lines are in a file that ends in .jsonl.")


def driver() -> Any:
    """The psycopg module. Raises Unavailable where it is not installed."""
    try:
        import psycopg
    except ImportError as error:
        raise Unavailable(
            "PostgreSQL needs a driver that is not installed.", install_command("cluster")
        ) from error
    return psycopg


@contextmanager
def connect_postgres(location: RowLocation, *, reading: bool) -> Generator[psycopg.Connection[Any]]:
    """A connection in autocommit mode; with `reading` it cannot write."""
    psycopg = driver()
    with translate_errors(location):
        timeout = {"connect_timeout": CONNECT_SECONDS, **_parsed(location.address)}["connect_timeout"]
        connection = psycopg.connect(location.address, autocommit=True, connect_timeout=timeout)
        with connection:
            connection.execute("SET TIME ZONE 'UTC'")
            if reading:
                connection.execute("SET default_transaction_read_only = on")
            yield connection


@contextmanager
def translate_errors(location: RowLocation) -> Generator[None]:
    """Errors of PostgreSQL become Unavailable, in one line and without the address. The original error is
    not chained: it may contain the address."""
    psycopg = driver()
    try:
        yield
    except psycopg.Error as error:
        message = str(error).replace(location.address, "…").strip().partition("\n")[0]
        for secret in _secrets(location.address):
            message = message.replace(secret, "…")
        raise Unavailable(f"{location.label}: {message}") from None


def without_secrets(address: str, *, options: bool = True) -> str:
    """The address as it may be shown: without passwords, and with its other options (`sslmode` and so on)
    where they are wanted."""
    known = {name: str(value) for name, value in _parsed(address).items() if not _SECRET.search(name)}
    user, name = known.pop("user", ""), quote(known.pop("dbname", ""), safe="")
    # A folder of sockets, or several hosts, each with its port, cannot stand where one host does.
    host, port = known.get("host", ""), known.get("port", "")
    in_front = dict[str, str]()
    if "," not in host + port:
        in_front = {"port": port} if host.startswith("/") else {"host": host, "port": port}
    behind = {key: value for key, value in known.items() if key not in in_front}
    if not options:
        behind = {key: value for key, value in behind.items() if key in ("host", "port")}
    where = f"[{host}]" if ":" in host else host
    return "".join(
        (
            "postgresql://",
            f"{quote(user, safe='')}@" if user else "",
            where if "host" in in_front else "",
            f":{in_front['port']}" if in_front.get("port") else "",
            f"/{name}",
            f"?{urlencode(behind, safe='/,', quote_via=quote)}" if behind else "",
        )
    )


_SECRET = re.compile("password|secret")
"""What the options of an address that nobody may see are called."""


def _secrets(address: str) -> list[str]:
    return [str(value) for name, value in _parsed(address).items() if "password" in name and value]


def _parsed(address: str) -> dict[str, Any]:
    psycopg = driver()
    try:
        return psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        # The original message may quote the password.
        raise Invalid("That is no address of PostgreSQL: postgresql://user@host/database.") from None


class RowProblem(Struct, frozen=True):
    """A row that was not imported or exported, by its id."""

    row: str
    reason: str


class SourceRow(Struct, frozen=True):
    name: str
    """Its id, or its position; problems are reported by it."""
    fields: Mapping[str, Any] | None
    problem: str = ""


class RowBatch(Struct, frozen=True):
    rows: list[SourceRow]
    cursor: str
    """The position after the last row. A batch without rows ends the pass."""
    done: int
    """The size of this batch, in the unit of `RowReader.size`."""


class SourceTable(Struct, frozen=True):
    """What a table that is read has to have."""

    needed: frozenset[str]
    """The columns without which it is another table."""
    ids: tuple[str, ...] = ("id",)
    """Columns that are read as text: tables may number their rows, and SQLite stores a `uuid` of digits as a
    number."""
    json: tuple[str, ...] = ()
    """Columns with JSON, which SQLite has as text. Text that is no JSON is itself the value."""

    def with_text_ids(self, shape: dict[str, Any]) -> dict[str, Any]:
        return shape | {name: str(shape[name]) for name in self.ids if isinstance(shape.get(name), int)}


class RowReader(Protocol):
    def size(self) -> int:
        """The number of rows, or of bytes in a file."""
        ...

    def read(self, cursor: str, limit: int) -> RowBatch: ...


@contextmanager
def open_reader(location: RowLocation, table: SourceTable) -> Generator[RowReader]:
    """A reader of this table. Everything in it blocks: call it from a thread."""
    check_exists(location)
    match location.kind:
        case "jsonl":
            yield JsonLinesRowReader(location)
        case "sqlite":
            with _readable(location) as connection:
                yield SqliteRowReader(connection, location, table)
        case "postgresql":
            with connect_postgres(location, reading=True) as connection:
                yield PostgresRowReader(connection, location, table)
        case _:
            assert_never(location.kind)


def _shape(text: str | bytes) -> dict[str, Any] | None:
    """The JSON object, or None."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _value(text: str | bytes) -> Any:
    """The JSON value, or the text itself if it is no JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


# --- a file ---------------------------------------------------------------------------------------------


class JsonLinesRowReader(Struct):
    location: RowLocation

    def size(self) -> int:
        return self.location.path.stat().st_size

    def read(self, cursor: str, limit: int) -> RowBatch:
        """A cursor is a byte, and how many lines end before it."""
        byte, _, lines = cursor.partition(":")
        start = int(byte or 0)
        rows: list[SourceRow] = []
        with self.location.path.open("rb") as file:
            number = int(lines) if lines else _count_lines(file, start)
            file.seek(start)
            while len(rows) < limit and (line := file.readline()):
                number += 1
                if line.strip():
                    rows.append(self._row(line, number))
            end = file.tell()
        return RowBatch(rows, f"{end}:{number}", end - start)

    def _row(self, line: bytes, number: int) -> SourceRow:
        # Some programs write a byte order mark.
        shape = _shape(line.removeprefix(BOM_UTF8))
        name = str(shape.get("id") or "") if shape else ""
        return SourceRow(name or f"line {number}", shape, "" if shape is not None else "not a JSON object")


def _count_lines(file: BinaryIO, end: int) -> int:
    """The lines before this byte: earlier versions stored no number of lines."""
    count = 0
    while (left := end - file.tell()) > 0 and (block := file.read(min(left, 1 << 20))):
        count += block.count(b"\n")
    return count


# --- SQLite ---------------------------------------------------------------------------------------------


@contextmanager
def _readable(location: RowLocation) -> Generator[sqlite3.Connection]:
    try:
        address = f"{location.path.as_uri()}?mode=ro"
        with closing(
            sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
        ) as connection:
            # Bytes that are no UTF-8 spoil their row only, not the whole batch.
            connection.text_factory = _lenient
            yield connection
    except sqlite3.Error as error:
        raise Unavailable(f"{location.label}: {error}.") from error


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


class SqliteRowReader:
    def __init__(self, connection: sqlite3.Connection, location: RowLocation, table: SourceTable) -> None:
        self._connection = connection
        self._source = table
        self._table = quoted_table(location)
        description = connection.execute(f"SELECT * FROM {self._table} LIMIT 0").description  # noqa: S608 - a checked name
        self._columns = [column[0] for column in description]
        _check(location, self._columns, table)
        if not self._has_rowid():
            raise Invalid(
                f"{location.label} is a view, or has no rowid to read it by: "
                "copy it into a plain table first."
            )

    def _has_rowid(self) -> bool:
        """In some versions of SQLite the rows of a view have a rowid that is null: none would be read."""
        try:
            first = self._connection.execute(f"SELECT rowid FROM {self._table} LIMIT 1").fetchone()  # noqa: S608 - a checked name
            return first is None or first[0] is not None
        except sqlite3.OperationalError:
            return False

    def size(self) -> int:
        return self._connection.execute(f"SELECT count(*) FROM {self._table}").fetchone()[0]  # noqa: S608 - a checked name

    def read(self, cursor: str, limit: int) -> RowBatch:
        rows = self._connection.execute(
            f"SELECT rowid, * FROM {self._table} WHERE rowid > ? ORDER BY rowid LIMIT ?",  # noqa: S608 - a checked name
            (int(cursor) if cursor else -(1 << 63), limit),
        ).fetchall()
        source_rows = [self._row(row) for row in rows]
        return RowBatch(source_rows, str(rows[-1][0]) if rows else cursor, len(rows))

    def _row(self, row: tuple[Any, ...]) -> SourceRow:
        shape = self._source.with_text_ids(dict(zip(self._columns, row[1:], strict=True)))
        for name in self._source.json:
            if isinstance(text := shape.get(name), str | bytes):
                shape[name] = _value(text)
        return SourceRow(str(shape.get("id") or f"row {row[0]}"), shape)


# --- PostgreSQL -----------------------------------------------------------------------------------------


NO_ID_CURSOR, ID_CURSOR = "-", "="
"""How a cursor begins: the rows without an id were read, or the rows up to this id."""


class PostgresRowReader:
    """The server converts each row to JSON, whatever the types of its columns. Not to jsonb: a column of type
    json may hold a NUL, which jsonb cannot, and the whole batch would fail."""

    def __init__(self, connection: Any, location: RowLocation, table: SourceTable) -> None:
        from psycopg import sql

        self._connection = connection
        self._source = table
        self._location = location
        self._table = sql.Identifier(*location.table_parts)
        with translate_errors(location):
            description = connection.execute(
                sql.SQL("SELECT * FROM {} LIMIT 0").format(self._table)
            ).description
        _check(location, [column.name for column in description], table)

    def size(self) -> int:
        return self._ask("SELECT count(*) FROM {}")[0][0]

    def read(self, cursor: str, limit: int) -> RowBatch:
        """Rows without an id come first. Rows with the same id stay together (WITH TIES)."""
        if not cursor and (rows := self._ask("SELECT to_json(t)::text FROM {} t WHERE id IS NULL")):
            nameless = [self._row("a row without id", text) for (text,) in rows]
            return RowBatch(nameless, NO_ID_CURSOR, len(rows))
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
        source_rows = [self._row(name, text) for name, text in rows]
        return RowBatch(source_rows, ID_CURSOR + rows[-1][0] if rows else cursor, len(rows))

    def _row(self, name: str, text: str) -> SourceRow:
        shape = _shape(text)
        if shape is None:
            return SourceRow(name, None, "not JSON")
        return SourceRow(name, self._source.with_text_ids(shape))

    def _ask(self, query: LiteralString, *values: object) -> list[Any]:
        from psycopg import sql

        with translate_errors(self._location):
            return self._connection.execute(sql.SQL(query).format(self._table), values).fetchall()


def _check(location: RowLocation, columns: list[str], table: SourceTable) -> None:
    if missing := table.needed - set(columns):
        raise Invalid(
            f"{location.label} has no column {', '.join(sorted(missing))}: it is not the old table."
        )
