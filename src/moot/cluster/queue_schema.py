"""The tables of the queue, made or brought up to date by whoever comes first.

procrastinate ships its tables as one file and each later change as a migration, but keeps no record of which
of them a database has had: we do, by the name of the last one. Each step is a transaction of its own under a
lock that ends with it, since several processes start at once and a pgbouncer may stand in between.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from procrastinate.schema import SchemaManager
from psycopg import AsyncConnection

from moot.core.errors import NewerSchema

LOCK = 0x6D6F6F7471
"""Only those who make these tables wait for each other: the bytes of `mootq`."""

OWN_TABLES_SQL = """
CREATE TABLE IF NOT EXISTS queue_schema (migration text NOT NULL);
CREATE TABLE IF NOT EXISTS nodes (
    name text PRIMARY KEY,
    host text NOT NULL,
    pid integer NOT NULL,
    role text NOT NULL,
    version text NOT NULL,
    worker bigint,
    debates integer NOT NULL DEFAULT 0,
    streams integer NOT NULL DEFAULT 0,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
);
"""

# The number of a job is the epoch of a debate. Where the queue was lost and the log was not, numbers from 1
# would be earlier than those that the debates have had; the milliseconds of today are later than all of them.
START_JOB_IDS_SQL = """
SELECT setval('procrastinate_jobs_id_seq', (extract(epoch FROM clock_timestamp()) * 1000)::bigint, false)
"""


async def make_tables(connection: AsyncConnection[Any]) -> None:
    """Raises NewerSchema where a later procrastinate has been here."""
    while await _one_step(connection):
        pass


async def _one_step(connection: AsyncConnection[Any]) -> bool:
    """Whether there may be another."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        await connection.execute(OWN_TABLES_SQL)
        if await _value(connection, "SELECT to_regclass('procrastinate_jobs') IS NULL"):
            await connection.execute(SchemaManager.get_schema())
            await connection.execute(START_JOB_IDS_SQL)
        last = await _value(connection, "SELECT max(migration) FROM queue_schema")
        known = _migrations()
        if last is None:
            # Made just now, or by a procrastinate of which we know nothing but that it works with ours.
            await connection.execute("INSERT INTO queue_schema VALUES (%s)", [known[-1].name])
            return False
        if last > known[-1].name:
            raise NewerSchema("This queue was made by a newer procrastinate: upgrade it to work here.")
        later = [path for path in known if path.name > last]
        if later:
            await connection.execute(later[0].read_bytes())
            await connection.execute("UPDATE queue_schema SET migration = %s", [later[0].name])
        return len(later) > 1


def _migrations() -> list[Path]:
    return sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))


async def _value(connection: AsyncConnection[Any], question: str) -> Any:
    row = await (await connection.execute(question.encode())).fetchone()
    return row and row[0]
