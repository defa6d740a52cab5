"""Events appended a second by 50 debates at once, beside the same rows written raw.

Raw is the database's fastest statement on one connection with the same durability and table, its rows encoded
beforehand. A debate waits for each append before it makes the next. With one event an append the raw writer
commits as many rows at once as there are debates; with 20 events an append, which is a store under full load,
it writes all rows in one transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import msgspec
import psycopg
from msgspec import Struct

from moot.store.contract import Store
from moot.store.postgres.store import PostgresStore
from moot.store.sqlite import connect
from moot.store.sqlite.store import SqliteStore
from moot.testing.event_factories import call_started, delta, opened, turn_started
from moot.testing.store_contract import append_streamed
from tests.bench.figures import Figure, figure
from tests.bench.measure import measured, process_tree_cpu, temporary_folder
from tests.support.postgres import Postgres

EVENTS = 20_000
DEBATES = 50
ROWS_PER_COMMIT = {1: DEBATES, 20: EVENTS}
"""Of the raw writer, by the events of one append."""
GOAL = 0.6

Row = tuple[str, int, str, int, str]
"""Debate, seq, time, epoch and body, as the log has them."""


class AppendCost(Struct, frozen=True):
    events_per_second: float
    cpu: float
    """µs an event in this process."""
    server_cpu: float
    """µs an event in the database's processes."""


async def bench() -> AsyncIterator[Figure]:
    rows = _rows()
    for events, size in ROWS_PER_COMMIT.items():
        with temporary_folder() as data:
            ours = await _append(SqliteStore.open(data / "moot.db"), events, lambda: 0.0)
            raw = await asyncio.to_thread(_sqlite, data / "raw.db", rows, size)
        yield _figure("SQLite", events, ours, (f"executemany, {_commits(size)}", raw))
    for events, size in ROWS_PER_COMMIT.items():
        with Postgres() as postgres:
            store = await PostgresStore.open(postgres.url)
            ours = await _append(store, events, lambda pid=postgres.pid: process_tree_cpu(pid))
            raw = await asyncio.to_thread(_postgres, postgres, rows, size)
        statement = "COPY" if size == EVENTS else "unnest"
        yield _figure("PostgreSQL", events, ours, (f"{statement}, {_commits(size)}", raw))


def _commits(rows: int) -> str:
    return "one transaction" if rows == EVENTS else f"{rows} rows a commit"


def _figure(database: str, events: int, ours: AppendCost, limit: tuple[str, float]) -> Figure:
    server = f", {ours.server_cpu:.0f} µs more in the server" if ours.server_cpu else ""
    return figure(
        f"{database}: events a second, {events} an append",
        ours.events_per_second,
        "/s",
        limit=limit,
        goal=GOAL,
        better="higher",
        note=f"{ours.cpu:.0f} µs of CPU an event{server}",
        main=True,
    )


async def _append(store: Store, events: int, server_cpu: Callable[[], float]) -> AppendCost:
    """Append all events, so many at a time, from all debates at once."""
    deltas = [delta("a word or two ")] * events

    async def speak(debate_id: str) -> None:
        for _ in range(EVENTS // DEBATES // events):
            await append_streamed(store, debate_id, deltas, epoch=0)

    ids = [f"deb_{number}" for number in range(DEBATES)]
    for debate_id in ids:
        await store.record(debate_id, lambda _: (opened(), turn_started(), call_started()))
    before = server_cpu()
    with measured() as spent:
        await asyncio.gather(*map(speak, ids))
    in_server = server_cpu() - before
    await store.close()
    return AppendCost(EVENTS / spent.wall, spent.cpu / EVENTS * 1e6, in_server / EVENTS * 1e6)


def _rows() -> list[Row]:
    at = datetime.now(UTC).isoformat()
    body = msgspec.json.encode(delta("a word or two ")).decode()
    return [(f"raw_{number % DEBATES}", number // DEBATES + 1, at, 0, body) for number in range(EVENTS)]


def _sqlite(path: Path, rows: Sequence[Row], size: int) -> float:
    """Rows a second into the log of a store's file, on a connection with a store's settings."""
    connect.prepare(path)
    with closing(connect.connect(path)) as connection:
        start = perf_counter()
        for batch in _batches(rows, size):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO events (debate_id, seq, at, epoch, body) VALUES (?, ?, ?, ?, ?)", batch
            )
            connection.execute("COMMIT")
        return len(rows) / (perf_counter() - start)


def _postgres(postgres: Postgres, rows: Sequence[Row], size: int) -> float:
    """Rows a second into the log of a store's database: COPY for all of them, `unnest` for a few a commit."""
    insert = _copy if size == len(rows) else _insert
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        start = perf_counter()
        for batch in _batches(rows, size):
            insert(connection, batch)
        return len(rows) / (perf_counter() - start)


def _copy(connection: psycopg.Connection, rows: Sequence[Row]) -> None:
    with connection.cursor().copy("COPY events (debate_id, seq, at, epoch, body) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _insert(connection: psycopg.Connection, rows: Sequence[Row]) -> None:
    connection.execute(
        """
        INSERT INTO events (debate_id, seq, at, epoch, body)
        SELECT * FROM unnest(%s::text[], %s::bigint[], %s::timestamptz[], %s::bigint[], %s::text[])
        """,
        [list(column) for column in zip(*rows, strict=True)],
    )


def _batches(rows: Sequence[Row], size: int) -> list[Sequence[Row]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
