"""Forward-only migrations of the PostgreSQL store: `0001_*.sql`, `0002_*.sql` ... in order.

Processes of the previous version keep working while one of the next migrates, so a script only adds: tables,
columns with a default, indexes. What is no longer used is dropped a release later. Each runs in a transaction
of its own and fails rather than wait long for a lock, since all others would wait behind it. The numbers of
the core are in `moot_schema`; those of extensions, which run after it, in `extension_schemas`.

An index on a table that may be large is built by a script whose first line is `-- outside a transaction`,
one statement after the other: `DROP INDEX CONCURRENTLY IF EXISTS`, since an attempt that failed leaves a
useless one behind, then `CREATE INDEX CONCURRENTLY`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib.resources import files
from typing import Any, LiteralString, NamedTuple

import psycopg
from psycopg import AsyncConnection

from moot.core.errors import StoreError
from moot.store.extension_tables import (
    ExtensionSchemas,
    Tables,
    keeps_of,
    migration_failed,
    numbered_scripts,
    refuse_newer,
)

Connection = AsyncConnection[tuple[Any, ...]]
Connect = Callable[[], Awaitable[Connection]]

OUTSIDE = "-- outside a transaction"
LOCK = 6_015_016_020
"""An advisory lock, so that processes that start together migrate one after the other."""
LOCK_SECONDS = 5


class CoreSchema(NamedTuple):
    name: str = ""

    async def version(self, connection: Connection) -> int:
        if not await _value(connection, "SELECT to_regclass('moot_schema') IS NOT NULL"):
            return 0
        return await _value(connection, "SELECT coalesce(max(version), 0) FROM moot_schema")

    async def record(self, connection: Connection, number: int) -> None:
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS moot_schema (version integer PRIMARY KEY, at timestamptz NOT NULL)"
        )
        await connection.execute("INSERT INTO moot_schema (version, at) VALUES (%s, now())", [number])


class ExtensionSchema(NamedTuple):
    tables: Tables[Any]
    name: str

    async def version(self, connection: Connection) -> int:
        recorded = "SELECT coalesce(max(version), 0) FROM extension_schemas WHERE name = %s"
        return await _value(connection, recorded, self.name)

    async def record(self, connection: Connection, number: int) -> None:
        await connection.execute(
            """
            INSERT INTO extension_schemas (name, version, keeps) VALUES (%s, %s, %s)
            ON CONFLICT (name) DO UPDATE SET version = excluded.version, keeps = excluded.keeps
            """,
            [self.name, number, self.tables.keeps],
        )

    async def adopt(self, connection: Connection) -> None:
        """Record the migrations that a version applied which did not record them."""
        adopted = 0
        if await self.version(connection) == 0:
            for column in self.tables.adopted:
                adopted += await _has_column(connection, column)
        if adopted:
            await connection.execute(
                """
                INSERT INTO extension_schemas (name, version, keeps) VALUES (%s, %s, %s)
                ON CONFLICT (name) DO NOTHING
                """,
                [self.name, adopted, self.tables.keeps],
            )


Schema = CoreSchema | ExtensionSchema
"""Whose migrations run, and where their number is kept."""
CORE = CoreSchema()


async def migrate(connect: Connect, extensions: Iterable[Tables[Any]]) -> ExtensionSchemas:
    """Raises NewerSchema for the tables of the core only."""
    async with await connect() as connection:
        await _bring_up(connection, connect, CORE, dict(numbered_scripts(files(__name__))))
        failures: dict[str, StoreError | None] = {}
        for tables in extensions:
            failures[tables.name] = None
            schema = ExtensionSchema(tables, tables.name)
            try:
                await schema.adopt(connection)
                await _bring_up(connection, connect, schema, tables.scripts("postgres"))
            except StoreError as error:
                failures[tables.name] = error
            except psycopg.ProgrammingError as error:
                failures[tables.name] = migration_failed(tables.name, error)
        kept = await connection.execute("SELECT keeps FROM extension_schemas WHERE keeps <> '' ORDER BY name")
        return ExtensionSchemas(failures, keeps_of(await kept.fetchall()))


async def _bring_up(
    connection: Connection, connect: Connect, schema: Schema, scripts: Mapping[int, str]
) -> None:
    version = await schema.version(connection)
    refuse_newer(version, max(scripts), schema.name)
    if version < max(scripts):
        async with await connect() as guard:
            await _catch_up(connection, guard, scripts, schema)


async def _catch_up(
    connection: Connection, guard: Connection, scripts: Mapping[int, str], schema: Schema = CORE
) -> None:
    """The guard holds the lock meanwhile, without a snapshot, so that an index can be built beside it."""
    async with guard.transaction():
        # Without parameters: the portal that those need would keep a snapshot until the end.
        await guard.execute(f"SELECT pg_advisory_xact_lock({LOCK})".encode())
        # Another process may have been faster while we waited.
        version = await schema.version(connection)
        for number in sorted(scripts):
            if number > version:
                await _apply(connection, schema, number, scripts[number])


async def _apply(connection: Connection, schema: Schema, number: int, script: str) -> None:
    if script.startswith(OUTSIDE):
        for statement in script.split(";\n"):
            if statement.strip():
                await connection.execute(statement.encode())
        script = ""
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'".encode())
        await schema.record(connection, number)
        if script:
            await connection.execute(script.encode())


async def _has_column(connection: Connection, column: str) -> bool:
    """Whether the table that this name stands for, by the search path, has the column."""
    table, _, name = column.partition(".")
    found = "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s"
    return bool(await _value(connection, found, table, name))


async def _value(connection: Connection, query: LiteralString, *values: object) -> Any:
    [[value]] = await (await connection.execute(query, values or None)).fetchall()
    return value
