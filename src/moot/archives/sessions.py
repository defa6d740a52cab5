"""The table `debate_sessions` of an older server, in PostgreSQL, SQLite or JSON lines: read and written back.

Sessions become debates of our own, which can be looked at and continued; one that is here already is left as
it is. What was imported and not continued is given back as it was. A row that a table has already stays.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, assert_never

import msgspec
from msgspec import Struct, field

from moot.archives.places import Place, connected, look_for, translated
from moot.arena import Arena
from moot.errors import Invalid, Unavailable, UnknownDebate
from moot.store.contract import Store, Wanted
from moot.terms import Model
from moot.turnwise import NAME
from moot.views.sessions import COLUMNS, LISTS, Row, by_row, log_of, row_of

TABLE = "debate_sessions"
PAGE = 500
PATIENCE = 10.0
"""Seconds to wait for whoever writes."""
DDL = """
CREATE TABLE IF NOT EXISTS {} (
  id TEXT PRIMARY KEY,
  topic_text TEXT NOT NULL,
  model1_id TEXT NOT NULL,
  model2_id TEXT NOT NULL,
  adversarial_level INTEGER NOT NULL,
  turn_history JSONB NOT NULL DEFAULT '[]',
  model1_response_ids JSONB NOT NULL DEFAULT '[]',
  model2_response_ids JSONB NOT NULL DEFAULT '[]',
  total_cost REAL DEFAULT 0,
  created_at TIMESTAMP DEFAULT NOW(),
  updated_at TIMESTAMP DEFAULT NOW()
)
"""
"""As PostgreSQL has it; SQLite knows no such types, and takes text for them."""


class Brought(Struct):
    new: int = 0
    there: int = 0
    """Left as they were."""
    problems: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The rows that could not be brought, and why."""


async def bring(
    arena: Arena, place: Place, model: Callable[[str], Model], *, owner: str = "", dry: bool = False
) -> Brought:
    """`model` knows what the table calls by a bare name."""
    done = Brought()
    for row in await asyncio.to_thread(lambda: list(read(place))):
        name = str(row.get("id") or "")
        try:
            if not name:
                raise Invalid("It has no id.")
            events = log_of(row, model)
            if await arena.store.find(by_row(name)):
                done.there += 1
                continue
            if not dry:
                await arena.take_over(events, owner=owner)
            done.new += 1
        except (Invalid, ValueError) as error:
            done.problems.append((name or "a row without id", str(error)))
    return done


async def give(store: Store, place: Place) -> tuple[int, int]:
    """How many rows were written, and how many were there already."""
    # Sessions that are opened meanwhile move the others on to the next page, where they come again.
    rows = {row["id"]: row async for row in _rows(store)}
    return await asyncio.to_thread(write, place, rows.values())


async def _rows(store: Store) -> AsyncGenerator[Row]:
    offset = 0
    while heads := (await store.list(Wanted(format=NAME), limit=PAGE, offset=offset)).heads:
        for head in heads:
            with suppress(UnknownDebate):
                yield row_of(await store.state(head.id))
        offset += len(heads)


# --- reading ------------------------------------------------------------------------------------------


def read(place: Place) -> Iterator[Row]:
    look_for(place)
    match place.kind:
        case "jsonl":
            yield from _lines(place)
        case "sqlite":
            yield from _from_sqlite(place)
        case "postgresql":
            yield from _from_postgres(place)
        case _:
            assert_never(place.kind)


def _lines(place: Place) -> Iterator[Row]:
    for number, line in enumerate(place.path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield _whole(msgspec.json.decode(line, type=dict[str, Any]))
        except (msgspec.DecodeError, UnicodeError):
            raise Invalid(f"{place.path}, line {number}: not a JSON object.") from None


def _from_sqlite(place: Place) -> Iterator[Row]:
    with _sqlite(place, "ro") as connection:
        found = connection.execute(f"SELECT * FROM {_quoted(place)} ORDER BY id")  # noqa: S608 - a checked name
        names = [column[0] for column in found.description]
        for row in found:
            yield _whole(dict(zip(names, row, strict=True)))


def _from_postgres(place: Place) -> Iterator[Row]:
    from psycopg import sql

    with connected(place, reading=True) as connection, translated(place):
        # As JSON, made by the server: whatever the types of the columns.
        query = sql.SQL("SELECT to_jsonb(t)::text FROM {} t ORDER BY id").format(sql.Identifier(*place.names))
        for (text,) in connection.execute(query).fetchall():
            yield _whole(msgspec.json.decode(text, type=dict[str, Any]))


def _whole(row: Row) -> Row:
    """Lists that are kept as text are lists; other columns than ours are nobody's business."""
    for name in LISTS:
        if isinstance(row.get(name), str | bytes):
            # What is no JSON stays as it is, and is told with its row.
            with suppress(msgspec.DecodeError):
                row[name] = msgspec.json.decode(row[name])
    return {name: row.get(name) for name in COLUMNS}


# --- writing ------------------------------------------------------------------------------------------


def write(place: Place, rows: Iterable[Row]) -> tuple[int, int]:
    given = list(rows)
    match place.kind:
        case "jsonl":
            written = _to_lines(place, given)
        case "sqlite":
            written = _to_sqlite(place, given)
        case "postgresql":
            written = _to_postgres(place, given)
        case _:
            assert_never(place.kind)
    return written, len(given) - written


def _to_lines(place: Place, rows: list[Row]) -> int:
    try:
        with place.path.open("xb") as file:
            file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    except FileExistsError:
        raise Invalid(f"{place.path} is there already.") from None
    except OSError as error:
        raise Unavailable(f"{place.path} cannot be written: {error.strerror}.") from error
    return len(rows)


def _to_sqlite(place: Place, rows: list[Row]) -> int:
    table = _quoted(place)
    made = DDL.format(table).replace("NOW()", "CURRENT_TIMESTAMP").replace("JSONB", "TEXT")
    marks = ", ".join("?" * len(COLUMNS))
    # Not "or ignore": a row that breaks another rule of the table would count as one that is there already.
    columns = ", ".join(COLUMNS)
    insert = f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING"  # noqa: S608 - a checked name
    with _sqlite(place, "rwc") as connection, connection:
        connection.execute(made)
        return connection.executemany(insert, [_values(row) for row in rows]).rowcount


def _to_postgres(place: Place, rows: list[Row]) -> int:
    from psycopg import sql

    table = sql.Identifier(*place.names)
    insert = sql.SQL("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT (id) DO NOTHING").format(
        table,
        sql.SQL(", ").join(map(sql.Identifier, COLUMNS)),
        sql.SQL(", ").join(sql.Placeholder() * len(COLUMNS)),
    )
    with connected(place, reading=False) as connection, translated(place), connection.transaction():
        connection.execute(sql.SQL(DDL).format(table))
        with connection.cursor() as cursor:
            cursor.executemany(insert, [_values(row) for row in rows])
            return max(0, cursor.rowcount)


def _values(row: Row) -> list[Any]:
    return [msgspec.json.encode(row[name]).decode() if name in LISTS else row[name] for name in COLUMNS]


@contextmanager
def _sqlite(place: Place, mode: str) -> Generator[sqlite3.Connection]:
    try:
        address = f"{place.path.as_uri()}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise Unavailable(f"{place.label}: {error}.") from error


def _quoted(place: Place) -> str:
    return ".".join(f'"{name}"' for name in place.names)
