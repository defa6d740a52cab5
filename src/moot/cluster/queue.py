"""The queue in PostgreSQL: who should run which debate. Who may write in its log, the log's epoch says.

A job stands for one debate. Of those that wait there is at most one for it, and of those that run as well.
Its number only ever grows and is the epoch under which the debate is run, so a job is never given out twice:
whoever takes a debate over ends the old job and defers a new one.

procrastinate keeps the jobs, and we use its functions for them, but not its `Worker`: that one stops at the
first heartbeat which fails, and then waits for its running jobs without a heartbeat and without new ones.
Everything raises StoreError and nothing else of procrastinate or psycopg.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from msgspec import Struct
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import get_channel_for_queues
from procrastinate.schema import SchemaManager
from psycopg import AsyncConnection
from psycopg.errors import RaiseException
from psycopg.sql import SQL, Identifier

from moot.core.errors import NewerSchema, StoreError
from moot.store.postgres.connect import (
    CONNECT_SECONDS,
    CancellableConnection,
    Database,
    translate,
    translated,
)

TASK = "moot.run"
SHARED_QUEUE = "moot"
"""From here every worker takes."""
POOL_SIZE = 3
LISTEN_SECONDS = 30.0
"""After so much silence it is asked whether the line still holds."""
LISTEN_AGAIN_SECONDS = 2.0
CONNECT_OPTIONS: dict[str, Any] = {"prepare_threshold": None, "connect_timeout": CONNECT_SECONDS}
"""A pgbouncer may stand in between: nothing is prepared."""

# By procrastinate's own function, which gives one at a time: each would be a question and a commit.
FETCH_SQL: LiteralString = """
    WITH fetched AS MATERIALIZED (
        SELECT procrastinate_fetch_job_v2(ARRAY[%(queue)s]::varchar[], %(worker)s) AS job
        FROM generate_series(1, %(most)s)
    )
    SELECT (job).id, (job).lock FROM fetched WHERE (job).id IS NOT NULL
"""

# By its own functions, too. Where one waits for a debate already, that one will do; where it comes at
# this very moment the statement fails, and whoever asks again finds it.
REPLACE_SQL: LiteralString = """
    WITH held AS (
        SELECT id, lock FROM procrastinate_jobs
        WHERE id = ANY(%(ids)s) AND status = 'doing'
        ORDER BY id FOR UPDATE SKIP LOCKED
    ),
    ended AS MATERIALIZED (SELECT lock, procrastinate_finish_job_v1(id, 'failed', true) FROM held),
    deferred AS MATERIALIZED (
        SELECT procrastinate_defer_jobs_v1(array_agg(
            ROW(%(queue)s, %(task)s, 0, lock, lock, '{}'::jsonb, NULL)::procrastinate_job_to_defer_v1
        ))
        FROM ended
        WHERE NOT EXISTS (
            SELECT FROM procrastinate_jobs AS job WHERE job.queueing_lock = ended.lock AND job.status = 'todo'
        )
        HAVING count(*) > 0
    )
    SELECT lock FROM ended, (SELECT count(*) FROM deferred) AS all_of_them
