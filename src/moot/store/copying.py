"""What a store holds, as rows that another store can take: for moving from one store to the other.

Nothing is decided, numbered or dated anew. Debates and conversations are many, each known by an id that is
first in all its rows: a few rows that describe it and what belongs to it, and its lines (the log of a debate,
the events of a conversation), which are read in pages. Times and JSON are text, times that are only compared
are seconds since 1970, yes and no are 1 and 0.

    tokens               name, digest, role, owner, created_at, expires_at
    imports              id, owner, source, state, cursor, passes, report, started_at, updated_at
    experiments          name, definition, state, epoch, created_at, updated_at
    experiment_legs      experiment, leg, debate, reserved, result, status, pro_share, held
    debates              id, place, owner, status, motion, format, turning, turned_at, epoch, created_at,
                         summary
    bodies               debate, digest, packed, body
    requests             debate, client, key, body_hash, first, seq, expires
    invitations          debate, name, digest, role, seat, judge, many, created_at, expires_at, via
    casts                debate, model
    marks                debate, mark
    events               debate, seq, at, epoch, body
    conversations        id, place, import, owner, source, events, first_ts, last_ts
    conversation_events  conversation, order_key, id, role, ts, created_at, segments, metadata, legacy, digest

The name of the runner is left out, and when an experiment's process was last alive: no process runs the
debate or the experiment in its new store.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import ClassVar

from msgspec import Struct

from moot.core.diagnostics import crash_point
from moot.store.sql import Row, Statement, sql, sql_many

Rows = Mapping[str, Sequence[Row]]
"""By table."""
Places = Mapping[str, int]
"""The row number of each debate or conversation, by id."""
PAGE = 1000
"""Lines that are read at a time."""
WHOLE_TABLES = ("tokens", "imports", "experiments", "experiment_legs")
"""Few enough to be copied all at once."""


class TableGroup(Struct, frozen=True):
    name: str
    parts: tuple[str, ...]
    """In the order in which they are written."""
    lines_table: str

    @property
    def tables(self) -> tuple[str, ...]:
        return *self.parts, self.lines_table


DEBATES = TableGroup("debates", ("debates", "bodies", "requests", "invitations", "casts", "marks"), "events")
CONVERSATIONS = TableGroup("conversations", ("conversations",), "conversation_events")
TABLE_GROUPS = (DEBATES, CONVERSATIONS)
ALL_TABLES = (*WHOLE_TABLES, *(table for group in TABLE_GROUPS for table in group.tables))

READ_SQL = {
    "tokens": "SELECT name, digest, role, owner, created_at, expires_at FROM tokens ORDER BY name",
    "imports": """
        SELECT id, owner, source, state, cursor, passes, report, started_at, updated_at
        FROM imports ORDER BY id
    """,
    "experiments": """
        SELECT name, definition, state, epoch, created_at, updated_at FROM experiments ORDER BY name
    """,
    "experiment_legs": """
        SELECT experiment, leg, debate_id, reserved, result, status, pro_share, held
        FROM experiment_legs ORDER BY place
    """,
    "bodies": "SELECT debate_id, digest, packed, body FROM bodies WHERE debate_id = ANY(:ids) ORDER BY 1, 2",
    "requests": """
        SELECT debate_id, client, key, body_hash, first, seq,
            /*postgres CAST(floor(extract(epoch FROM */ expires /*postgres )) AS bigint) */
        FROM requests WHERE debate_id = ANY(:ids) ORDER BY 1, 2, 3
    """,
    "invitations": """
        SELECT debate_id, name, digest, role, seat, judge, many, created_at, expires_at, via
        FROM invitations WHERE debate_id = ANY(:ids) ORDER BY 1, 2
    """,
    "casts": "SELECT id, model FROM debates JOIN casts ON debate = place WHERE id = ANY(:ids) ORDER BY 1, 2",
    "marks": "SELECT id, mark FROM debates JOIN marks ON debate = place WHERE id = ANY(:ids) ORDER BY 1, 2",
    "conversations": """
        SELECT id, place, import, owner, source, events, first_ts, last_ts
        FROM conversations WHERE id = ANY(:ids) ORDER BY place
    """,
    "conversation_events": """
        SELECT conversations.id, order_key, event.id, role, ts, created_at, segments, metadata, legacy, digest
        FROM conversations JOIN conversation_events AS event ON event.conversation = place
        WHERE conversations.id = ANY(:ids) ORDER BY place, order_key, event.id
    """,
}
WRITE_SQL = {
    "tokens": """
        INSERT INTO tokens (name, digest, role, owner, created_at, expires_at)
        VALUES (:0, :1, :2, :3, :4 /*postgres ::timestamptz */, :5 /*postgres ::timestamptz */)
        ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, role = excluded.role,
            owner = excluded.owner, created_at = excluded.created_at, expires_at = excluded.expires_at
    """,
    "imports": """
        INSERT INTO imports (id, owner, source, state, cursor, passes, report, started_at, updated_at)
        VALUES (:0, :1, :2, :3, :4, :5, :6, :7 /*postgres ::timestamptz */, :8 /*postgres ::timestamptz */)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, cursor = excluded.cursor,
            passes = excluded.passes, report = excluded.report, updated_at = excluded.updated_at
    """,
    "experiments": """
        INSERT INTO experiments (name, definition, state, epoch, created_at, updated_at)
        VALUES (:0, :1, :2, :3, :4 /*postgres ::timestamptz */, :5 /*postgres ::timestamptz */)
        ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, state = excluded.state,
            epoch = excluded.epoch, updated_at = excluded.updated_at
    """,
    "experiment_legs": """
        INSERT INTO experiment_legs (experiment, leg, debate_id, reserved, result, status, pro_share, held)
        VALUES (:0, :1, :2, :3, :4, :5, :6, :7)
        ON CONFLICT (experiment, leg) DO UPDATE SET reserved = excluded.reserved, result = excluded.result,
            status = excluded.status, pro_share = excluded.pro_share, held = excluded.held
    """,
}
COLUMNS = {
    "bodies": "debate_id, digest, packed, body",
    "requests": "debate_id, client, key, body_hash, first, seq, expires",
    "invitations": "debate_id, name, digest, role, seat, judge, many, created_at, expires_at, via",
    "casts": "debate, model",
    "marks": "debate, mark",
    "events": "debate_id, seq, at, epoch, body",
    "conversations": "id, place, import, owner, source, events, first_ts, last_ts",
    "conversation_events": """
        conversation, order_key, id, role, ts, created_at, segments, metadata, legacy, digest
    """,
}
# The other rows of a debate are deleted with its row in `debates`.
CLEAR_SQL = {
    "debates": (
        "DELETE FROM events WHERE debate_id = ANY(:ids)",
        "DELETE FROM debates WHERE id = ANY(:ids)",
    ),
    "conversations": (
        """
        DELETE FROM conversation_events
        WHERE conversation IN (SELECT place FROM conversations WHERE id = ANY(:ids))
        """,
        "DELETE FROM conversations WHERE id = ANY(:ids)",
    ),
}

ConvertRow = Callable[[Row, Places], Row]


def by_place(row: Row, places: Places) -> Row:
    return places[row[0]], *row[1:]


CONVERT: dict[str, ConvertRow] = {"casts": by_place, "marks": by_place, "conversation_events": by_place}


class StoreTables(ABC):
    """The tables of one store. What differs from `READ_SQL`, `COLUMNS` and `CONVERT` each database adds."""

    read_sql: ClassVar[dict[str, str]]
    columns: ClassVar[dict[str, str]]
    convert: ClassVar[dict[str, ConvertRow]]
    debate_lengths_sql: ClassVar[str]
    """Selects the id of each debate, oldest first, and how many events it has."""
    extra_table: ClassVar[str]
    """A table that only this database has, with rows by `debate_id`."""

    @abstractmethod
    def locked(self) -> AbstractAsyncContextManager[None]:
        """While this lasts, reads return the same and other processes cannot write."""
        ...

    @abstractmethod
    async def active_runner(self) -> str:
        """Which live process runs debates here; empty where none does."""
        ...

    @abstractmethod
    async def latest_epoch(self) -> int:
        """The latest epoch of all debates."""
        ...

    @abstractmethod
    def read_pages(self, group: TableGroup, ids: Sequence[str]) -> AsyncGenerator[list[Row], None]:
        """Their lines: those of one id together, in order."""
        ...

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    def _transaction(self) -> AbstractAsyncContextManager[None]: ...

    @abstractmethod
    async def _run(self, statement: Statement) -> list[Row]: ...

    @abstractmethod
    async def _insert(self, table: str, rows: Sequence[Row]) -> None: ...

    async def row_counts(self) -> dict[str, int]:
        """How many rows there are in each table."""
        return {table: await self._count(table) for table in ALL_TABLES}

    async def _count(self, table: str) -> int:
        return (await self._run(sql(f"SELECT count(*) FROM {table}")))[0][0]  # noqa: S608 - our own tables

    async def line_counts(self, group: TableGroup) -> dict[str, int]:
        """The ids, oldest first, and how many lines each has."""
        conversations = "SELECT id, events FROM conversations ORDER BY place"
        rows = await self._run(sql(self.debate_lengths_sql if group is DEBATES else conversations))
        return {row[0]: row[1] for row in rows}

    async def read_table(self, table: str) -> list[Row]:
        return await self._run(sql(self.read_sql[table]))

    async def read_rows(self, table: str, ids: Sequence[str]) -> list[Row]:
        return await self._run(sql(self.read_sql[table], ids=[*ids]))

    async def write_table(self, table: str, rows: Sequence[Row]) -> None:
        """Write a whole table; rows of the same names are replaced."""
        async with self._transaction():
            await self._run(sql_many(WRITE_SQL[table], [_numbered(row) for row in rows]))

    async def write_group(
        self, group: TableGroup, ids: Sequence[str], rows: Rows, pages: AsyncIterable[list[Row]]
    ) -> None:
        """Write these, all or none of them, in place of what is there under their ids."""
        places: Places = {row[0]: row[1] for row in rows[group.name]}
        async with self._transaction():
            if group is DEBATES:
                await self._run(
                    sql(f"DELETE FROM {self.extra_table} WHERE debate_id = ANY(:ids)", ids=[*ids])  # noqa: S608 - our own tables
                )
            for statement in CLEAR_SQL[group.name]:
                await self._run(sql(statement, ids=[*ids]))
            # A key that has expired may have been used again since, for another debate.
            used = [{"client": row[1], "key": row[2]} for row in rows.get("requests", ())]
            await self._run(sql_many("DELETE FROM requests WHERE client = :client AND key = :key", used))
            for part in group.parts:
                await self._insert(part, self._converted(part, rows[part], places))
            async for page in pages:
                await self._insert(group.lines_table, self._converted(group.lines_table, page, places))
            await self._complete(group, rows[group.name])
            crash_point("before-moved")

    @abstractmethod
    async def _complete(self, group: TableGroup, rows: Sequence[Row]) -> None:
        """Write what is computed from the rows, in the same transaction."""
        ...

    def _converted(self, table: str, rows: Sequence[Row], places: Places) -> Sequence[Row]:
        convert = self.convert.get(table)
        return rows if convert is None else [convert(row, places) for row in rows]


def _numbered(row: Row) -> dict[str, object]:
    return {str(number): value for number, value in enumerate(row)}
