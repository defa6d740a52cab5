"""What a store holds, as rows that another store can take: for moving from one store to the other.

The contract of stores (`store/contract.py`) numbers and dates what it is given; here nothing is decided,
numbered or dated anew. Debates are many, each known by an id that is first in all its rows: a few rows that
describe it and what belongs to it, and its lines (its log), which are read in pages. Times and JSON are text,
times that are only compared are seconds since 1970, yes and no are 1 and 0.

The name of the runner is left out: no process runs the debate in its new store. Extensions say which of
their tables are copied (`store/extension_tables.py`): as a whole, or in groups as debates are.
"""

# ruff: noqa: S608 - the names in the SQL are those of our own tables

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import ClassVar

from msgspec import Struct

from moot.core.crash_points import crash_point
from moot.store.extension_tables import loaded_tables
from moot.store.sql import Row, Statement, sql, sql_many

Rows = Mapping[str, Sequence[Row]]
"""By table."""
Places = Mapping[str, int]
"""The row number of each debate, or of what another group is named after, by id."""
PAGE = 1000
"""Lines that are read at a time."""


class CopiedTable(Struct, frozen=True):
    name: str
    columns: str
    key: str = ""
    """Of a table with so few rows that it is copied as a whole: the columns by which rows are replaced."""
    parent: str = ""
    """The table whose row number is the first column. Copied rows have the id there."""
    order: str = "1, 2"
    searched: str = ""
    """A column that is searched by `contains` of `store/sql.py`: PostgreSQL has it as `folded` too."""
    rows: str = ""
    """What its rows are called when they are counted for people; empty: they are not."""

    @property
    def names(self) -> list[str]:
        return self.columns.split(", ")

    def read_sql(self, computed: Mapping[str, str]) -> str:
        """`computed` are columns that are read as the value of an expression."""
        ident, *columns = [computed.get(name, f"{self.name}.{name}") for name in self.names]
        source = self.name
        if self.parent:
            source = f"{self.parent} JOIN {self.name} ON {ident} = {self.parent}.place"
            ident = f"{self.parent}.id"
        condition = "" if self.key else f"WHERE {ident} = ANY(:ids)"
        return f"SELECT {', '.join([ident, *columns])} FROM {source} {condition} ORDER BY {self.order}"

    @property
    def replace_sql(self) -> str:
        """Insert one row in place of that with its key."""
        cast = "/*postgres ::timestamptz */"
        values = [f":{nth} {cast if name.endswith('_at') else ''}" for nth, name in enumerate(self.names)]
        changes = [f"{name} = excluded.{name}" for name in self.names if name not in self.key.split(", ")]
        return f"""
            INSERT INTO {self.name} ({self.columns}) VALUES ({", ".join(values)})
            ON CONFLICT ({self.key}) DO UPDATE SET {", ".join(changes)}
        """

    @property
    def clear_sql(self) -> str:
        ids = f"IN (SELECT place FROM {self.parent} WHERE id = ANY(:ids))" if self.parent else "= ANY(:ids)"
        return f"DELETE FROM {self.name} WHERE {self.names[0]} {ids}"


class TableGroup(Struct, frozen=True):
    parts: tuple[CopiedTable, ...]
    """In the order in which they are written; first what the group is named after."""
    lines: CopiedTable
    line_counts_sql: str = ""
    """Selects the id of each, oldest first, and how many lines it has. For debates the database says it."""

    @property
    def tables(self) -> tuple[CopiedTable, ...]:
        first, *others = self.parts
        return first, self.lines, *others

    @property
    def name(self) -> str:
        return self.parts[0].name


TOKENS = CopiedTable(
    "tokens", "name, digest, role, owner, created_at, expires_at", key="name", order="name", rows="tokens"
)
DEBATES = TableGroup(
    parts=(
        CopiedTable(
            "debates",
            "id, place, owner, status, motion, format, turning, turned_at, epoch, created_at, summary",
            order="place",
            rows="debates",
        ),
        CopiedTable("bodies", "debate_id, digest, packed, body", rows="requests as sent"),
        CopiedTable(
            "requests",
            "debate_id, client, key, body_hash, first, seq, expires",
            order="1, 2, 3",
            rows="requests that may be repeated",
        ),
        CopiedTable(
            "invitations",
            "debate_id, name, digest, role, seat, judge, many, created_at, expires_at, via",
            rows="invitations",
        ),
        CopiedTable("casts", "debate, model", parent="debates"),
        CopiedTable("marks", "debate, mark", parent="debates"),
    ),
    lines=CopiedTable("events", "debate_id, seq, at, epoch, body", rows="events in their logs"),
)


