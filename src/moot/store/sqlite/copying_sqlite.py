"""The tables of an SQLite file for moving a store (`store/copying.py`), on a connection of their own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import ClassVar

from moot.store.copying import DEBATES, PAGE, StoreTables, TableGroup
from moot.store.runner_locks import is_free
from moot.store.sql import Row, Statement, sql
from moot.store.sqlite.connect import connect, cursor_of, prepare, run_statement, translated
from moot.store.sqlite.queries import VERSION


def _with_runner(row: Row) -> Row:
    return *row, ""


class SqliteTables(StoreTables):
    read_sql: ClassVar = {
        "events": """
            SELECT debate_id, seq, at, epoch, body FROM events WHERE debate_id = ANY(:ids)
            UNION ALL
            SELECT debate_id, seq, at, epoch, body FROM fresh WHERE debate_id = ANY(:ids)
            ORDER BY 1, 2
        """
    }
    written_columns: ClassVar = {"debates": DEBATES.parts[0].columns + ", runner"}
    convert: ClassVar = {"debates": _with_runner}
    debate_lengths_sql = f"SELECT id, {VERSION} FROM debates ORDER BY place"  # noqa: S608 - our own columns
    extra_table = "fresh"

    @classmethod
    async def open(cls, path: Path, locks: Path) -> SqliteTables:
        """`locks` is the data folder of the processes that run debates in this file."""
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
        await self._run(sql("BEGIN IMMEDIATE"))
        try:
            yield
        finally:
            await self._run(sql("ROLLBACK"))

    async def active_runner(self) -> str:
        names = await self._run(sql("SELECT DISTINCT runner FROM debates WHERE runner <> ''"))
        alive = [name for (name,) in names for folder in self._locks if not is_free(folder, name)]
        return f"a process that runs debates in {self._path}" if alive else ""

    async def row_counts(self) -> dict[str, int]:
        counts = await super().row_counts()
        return counts | {"events": counts["events"] + await self._count("fresh")}

    async def latest_epoch(self) -> int:
        return (await self._run(sql("SELECT coalesce(max(epoch), 0) FROM debates")))[0][0]

    async def read_pages(self, group: TableGroup, ids: Sequence[str]) -> AsyncGenerator[list[Row], None]:
        statement = sql(self._read_sql(group.lines), ids=[*ids])
        with translated(self._path):
            cursor = await asyncio.to_thread(cursor_of, self._connection, statement)
            while page := await asyncio.to_thread(cursor.fetchmany, PAGE):
                yield page

    async def _run(self, statement: Statement) -> list[Row]:
        with translated(self._path):
            return await asyncio.to_thread(run_statement, self._connection, statement)

    async def _insert(self, table: str, columns: str, rows: Sequence[Row]) -> None:
        marks = ", ".join("?" * len(columns.split(",")))
        text = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608 - our own tables
        # The cursor is closed in the thread that made it: another thread would reset a statement in use.
        with translated(self._path):
            await asyncio.to_thread(lambda: self._connection.executemany(text, rows).close())

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[None]:
        await self._run(sql("BEGIN IMMEDIATE"))
        try:
            yield
            await self._run(sql("COMMIT"))
        except BaseException:
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            raise

    async def _complete(self, group: TableGroup, rows: Sequence[Row]) -> None:
        """Triggers have counted the debates already."""
