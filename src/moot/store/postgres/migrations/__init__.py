"""Forward-only migrations of the PostgreSQL store: `0001_*.sql`, `0002_*.sql` ... in order.

Processes of the previous version keep working while one of the next migrates, so a script only adds: tables,
columns with a default, indexes. What is no longer used is dropped a release later. Each runs in a transaction
of its own and fails rather than wait long for a lock, since all others would wait behind it.

An index on a table that may be large is built by a script whose first line is `-- outside a transaction`,
one statement after the other: `DROP INDEX CONCURRENTLY IF EXISTS`, since an attempt that failed leaves a
useless one behind, then `CREATE INDEX CONCURRENTLY`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from importlib.resources import files
from typing import Any

from psycopg import AsyncConnection

from moot.store.sqlite.migrations import refuse_newer

Connection = AsyncConnection[tuple[Any, ...]]

OUTSIDE = "-- outside a transaction"
LOCK = 6_015_016_020
"""An advisory lock, so that processes that start together migrate one after the other."""
LOCK_SECONDS = 5


async def migrate(connect: Callable[[], Awaitable[Connection]]) -> None:
    scripts = dict(_scripts())
    async with await connect() as connection:
        version = await _version(connection)
        refuse_newer(version, max(scripts))
        if version < max(scripts):
            async with await connect() as guard:
                await _catch_up(connection, guard, scripts)


async def _catch_up(connection: Connection, guard: Connection, scripts: dict[int, str]) -> None:
    """The guard holds the lock meanwhile, without a snapshot, so that an index can be built beside it."""
    async with guard.transaction():
        # Without parameters: the portal that those need would keep a snapshot until the end.
        await guard.execute(f"SELECT pg_advisory_xact_lock({LOCK})".encode())
        # Another process may have been faster while we waited.
        version = await _version(connection)
        for number in sorted(scripts):
            if number > version:
                await _apply(connection, number, scripts[number])


async def _version(connection: Connection) -> int:
    row = await (await connection.execute("SELECT to_regclass('moot_schema') IS NULL")).fetchone()
    if row is None or row[0]:
        return 0
    row = await (await connection.execute("SELECT coalesce(max(version), 0) FROM moot_schema")).fetchone()
    return row[0] if row else 0


async def _apply(connection: Connection, number: int, script: str) -> None:
    if script.startswith(OUTSIDE):
        for statement in script.split(";\n"):
            if statement.strip():
                await connection.execute(statement.encode())
        script = ""
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'".encode())
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS moot_schema (version integer PRIMARY KEY, at timestamptz NOT NULL)"
        )
        await connection.execute("INSERT INTO moot_schema (version, at) VALUES (%s, now())", [number])
        if script:
            await connection.execute(script.encode())


def _scripts() -> Iterator[tuple[int, str]]:
    for file in files(__name__).iterdir():
        if file.name.endswith(".sql"):
            yield int(file.name[:4]), file.read_text("utf-8")