"""


class DebateJob(Struct, frozen=True):
    """A debate to be run, by the job that says so."""

    id: int
    debate: str


def queue_of(worker: int) -> str:
    """From here only this worker takes."""
    return f"{SHARED_QUEUE}-{worker}"


class Queue:
    @classmethod
    async def open(cls, url: str, *, seconds: float) -> Queue:
        """Makes its tables where there are none. Nothing asked of it takes longer than `seconds`."""
        database = await Database.open(url, pool=1, statement_seconds=seconds)
        try:
            connection = await database.open_connection()
            async with connection:
                with translated():
                    await make_tables(connection)
        finally:
            await database.close()
        queue = cls(url, seconds)
        try:
            async with queue._time_limit():
                await queue._app.open_async()
        except BaseException:
            await queue.close()
            raise
        return queue

    def __init__(self, url: str, seconds: float) -> None:
        self._url = url
        self._seconds = seconds
        self._connector = PsycopgConnector(
            conninfo=url,
            connection_class=CancellableConnection,
            kwargs=CONNECT_OPTIONS,
            configure=_configure,
            min_size=1,
            max_size=POOL_SIZE,
            timeout=seconds,
            reconnect_timeout=seconds,
            name="moot-queue",
        )
        self._app = App(connector=self._connector)
        self._jobs = self._app.job_manager

    async def close(self) -> None:
        await self._app.close_async()

    # --- jobs -----------------------------------------------------------------------------------------

    async def defer(self, debate_id: str, queue: str = SHARED_QUEUE) -> bool:
        """Whether there was not one waiting already."""
        task = self._app.configure_task(TASK, queue=queue, lock=debate_id, queueing_lock=debate_id)
        try:
            async with self._time_limit():
                await task.defer_async()
        except AlreadyEnqueued:
            return False
        return True

    async def fetch(self, worker: int, queue: str, most: int = 1) -> list[DebateJob]:
        """Where this fails, the jobs may be ours all the same: see `taken`."""
        rows = await self.query(FETCH_SQL, queue=queue, worker=worker, most=most)
        return [DebateJob(row["id"], row["lock"]) for row in rows]

    async def finish(self, post: DebateJob) -> bool:
        """Whether it was still there: another may have ended it."""
        try:
            async with self._time_limit():
                await self._jobs.finish_job_by_id_async(post.id, Status.FAILED, delete_job=True)
        except StoreError as error:
            if isinstance(error.__cause__, RaiseException):
                return False
            raise
        return True

    async def replace(self, posts: Sequence[DebateJob], queue: str = SHARED_QUEUE) -> list[str]:
        """End jobs that run and defer others for their debates, all in one statement. Returns the debates;
        those whose job another has ended are left out."""
        rows = await self.query(REPLACE_SQL, ids=[post.id for post in posts], queue=queue, task=TASK)
        return [row["lock"] for row in rows]

    async def withdraw(self, post: DebateJob) -> bool:
        """Take one back that waits; False where somebody has it by now."""
        async with self._time_limit():
            return await self._jobs.cancel_job_by_id_async(post.id, delete_job=True)

    async def taken(self, worker: int) -> list[DebateJob]:
        async with self._time_limit():
            return _debate_jobs(await self._jobs.list_jobs_async(task=TASK, status="doing", worker_id=worker))

    async def waiting(self, queue: str, debate_id: str | None = None) -> list[DebateJob]:
        async with self._time_limit():
            found = await self._jobs.list_jobs_async(
                task=TASK, status="todo", queue=queue, queueing_lock=debate_id
            )
            return _debate_jobs(found)

    async def stalled(self, seconds: float) -> list[DebateJob]:
        """What is run by workers of whom nothing has been heard for so long, or who are gone."""
        async with self._time_limit():
            found = await self._jobs.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=seconds)
        # While the database was away nobody could say that they live: all of them get their time.
        return _debate_jobs(found) if found and not await self._server_just_started(seconds) else []

    async def _server_just_started(self, seconds: float) -> bool:
        rows = await self.query(
            "SELECT now() - pg_postmaster_start_time() < make_interval(secs => %(seconds)s) AS young",
            seconds=seconds,
        )
        return rows[0]["young"]

    async def stranded(self, seconds: float) -> list[DebateJob]:
        """What waits in the queue of a worker who is gone."""
        rows = await self.query(
            """
            SELECT id, lock FROM procrastinate_jobs AS job
            WHERE status = 'todo' AND task_name = %(task)s AND queue_name LIKE %(common)s || '-%%'
              AND NOT EXISTS (
                SELECT FROM procrastinate_workers AS worker
                WHERE job.queue_name = %(common)s || '-' || worker.id
                  AND worker.last_heartbeat > now() - make_interval(secs => %(seconds)s)
              )
            """,
            task=TASK,
            common=SHARED_QUEUE,
            seconds=seconds,
        )
        return [DebateJob(row["id"], row["lock"]) for row in rows]

    async def debates(self) -> set[str]:
        """Those with a job, waiting or running."""
        rows = await self.query(
            """
            SELECT lock FROM procrastinate_jobs
            WHERE status IN ('todo', 'doing') AND task_name = %(task)s
            """,
            task=TASK,
        )
        return {row["lock"] for row in rows}

    # --- workers --------------------------------------------------------------------------------------

    async def register(self) -> int:
        async with self._time_limit():
            return await self._jobs.register_worker()

    async def unregister(self, worker: int) -> None:
        async with self._time_limit():
            await self._jobs.unregister_worker(worker)

    async def prune_workers(self, seconds: float) -> None:
        """Workers of whom nothing has been heard for so long."""
        async with self._time_limit():
            await self._jobs.prune_stalled_workers(seconds)

    async def is_fresh(self, worker: int, seconds: float) -> bool:
        rows = await self.query(
            """
            SELECT FROM procrastinate_workers
            WHERE id = %(worker)s AND last_heartbeat > now() - make_interval(secs => %(seconds)s)
            """,
            worker=worker,
            seconds=seconds,
        )
        return bool(rows)

    # --- asking ---------------------------------------------------------------------------------------

    async def listen(self, news: Callable[[], None], queue: str) -> None:
        """Tell of new jobs at once. Where that does not work, such as behind a pgbouncer, polling does."""
        channel = Identifier(*get_channel_for_queues([queue]))
        while True:
            # Not by procrastinate's own function: its `wait_for` may, in 3.11, swallow a cancellation.
            with suppress(psycopg.Error, OSError):
                async with await CancellableConnection.connect(
                    self._url, autocommit=True, **CONNECT_OPTIONS
                ) as line:
                    await line.execute(SQL("LISTEN {}").format(channel))
                    while True:
                        async for _ in line.notifies(timeout=LISTEN_SECONDS):
                            news()
                        await line.execute("SELECT 1")
            await asyncio.sleep(LISTEN_AGAIN_SECONDS)

    async def query(self, question: LiteralString, **values: Any) -> list[dict[str, Any]]:
        async with self._time_limit():
            return await self._connector.execute_query_all_async(question, **values)

    @asynccontextmanager
    async def _time_limit(self) -> AsyncGenerator[None]:
        with translated():
            try:
                async with asyncio.timeout(self._seconds):
                    yield
            except AlreadyEnqueued:
                raise
            except ConnectorException as error:
                if isinstance(error.__cause__, psycopg.Error):
                    raise error.__cause__ from None
                raise translate(error) from error


async def _configure(connection: AsyncConnection[Any]) -> None:
    # Not where it is opened: procrastinate says so itself of the line on which it listens.
    await connection.set_autocommit(True)


def _debate_job(job: Job | None) -> DebateJob | None:
    return None if job is None or job.id is None or job.lock is None else DebateJob(job.id, job.lock)


def _debate_jobs(jobs: Iterable[Job]) -> list[DebateJob]:
    return [post for post in map(_debate_job, jobs) if post is not None]


# --- the tables ---------------------------------------------------------------------------------------

# procrastinate ships its tables as one file and each later change as a migration, but does not record which
# of them a database has had: we do, by the name of the last one. Each step is a transaction of its own under
# a lock that ends with it, since several processes start at once and a pgbouncer may stand in between.

SCHEMA_LOCK = 0x6D6F6F7471
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
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK])
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
