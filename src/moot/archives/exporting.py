"""Giving conversations back in the old shape: into a table of PostgreSQL or SQLite, or a file of JSON lines.

Nothing that is there is overwritten: a row whose id the table has already is left as it is, and counted. What
the old shape has no place for is a debate's alone: of several thoughts in one event the parts are joined, and
ids are made into UUIDs, always the same for the same event.
"""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol, assert_never

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from moot.archives.keeping import row_of
from moot.archives.places import Place, connected, driver, translated
from moot.archives.reports import Problem
from moot.audience import OWNER
from moot.debate import Debate
from moot.errors import Invalid, Unavailable
from moot.store.archive import Archive
from moot.store.contract import Store
from moot.views.conversation import conversation
from moot.views.legacy import COLUMNS, OldRow, Shape, in_old_shape

BATCH = 1000
DDL = """
CREATE TABLE IF NOT EXISTS {} (
    id uuid PRIMARY KEY,
    conversation_id uuid NOT NULL,
    role text NOT NULL,
    segments jsonb NOT NULL,
    reasoning jsonb,
    order_key text NOT NULL,
    ts bigint NOT NULL,
    created_at timestamptz DEFAULT now()
)
"""
"""As PostgreSQL has it; SQLite knows no such types, and takes text for all of them."""


class Given(Struct):
    rows: int = 0
    there: int = 0
    """Left as they were."""
    problems: list[Problem] = field(default_factory=list[Problem])


class Sink(Protocol):
    def write(self, rows: Sequence[OldRow], given: Given) -> None: ...


async def give(
    place: Place, *given: AsyncGenerator[list[OldRow], None], told: Callable[[int], None] = lambda _: None
) -> Given:
    done = Given()
    with opened(place) as sink:
        for rows in given:
            async for batch in rows:
                await asyncio.to_thread(sink.write, batch, done)
                told(done.rows)
    return done


async def imported(archive: Archive, wanted: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
    """The rows of these conversations, or of all that were imported, as they were."""
    rows: list[OldRow] = []
    async for name in _names(archive, wanted):
        last = ""
        while events := await archive.events(name, last, BATCH):
            rows += [row_of(event) for event in events]
            last = events[-1].id
            if len(rows) >= BATCH:
                yield rows
                rows = []
    yield rows


async def held(store: Store, wanted: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
    """The rows of these debates, or of all."""
    offset = 0
    for name in wanted:
        yield rows_of(await store.state(name))
    while not wanted and (heads := (await store.list(limit=BATCH, offset=offset)).heads):
        for head in heads:
            yield rows_of(await store.state(head.id))
        offset += len(heads)


async def _names(archive: Archive, wanted: Sequence[str]) -> AsyncGenerator[str, None]:
    offset = 0
    for name in wanted:
        yield name
    while not wanted and (found := (await archive.shelf(limit=BATCH, offset=offset)).conversations):
        for one in found:
            yield one.id
        offset += len(found)


def rows_of(debate: Debate) -> list[OldRow]:
    """A debate as its owner sees it, in rows of the old shape."""
    return [_row_of(debate.id, in_old_shape(event)) for event in conversation(debate, OWNER)]


def _row_of(debate_id: str, event: Shape) -> OldRow:
    return OldRow(
        id=_uuid(event["id"]),
        conversation_id=_uuid(debate_id),
        role=event["role"],
        segments=event["segments"],
        reasoning=event["reasoning"],
        # Fractional indexes are compared letter by letter.
        order_key=f"{int(event['id'].rpartition('.')[2]):010d}",
        ts=event["ts"],
        created_at=datetime.fromtimestamp(event["ts"] / 1000, UTC).isoformat(),
    )


def _uuid(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"moot:{name}"))


# --- where it goes --------------------------------------------------------------------------------------


@contextmanager
def opened(place: Place) -> Generator[Sink]:
    match place.kind:
        case "jsonl":
            with _new_file(place) as file:
                yield Lines(file)
        case "sqlite":
            with _writable(place) as connection:
                yield SqliteTable(connection, place)
        case "postgresql":
            with connected(place, reading=False) as connection:
                yield PostgresTable(connection, place)
        case _:
            assert_never(place.kind)


@contextmanager
def _new_file(place: Place) -> Generator[Any]:
    try:
        with place.path.open("xb") as file:
            yield file
    except FileExistsError:
        raise Invalid(f"{place.path} is there already.") from None
    except OSError as error:
        raise Unavailable(f"{place.path} cannot be written: {error.strerror}.") from error


class Lines(Struct):
    file: Any

    def write(self, rows: Sequence[OldRow], given: Given) -> None:
        self.file.write(b"".join(msgspec.json.encode(row.shape()) + b"\n" for row in rows))
        given.rows += len(rows)


@contextmanager
def _writable(place: Place) -> Generator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(place.path, check_same_thread=False)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise Unavailable(f"{place.label}: {error}.") from error


class SqliteTable:
    def __init__(self, connection: sqlite3.Connection, place: Place) -> None:
        self._connection = connection
        table = ".".join(f'"{name}"' for name in place.names)
        made = DDL.format(table).replace("uuid", "text").replace("jsonb", "text")
        connection.execute(made.replace("timestamptz DEFAULT now()", "text DEFAULT CURRENT_TIMESTAMP"))
        # Not OR IGNORE: that would take a row that breaks another rule of the table for one that is there.
        self._insert = f"""
            INSERT INTO {table} ({", ".join(COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO NOTHING
        """  # noqa: S608 - a checked name

    def write(self, rows: Sequence[OldRow], given: Given) -> None:
        with self._connection:
            written = self._connection.executemany(self._insert, [_values(row) for row in rows]).rowcount
        given.rows += written
        given.there += len(rows) - written


class PostgresTable:
    """A batch at once; where a row of it is refused, row by row, and that one is reported."""

    def __init__(self, connection: Any, place: Place) -> None:
        from psycopg import sql

        self._connection = connection
        self._place = place
        table = sql.Identifier(*place.names)
        with translated(place):
            connection.execute(sql.SQL(DDL).format(table))
        names = sql.SQL(", ").join(map(sql.Identifier, COLUMNS))
        values = sql.SQL(", ").join(sql.Placeholder() * len(COLUMNS))
        insert = "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT (id) DO NOTHING"
        self._insert = sql.SQL(insert).format(table, names, values)

    def write(self, rows: Sequence[OldRow], given: Given) -> None:
        refusal: type[Exception] = driver().DataError
        with translated(self._place):
            try:
                self._together(rows, given)
            except refusal:
                for row in rows:
                    try:
                        self._together([row], given)
                    except refusal as error:
                        given.problems.append(Problem(row.id, str(error).partition("\n")[0]))

    def _together(self, rows: Sequence[OldRow], given: Given) -> None:
        with self._connection.transaction(), self._connection.cursor() as cursor:
            # A number is no moment to it: as text it is refused with its row, and not with the statement.
            told = [
                row if row.created_at is None else replace(row, created_at=str(row.created_at))
                for row in rows
            ]
            cursor.executemany(self._insert, [_values(row) for row in told])
            written = cursor.rowcount
        given.rows += written
        given.there += len(rows) - written


def _values(row: OldRow) -> tuple[object, ...]:
    reasoning = None if row.reasoning is None else msgspec.json.encode(row.reasoning).decode()
    segments = msgspec.json.encode(row.segments).decode()
    return (
        row.id, row.conversation_id, row.role, segments, reasoning, row.order_key, row.ts, row.created_at
    )  # fmt: skip
