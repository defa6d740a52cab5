"""The store in PostgreSQL, for processes on several machines that share one arena.

Writes go through one task (`writer.py`), which appends all waiting requests in one statement. Reads use a
small pool. States are cached, and brought up to date where another process has changed the debate.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from moot.core.errors import StoreError, UnknownDebate
from moot.core.events import Recorded
from moot.core.state import Debate
from moot.store.batch import CachedState, now
from moot.store.contract import Clock, LogPosition, StoreFigures
from moot.store.extension_tables import ExtensionSchemas, loaded_tables
from moot.store.postgres import POOL_SIZE, STATEMENT_SECONDS, queries
from moot.store.postgres.connect import Database, Params, adapted, run_statement, run_steps, translated
from moot.store.postgres.migrations import migrate
from moot.store.postgres.writer import DeleteDebate, PostgresWriter
from moot.store.sql import Row, Steps, postgres_text
from moot.store.sql_store import SqlStore, new_reply

T = TypeVar("T")

STATES = 1024


class PostgresStore(SqlStore[PostgresWriter]):
    lists = queries.LISTS

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        clock: Clock = now,
        states: int = STATES,
        pool: int = POOL_SIZE,
        statement_seconds: float = STATEMENT_SECONDS,
    ) -> PostgresStore:
        """Creates or migrates the tables. Raises StoreError, NewerSchema, or Invalid for the address."""
        database = await Database.open(url, pool=pool, statement_seconds=statement_seconds)
        try:
            with translated():
                schemas = await migrate(database.open_connection, loaded_tables())
        except BaseException:
            await database.close()
            raise
        return cls(database, clock, states, schemas)

    def __init__(self, database: Database, clock: Clock, states: int, schemas: ExtensionSchemas) -> None:
        super().__init__(clock, states, schemas)
        self._database = database
        self._closed = False
        self._writer = PostgresWriter(database, self._states, clock)

    async def delete(self, debate_id: str) -> None:
        await self._send(DeleteDebate(new_reply(), debate_id))

    async def read(self, debate_id: str, after: int = 0, limit: int = 1000) -> tuple[Recorded, ...]:
        return await queries.events(self._query, debate_id, after, max(limit, 0))

    async def state(self, debate_id: str, upto: int | None = None) -> Debate:
        if upto is None and debate_id not in self._states:
            return await self._load_state(debate_id)
        positions = await queries.read_positions(self._query, [debate_id])
        if not positions:
            raise UnknownDebate
        position, known = positions[0], self._states.get(debate_id)
        if upto is not None and upto < position.version:
            near = known and known.checked == position.place and known.debate.seq <= upto
            return await queries.fold_state(
                self._query, debate_id, upto, known.debate if known and near else None
            )
        state = await queries.catch_up(self._query, position, known)
        if state is None:
            raise UnknownDebate
        self._offer(state)
        return state.debate

    async def positions(self, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
        return await queries.positions(self._query, debate_ids) if debate_ids else {}

    async def size(self) -> int:
        return await queries.size(self._query)

    async def figures(self) -> StoreFigures:
        return await queries.figures(self._query)

    async def changed_elsewhere(self) -> bool:
        """Always False: processes learn of each other through the bus, and by reading positions."""
        return False

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._writer.close()
            await self._database.close()

    # --- asking ---------------------------------------------------------------------------------------

    async def _query(self, statement: str, params: Params) -> list[tuple[Any, ...]]:
        self._check_open()
        return await self._database.query(statement, params)

    async def _read_sql(self, text: str, /, **values: object) -> list[Row]:
        return await self._query(postgres_text(text), adapted(values))

    _write_sql = _read_sql

    async def _read_steps(self, steps: Steps[T], /) -> T:
        return await run_steps(lambda statement: self._read_sql(statement.text, **statement.values), steps)

    async def _transact(self, steps: Steps[T], /) -> T:
        self._check_open()
        async with self._database.connection() as connection, connection.transaction():
            return await run_steps(partial(run_statement, connection), steps)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("The store is closed.")

    async def _cache_state(self, debate_id: str) -> None:
        """Fold a debate that is not cached here, so that the writer need not."""
        if debate_id in self._states:
            return
        with suppress(UnknownDebate):
            await self._load_state(debate_id)

    async def _load_state(self, debate_id: str) -> Debate:
        state = await queries.load_state(self._query, debate_id)
        if state is None:
            raise UnknownDebate
        self._offer(state)
        return state.debate

    def _offer(self, state: CachedState) -> None:
        """Put a state in the cache, unless the writer has a later one."""
        known = self._states.get(state.debate.id)
        if known is None or known.checked != state.checked or known.debate.seq <= state.debate.seq:
            self._states.put(state.debate.id, state)
