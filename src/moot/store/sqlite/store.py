"""The store in one SQLite file: durable before every run, shared by several processes.

Writes go to one thread (`writer.py`), which decides and commits them in groups. Reads go to a few threads
with a connection each, in pages and without an open transaction. States are folded by a reader, outside the
write transaction.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from moot.core.errors import StoreError, UnknownDebate
from moot.core.events import Recorded
from moot.core.state import Debate
from moot.store.batch import now
from moot.store.contract import Clock, LogPosition, StoreFigures
from moot.store.extension_tables import ExtensionSchemas
from moot.store.sql import Row, Statement, Steps
from moot.store.sql_store import SqlStore, new_reply
from moot.store.sqlite import queries
from moot.store.sqlite.connect import connect, prepare, run_statement, run_steps, translated
from moot.store.sqlite.writer import OwnTransaction, SqliteWriter

READERS = 3
STATES = 1024

P = ParamSpec("P")
T = TypeVar("T")


class SqliteStore(SqlStore[SqliteWriter]):
    lists = queries.LISTS

    @classmethod
    def open(cls, path: str | Path, *, clock: Clock = now, states: int = STATES) -> SqliteStore:
        """Opens the file, which is created or migrated first. Raises StoreError or NewerSchema."""
        path = Path(path)
        schemas = prepare(path)
        with translated():
            return cls(path, clock, states, schemas)

    def __init__(self, path: Path, clock: Clock, states: int, schemas: ExtensionSchemas) -> None:
        super().__init__(clock, states, schemas)
        self._path = path
        self._closed = False
        self._connections: list[sqlite3.Connection] = []
        self._version_connection = self._connect(reader=True)
        self._seen_version = self._data_version()
        self._thread_local = threading.local()
        self._readers = ThreadPoolExecutor(READERS, "moot-store-reader")
        self._writer = SqliteWriter(self._connect(), self._states, clock)
        self._seen_commits, self._seen_generation = 0, 0

    async def delete(self, debate_id: str) -> None:
        await self._write_alone(lambda: self._writer.delete(debate_id))

    async def read(self, debate_id: str, after: int = 0, limit: int = 1000) -> tuple[Recorded, ...]:
        return await self._read(queries.events, debate_id, after, max(limit, 0))

    async def state(self, debate_id: str, upto: int | None = None) -> Debate:
        return await self._read(self._fold, debate_id, upto)

    async def positions(self, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
        return await self._read(queries.positions, debate_ids)

    async def size(self) -> int:
        return await self._read(queries.size)

    async def figures(self) -> StoreFigures:
        return await self._read(queries.figures)

    async def changed_elsewhere(self) -> bool:
        """While we commit, the writer looks for commits of others with each of our own. Otherwise a counter
        is read (4 µs); it also changes with our own commits, so that the writer is asked once after them."""
        commits = self._writer.commits
        if commits != self._seen_commits:
            self._seen_commits = commits
        else:
            with translated():
                version = self._data_version()
            if version != self._seen_version:
                self._seen_version = version
                await self._write_alone(self._writer.check_data_version)
        generation, self._seen_generation = self._seen_generation, self._writer.generation
        return generation != self._seen_generation

    async def close(self) -> None:
        self._closed = True
        self._writer.stop()
        await asyncio.to_thread(self._join)

    # --- running in threads ---------------------------------------------------------------------------

    async def _read_sql(self, text: str, /, **values: object) -> list[Row]:
        return await self._read(run_statement, Statement(text, values))

    async def _read_steps(self, steps: Steps[T], /) -> T:
        return await self._read(run_steps, steps)

    async def _write_sql(self, text: str, /, **values: object) -> list[Row]:
        statement = Statement(text, values)
        return await self._write_alone(lambda: self._writer.change(run_statement, statement))

    async def _transact(self, steps: Steps[T], /) -> T:
        return await self._write_alone(lambda: self._writer.change(run_steps, steps))

    async def _transact_and_scrub(self, steps: Steps[T], /) -> T:
        return await self._write_alone(lambda: self._writer.change_and_scrub(run_steps, steps))

    async def _write_alone(self, work: Callable[[], T]) -> T:
        return await self._send(OwnTransaction(new_reply(), work))

    async def _read(
        self, query: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        def run() -> T:
            with translated():
                return query(self._reader(), *args, **kwargs)

        if self._closed:
            raise StoreError("The store is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    async def _cache_state(self, debate_id: str) -> None:
        """Fold a debate that is not cached on a reader, so that the writer need not."""
        if debate_id not in self._states:
            await self._read(self._fold_if_known, debate_id)

    # --- in the reader threads ------------------------------------------------------------------------

    def _fold(self, connection: sqlite3.Connection, debate_id: str, upto: int | None) -> Debate:
        position = queries.position(connection, debate_id)
        if position is None:
            raise UnknownDebate
        goal = position.version if upto is None else min(upto, position.version)
        known = self._states.get(debate_id)
        base = known.debate if known and known.debate.seq <= goal else None
        debate = queries.fold_state(connection, debate_id, goal, base)
        if goal == position.version:
            self._states.put_if_newer(debate)
        return debate

    def _fold_if_known(self, connection: sqlite3.Connection, debate_id: str) -> None:
        if queries.position(connection, debate_id):
            self._fold(connection, debate_id, None)

    def _reader(self) -> sqlite3.Connection:
        """This thread's own connection."""
        if not hasattr(self._thread_local, "connection"):
            self._thread_local.connection = self._connect(reader=True)
        return self._thread_local.connection

    # --- connections ----------------------------------------------------------------------------------

    def _connect(self, *, reader: bool = False) -> sqlite3.Connection:
        connection = connect(self._path, reader=reader)
        self._connections.append(connection)
        return connection

    def _data_version(self) -> int:
        return self._version_connection.execute("PRAGMA data_version").fetchone()[0]

    def _join(self) -> None:
        self._writer.join()
        self._readers.shutdown()
        for connection in self._connections:
            connection.close()
