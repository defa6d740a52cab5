"""The tables of a PostgreSQL database for moving a store (`store/copying.py`), on a connection of their own.

The connection has no time limit, unlike those of the pool. Rows are written by COPY under the row numbers
that they had.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from moot.core.statuses import ENDED
from moot.store.copying import (
    DEBATES,
    PAGE,
    CopiedTable,
    Places,
    StoreTables,
    TableGroup,
    all_tables,
)
from moot.store.postgres.connect import Connection, fetch, open_connection, run_statement, translated
from moot.store.sql import Row, Statement, postgres_text, sql

ALIVE_SECONDS = 10.0
"""A worker is alive if it sends a heartbeat within this time."""
LOOK_SECONDS = 0.5
"""How often to look whether a worker has sent one."""
LOCK_SECONDS = 10
"""How long to wait for a lock; source and target may be one database under two names."""


def _debate(row: Row) -> Row:
    debate_id, place, owner, status, motion, format_, _turning, seconds, _epoch, created_at, summary = row
    turned_at = datetime.fromtimestamp(seconds, UTC)
    ended_at = turned_at if status in ENDED else None
    columns = (debate_id, place, owner, status, motion, motion.casefold(), format_)
    return *columns, created_at, turned_at, ended_at, summary


def _request(row: Row) -> Row:
    return *row[:-1], datetime.fromtimestamp(row[-1], UTC)


class PostgresTables(StoreTables):
    computed: ClassVar = {"expires": "floor(extract(epoch FROM expires))::bigint"}
    read_sql: ClassVar = {
        "debates": """
            SELECT id, place, owner, status, motion, format, turning,
                floor(extract(epoch FROM turned_at))::bigint, heads.epoch, created_at, summary
            FROM debates JOIN heads USING (place) WHERE id = ANY(:ids) ORDER BY place
        """
    }
    written_columns: ClassVar = {
        "debates": """
            id, place, owner, status, motion, folded, format, created_at, turned_at, ended_at, summary
        """,
    }
    convert: ClassVar = {"debates": _debate, "requests": _request}
    debate_lengths_sql = "SELECT debate_id, version FROM heads ORDER BY place"
    extra_table = "heads"

    @classmethod
    async def open(cls, url: str) -> PostgresTables:
        return cls(url, await open_connection(url))

    def __init__(self, url: str, connection: Connection) -> None:
        self._url = url
        self._connection = connection

    async def close(self) -> None:
        await self._connection.close()

    async def has_tables(self) -> bool:
        """Whether the database has tables of Moot."""
        return bool((await self._run(sql("SELECT to_regclass('moot_schema') IS NOT NULL")))[0][0])

    @asynccontextmanager
    async def locked(self) -> AsyncGenerator[None]:
        async with self._transaction():
            await self._run(sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            await self._run(
                sql(f"LOCK TABLE {', '.join(table.name for table in all_tables())}, heads IN SHARE MODE")
            )
            yield

    async def active_runner(self) -> str:
        """A heartbeat shows a live worker only if another one follows: a restored database has those of the
        moment when it was dumped. Asked on a connection of its own, because this one may be reading the
        database as it was when it was locked."""
        with translated():
            async with await open_connection(self._url) as connection:
                return "a worker that runs the debates of this database" if await _beats(connection) else ""

    async def latest_epoch(self) -> int:
        return (await self._run(sql("SELECT coalesce(max(epoch), 0) FROM heads")))[0][0]

    async def read_pages(self, group: TableGroup, ids: Sequence[str]) -> AsyncGenerator[list[Row], None]:
        text = postgres_text(self._read_sql(group.lines))
        with translated():
            async with self._connection.transaction(), self._connection.cursor("lines") as cursor:
                await cursor.execute(text.encode(), {"ids": [*ids]}, binary=True)
                while page := await cursor.fetchmany(PAGE):
                    yield [_plain(row) for row in page]

    async def _run(self, statement: Statement) -> list[Row]:
        with translated():
            return [_plain(row) for row in await run_statement(self._connection, statement)]

    async def _insert_rows(self, table: CopiedTable, rows: Sequence[Row], places: Places) -> None:
        if table.searched:
            at = table.names.index(table.searched)
            table = replace(table, columns=f"{table.columns}, folded")
            rows = [(*row, row[at].casefold()) for row in rows]
        await super()._insert_rows(table, rows, places)

    async def _insert(self, table: str, columns: str, rows: Sequence[Row]) -> None:
        if not rows:
            return
        copy = f"COPY {table} ({columns}) FROM STDIN".encode()
        with translated():
            async with self._connection.cursor() as cursor, cursor.copy(copy) as copying:
                for row in rows:
                    await copying.write_row(row)

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[None]:
        with translated():
            async with self._connection.transaction():
                await self._run(sql(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
                yield

    async def _complete(self, group: TableGroup, rows: Sequence[Row]) -> None:
        if group is DEBATES:
            await self._write_heads(rows)
        # The next row that is added here gets a number after all that were copied.
        await self._run(
            sql(
                f"""
                SELECT setval(pg_get_serial_sequence('{group.name}', 'place'), greatest(max(place), 1))
                FROM {group.name}
                """  # noqa: S608 - our own tables
            )
        )

    async def _write_heads(self, debates: Sequence[Row]) -> None:
        """The head of each debate, with the time of its last event and the size of what was copied."""
        ids, places, turnings, epochs = ([row[n] for row in debates] for n in (0, 1, 6, 8))
        await self._run(
            sql(
                """
                INSERT INTO heads (debate_id, place, version, turning, epoch, runner, updated_at, bytes)
                SELECT one.id, one.place, log.version, one.turning, one.epoch, '', log.updated_at,
                    log.bytes + (SELECT coalesce(sum(length(body)), 0) FROM bodies WHERE debate_id = one.id)
                FROM unnest(:ids::text[], :places::bigint[], :turnings::bigint[], :epochs::bigint[])
                    AS one (id, place, turning, epoch)
                CROSS JOIN LATERAL (
                    SELECT max(seq) AS version, (array_agg(at ORDER BY seq DESC))[1] AS updated_at,
                        sum(length(body)) AS bytes
                    FROM events WHERE debate_id = one.id
                ) AS log
                """,
                ids=ids,
                places=places,
                turnings=turnings,
                epochs=epochs,
            )
        )


async def _beats(connection: Connection) -> bool:
    """Whether any worker sends a heartbeat. Takes a while only where there was one of late."""
    if not (await fetch(connection, "SELECT to_regclass('procrastinate_workers') IS NOT NULL"))[0][0]:
        return False
    recent = (
        "SELECT id, last_heartbeat FROM procrastinate_workers WHERE last_heartbeat > now() - interval '{} s'"
    )
    question = recent.format(ALIVE_SECONDS)
    seen = set(await fetch(connection, question))
    deadline = time.monotonic() + ALIVE_SECONDS
    while seen and time.monotonic() < deadline:
        await asyncio.sleep(LOOK_SECONDS)
        if not seen.issuperset(await fetch(connection, question)):
            return True
    return False


def _plain(row: Row) -> Row:
    """Times as events have them in JSON, and yes and no as 1 and 0."""
    return tuple(_plain_value(value) for value in row)


def _plain_value(value: object) -> object:
    if isinstance(value, datetime):
        return msgspec.to_builtins(value.astimezone(UTC))
    return int(value) if isinstance(value, bool) else value
