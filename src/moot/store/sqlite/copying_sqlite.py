"""What the file holds, out and in: see `belongings`. One connection of its own, beside those of the store.

While it is read out it is locked against all who would write: they wait, and then are told so.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from moot.core import crash_points
from moot.store.copying import PAGE, TABLE_GROUPS, WHOLE_TABLES, Row, Rows, TableGroup
from moot.store.runner_locks import is_free
from moot.store.sqlite.connect import connect, prepare, translated
from moot.store.sqlite.queries import VERSION

LINE_COUNTS_SQL = {
    "debates": f"SELECT id, {VERSION} FROM debates ORDER BY place",  # noqa: S608 - our own columns
    "conversations": "SELECT id, events FROM conversations ORDER BY place",
}
READ_SQL = {
    "tokens": "SELECT name, digest, role, owner, created_at, expires_at FROM tokens ORDER BY name",
    "imports": """
        SELECT id, owner, source, state, cursor, passes, report, started_at, updated_at
        FROM imports ORDER BY id
    """,
    "debates": """
        SELECT id, place, owner, status, motion, format, turning, turned_at, epoch, created_at, summary
        FROM debates WHERE id IN (SELECT value FROM json_each(?)) ORDER BY place
    """,
    "bodies": """
        SELECT debate_id, digest, packed, body FROM bodies
        WHERE debate_id IN (SELECT value FROM json_each(?)) ORDER BY 1, 2
    """,
    "requests": """
        SELECT debate_id, client, key, body_hash, first, seq, expires FROM requests
        WHERE debate_id IN (SELECT value FROM json_each(?)) ORDER BY 1, 2, 3
    """,
    "invitations": """
        SELECT debate_id, name, digest, role, seat, judge, many, created_at, expires_at, via FROM invitations
        WHERE debate_id IN (SELECT value FROM json_each(?)) ORDER BY 1, 2
    """,
    "casts": """
        SELECT id, model FROM debates JOIN casts ON debate = place
        WHERE id IN (SELECT value FROM json_each(?)) ORDER BY 1, 2
    """,
    "marks": """
        SELECT id, mark FROM debates JOIN marks ON debate = place
        WHERE id IN (SELECT value FROM json_each(?)) ORDER BY 1, 2
    """,
    "events": """
        SELECT debate_id, seq, at, epoch, body FROM events
        WHERE debate_id IN (SELECT value FROM json_each(?1))
        UNION ALL
        SELECT debate_id, seq, at, epoch, body FROM fresh
        WHERE debate_id IN (SELECT value FROM json_each(?1))
        ORDER BY 1, 2
    """,
    "conversations": """
        SELECT id, place, import, owner, source, events, first_ts, last_ts
        FROM conversations WHERE id IN (SELECT value FROM json_each(?)) ORDER BY place
    """,
    "conversation_events": """
        SELECT conversations.id, order_key, event.id, role, ts, created_at, segments, metadata, legacy, digest
        FROM conversations CROSS JOIN conversation_events AS event ON event.conversation = place
        WHERE conversations.id IN (SELECT value FROM json_each(?)) ORDER BY place, order_key, event.id
    """,
}
WRITE_SQL = {
    "tokens": "INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?, ?, ?)",
    "imports": """
        INSERT INTO imports (id, owner, source, state, cursor, passes, report, started_at, updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, cursor = excluded.cursor,
            passes = excluded.passes, report = excluded.report, updated_at = excluded.updated_at
    """,
    "debates": """
        INSERT INTO debates (id, place, owner, status, motion, format, turning, turned_at, epoch, created_at,
            summary, runner)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')
    """,
    "bodies": "INSERT INTO bodies (debate_id, digest, packed, body) VALUES (?, ?, ?, ?)",
    "requests": """
        INSERT OR REPLACE INTO requests (debate_id, client, key, body_hash, first, seq, expires)
        VALUES (?, ?, ?, ?, ?, ?, ?)
    """,
    "invitations": """
        INSERT INTO invitations
            (debate_id, name, digest, role, seat, judge, many, created_at, expires_at, via)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """,
    "casts": "INSERT INTO casts (debate, model) SELECT place, ?2 FROM debates WHERE id = ?1",
    "marks": "INSERT INTO marks (debate, mark) SELECT place, ?2 FROM debates WHERE id = ?1",
    "events": "INSERT INTO events (debate_id, seq, at, epoch, body) VALUES (?, ?, ?, ?, ?)",
    "conversations": """
        INSERT INTO conversations (id, place, import, owner, source, events, first_ts, last_ts)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    """,
    "conversation_events": """
        INSERT INTO conversation_events
            (conversation, order_key, id, role, ts, created_at, segments, metadata, legacy, digest)
        SELECT place, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM conversations WHERE id = ?1
    """,
}
# What hangs on the row of a debate goes with it.
CLEAR_SQL = {
    "debates": (
        "DELETE FROM fresh WHERE debate_id IN (SELECT value FROM json_each(?))",
        "DELETE FROM events WHERE debate_id IN (SELECT value FROM json_each(?))",
        "DELETE FROM debates WHERE id IN (SELECT value FROM json_each(?))",
    ),
    "conversations": (
        """
        DELETE FROM conversation_events WHERE conversation IN (
            SELECT place FROM conversations WHERE id IN (SELECT value FROM json_each(?))
        )
        """,
        "DELETE FROM conversations WHERE id IN (SELECT value FROM json_each(?))",
    ),
}


class SqliteTables:
    @classmethod
    async def open(cls, path: Path, locks: Path) -> SqliteTables:
        """`locks` is the data folder of those who run debates in this file."""
        await asyncio.to_thread(prepare, path)
        with translated(path):
            return cls(path, locks, connect(path))

    def __init__(self, path: Path, locks: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._locks = {locks, path.absolute().parent}
        self._connection = connection

    async def close(self) -> None:
        self._connection.close()

    @asynccontextmanager
    async def locked(self) -> AsyncGenerator[None]:
        await self._run("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            await self._run("ROLLBACK")

    async def active_runner(self) -> str:
        names = await self._run("SELECT DISTINCT runner FROM debates WHERE runner <> ''")
        alive = [name for (name,) in names for folder in self._locks if not is_free(folder, name)]
        return f"a process that runs debates in {self._path}" if alive else ""

    async def row_counts(self) -> dict[str, int]:
        counted = {table: await self._count(table) for table in _TABLES}
        return counted | {"events": counted["events"] + await self._count("fresh")}

    async def _count(self, table: str) -> int:
        return (await self._run(f"SELECT count(*) FROM {table}"))[0][0]  # noqa: S608 - our own tables

    async def line_counts(self, kind: TableGroup) -> dict[str, int]:
        return dict(await self._run(LINE_COUNTS_SQL[kind.name]))

    async def latest_epoch(self) -> int:
        return (await self._run("SELECT coalesce(max(epoch), 0) FROM debates"))[0][0]

    async def read_table(self, table: str) -> list[Row]:
        return await self._run(READ_SQL[table])

    async def read_rows(self, table: str, ids: Sequence[str]) -> list[Row]:
        return await self._run(READ_SQL[table], _listed(ids))

    async def read_pages(self, kind: TableGroup, ids: Sequence[str]) -> AsyncGenerator[list[Row], None]:
        with translated(self._path):
            cursor = await asyncio.to_thread(
                self._connection.execute, READ_SQL[kind.lines_table], _listed(ids)
            )
            while page := await asyncio.to_thread(cursor.fetchmany, PAGE):
                yield page

    async def write_table(self, table: str, rows: Sequence[Row]) -> None:
        async with self._transaction():
            await self._run_many(WRITE_SQL[table], rows)

    async def write_group(
        self, kind: TableGroup, ids: Sequence[str], rows: Rows, pages: AsyncIterable[list[Row]]
    ) -> None:
        async with self._transaction():
            for statement in CLEAR_SQL[kind.name]:
                await self._run(statement, _listed(ids))
            for part in kind.parts:
                await self._run_many(WRITE_SQL[part], rows[part])
            async for page in pages:
                await self._run_many(WRITE_SQL[kind.lines_table], page)
            crash_points.point("before-moved")

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[None]:
        await self._run("BEGIN IMMEDIATE")
        try:
            yield
            await self._run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            raise

    async def _run(self, statement: str, values: Row = ()) -> list[Row]:
        with translated(self._path):
            return await asyncio.to_thread(lambda: self._connection.execute(statement, values).fetchall())

    async def _run_many(self, statement: str, rows: Iterable[Row]) -> None:
        # The cursor ends in the thread that made it: another would reset a statement that is in use again.
        with translated(self._path):
            await asyncio.to_thread(lambda: self._connection.executemany(statement, rows).close())


_TABLES = (*WHOLE_TABLES, *(table for kind in TABLE_GROUPS for table in kind.tables))


def _listed(ids: Sequence[str]) -> Row:
    return (msgspec.json.encode(ids).decode(),)