def whole_tables() -> tuple[CopiedTable, ...]:
    """Those of the core and of the extensions that are copied all at once."""
    return TOKENS, *(table for tables in loaded_tables() for table in tables.copied)


def table_groups() -> tuple[TableGroup, ...]:
    """Debates, and the groups of the extensions."""
    return DEBATES, *(group for tables in loaded_tables() for group in tables.groups)


def all_tables() -> tuple[CopiedTable, ...]:
    """Those of the core, then those of each extension."""
    tables = [TOKENS, *DEBATES.tables]
    for extension in loaded_tables():
        tables += [*extension.copied, *(table for group in extension.groups for table in group.tables)]
    return tuple(tables)


ConvertRow = Callable[[Row], Row]


class StoreTables(ABC):
    """The tables of one store. Each database says where they differ from `CopiedTable`."""

    computed: ClassVar[Mapping[str, str]] = {}
    """By the name of the column."""
    read_sql: ClassVar[Mapping[str, str]]
    """By the name of the table, as the next two."""
    written_columns: ClassVar[Mapping[str, str]]
    convert: ClassVar[Mapping[str, ConvertRow]]
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
    async def _insert(self, table: str, columns: str, rows: Sequence[Row]) -> None: ...

    async def row_counts(self) -> dict[str, int]:
        """How many rows there are in each table."""
        return {table.name: await self._count(table.name) for table in all_tables()}

    async def _count(self, table: str) -> int:
        return (await self._run(sql(f"SELECT count(*) FROM {table}")))[0][0]

    async def line_counts(self, group: TableGroup) -> dict[str, int]:
        """The ids, oldest first, and how many lines each has."""
        rows = await self._run(sql(group.line_counts_sql or self.debate_lengths_sql))
        return {row[0]: row[1] for row in rows}

    async def read_table(self, table: CopiedTable) -> list[Row]:
        return await self._run(sql(self._read_sql(table)))

    async def read_rows(self, table: CopiedTable, ids: Sequence[str]) -> list[Row]:
        return await self._run(sql(self._read_sql(table), ids=[*ids]))

    def _read_sql(self, table: CopiedTable) -> str:
        return self.read_sql.get(table.name) or table.read_sql(self.computed)

    async def write_table(self, table: CopiedTable, rows: Sequence[Row]) -> None:
        """Write a whole table; rows of the same key are replaced."""
        async with self._transaction():
            await self._run(sql_many(table.replace_sql, [_numbered(row) for row in rows]))

    async def write_group(
        self, group: TableGroup, ids: Sequence[str], rows: Rows, pages: AsyncIterable[list[Row]]
    ) -> None:
        """Write these, all or none of them, in place of what is there under their ids."""
        places: Places = {row[0]: row[1] for row in rows[group.name]}
        async with self._transaction():
            if group is DEBATES:
                await self._run(
                    sql(f"DELETE FROM {self.extra_table} WHERE debate_id = ANY(:ids)", ids=[*ids])
                )
            await self._run(sql(group.lines.clear_sql, ids=[*ids]))
            # The other rows of a debate are deleted with its row in `debates`.
            await self._run(sql(group.parts[0].clear_sql, ids=[*ids]))
            # A key that has expired may have been used again since, for another debate.
            used = [{"client": row[1], "key": row[2]} for row in rows.get("requests", ())]
            await self._run(sql_many("DELETE FROM requests WHERE client = :client AND key = :key", used))
            for part in group.parts:
                await self._insert_rows(part, rows[part.name], places)
            async for page in pages:
                await self._insert_rows(group.lines, page, places)
            await self._complete(group, rows[group.name])
            crash_point("before-moved")

    @abstractmethod
    async def _complete(self, group: TableGroup, rows: Sequence[Row]) -> None:
        """Write what is computed from the rows, in the same transaction."""
        ...

    async def _insert_rows(self, table: CopiedTable, rows: Sequence[Row], places: Places) -> None:
        columns = self.written_columns.get(table.name, table.columns)
        if convert := self.convert.get(table.name):
            rows = [convert(row) for row in rows]
        elif table.parent:
            rows = [(places[row[0]], *row[1:]) for row in rows]
        await self._insert(table.name, columns, rows)


def _numbered(row: Row) -> dict[str, object]:
    return {str(number): value for number, value in enumerate(row)}
