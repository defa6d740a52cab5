"""The tables of the queue: procrastinate's, the list of nodes, and the function of a heartbeat.

procrastinate ships its tables as one file and each later change as a migration, but does not record which
of them a database has had: we do, by the name of the last one. Each step is a transaction of its own under a
lock that ends with it, since several processes start at once and a pgbouncer may stand in between.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from procrastinate.schema import SchemaManager
from psycopg import AsyncConnection

from moot.core.errors import NewerSchema

SCHEMA_LOCK = 0x6D6F6F7471
"""An advisory lock for making these tables: the bytes of `mootq`."""

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

# procrastinate's own function does not say whether there was such a worker; all is NULL where there was none.
# A function, since the server keeps its plans: planning this once a second would cost more than running it. A
# later version gets another name: processes of the previous one still call theirs.
HEARTBEAT_FUNCTION_SQL = """
CREATE OR REPLACE FUNCTION worker_heartbeat_2(
    worker bigint, task text, own_queue text, common_queue text, stall_seconds double precision,
    changed_since interval, active_statuses text[],
    OUT waiting boolean, OUT waiting_elsewhere boolean, OUT assigned bigint, OUT stalled boolean,
    OUT unclaimed boolean
)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = worker;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    waiting := EXISTS (
        SELECT FROM procrastinate_jobs WHERE status = 'todo' AND task_name = task AND queue_name = own_queue
    );
    waiting_elsewhere := EXISTS (
        SELECT FROM procrastinate_jobs
        WHERE status = 'todo' AND task_name = task AND queue_name NOT IN (own_queue, common_queue)
    );
    assigned := (SELECT count(*) FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = worker);
    stalled := EXISTS (
        SELECT FROM procrastinate_workers WHERE last_heartbeat < now() - make_interval(secs => stall_seconds)
    ) OR EXISTS (SELECT FROM procrastinate_jobs WHERE status = 'doing' AND worker_id IS NULL);
    -- The log may be elsewhere.
    IF changed_since IS NOT NULL AND to_regclass('heads') IS NULL THEN
        unclaimed := true;
    ELSIF changed_since IS NOT NULL THEN
        unclaimed := EXISTS (
            SELECT FROM heads WHERE runner <> '' AND NOT EXISTS (
                SELECT FROM procrastinate_jobs WHERE lock = debate_id AND status IN ('todo', 'doing')
            )
        ) OR EXISTS (
            SELECT FROM debates
            WHERE debates.status = ANY(active_statuses) AND turned_at > now() - changed_since AND NOT EXISTS (
                SELECT FROM procrastinate_jobs AS job
                WHERE lock = debates.id AND job.status IN ('todo', 'doing')
            )
        );
    END IF;
END
$$
"""

# The number of a job is the epoch of a debate. Where the queue was lost and the log was not, numbers from 1
# would be earlier than those that the debates have had; the milliseconds of today are later than all of them.
START_JOB_IDS_SQL = """
SELECT setval('procrastinate_jobs_id_seq', (extract(epoch FROM clock_timestamp()) * 1000)::bigint, false)
"""


async def make_tables(connection: AsyncConnection[Any]) -> None:
    """Create or migrate the tables. Raises NewerSchema where a later procrastinate made them."""
    while await _one_step(connection):
        pass


async def _one_step(connection: AsyncConnection[Any]) -> bool:
    """Whether there may be another step."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK])
        await connection.execute(OWN_TABLES_SQL)
        if await _value(connection, "SELECT to_regclass('procrastinate_jobs') IS NULL"):
            await connection.execute(SchemaManager.get_schema())
            await connection.execute(START_JOB_IDS_SQL)
        last = await _value(connection, "SELECT max(migration) FROM queue_schema")
        known = _migrations()
        await connection.execute(HEARTBEAT_FUNCTION_SQL)
        if last is None:
            # Made just now, or by a procrastinate whose version was not recorded but works with ours.
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
