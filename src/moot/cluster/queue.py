"""The queue in PostgreSQL says who should run which debate; the epoch in the log says who may write.

A job stands for one debate, which has at most one job that waits and one that runs. The number of a job is
the epoch under which the debate is run. Numbers only grow, so a job is never given out twice: to take a
debate over, a worker ends the old job and defers a new one.

procrastinate keeps the jobs and we use its functions, but not its `Worker`: that one stops at the first
heartbeat that fails, and then waits for its running jobs without a heartbeat and without fetching new ones.
All methods raise StoreError and no other error of procrastinate or psycopg.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, LiteralString

import psycopg
from msgspec import Struct
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job
from procrastinate.manager import get_channel_for_queues
from psycopg import AsyncConnection
from psycopg.errors import UniqueViolation
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

from moot.cluster.queue_tables import make_tables
from moot.core.errors import StoreError
from moot.store.postgres.connect import (
    CONNECT_SECONDS,
    CancellableConnection,
    Connection,
    Database,
    application_name,
    retry_lost,
    translate,
    translated,
)

TASK = "moot.run"
SHARED_QUEUE = "moot"
"""Every worker takes jobs from this queue."""
POOL_SIZE = 3
"""Connections of a process to the queue: one for procrastinate's own functions, the others for ours."""
LISTEN_SECONDS = 30.0
"""Seconds of silence after which the connection is checked."""
LISTEN_AGAIN_SECONDS = 2.0

# procrastinate's own function returns one job; this fetches several in one round trip and one commit.
FETCH_SQL: LiteralString = """
    WITH fetched AS MATERIALIZED (
        SELECT procrastinate_fetch_job_v2(ARRAY[%(queue)s]::varchar[], %(worker)s) AS job
        FROM generate_series(1, %(most)s)
    )
    SELECT (job).id, (job).lock FROM fetched WHERE (job).id IS NOT NULL
"""

# With procrastinate's own functions, too. A debate that has a waiting job already gets no second one; where
# another process adds one at the same moment the statement fails, and the next attempt finds it.
DEFER_SQL: LiteralString = """
    WITH wanted AS MATERIALIZED (
        SELECT lock FROM unnest(%(debates)s::text[]) AS debate (lock)
        WHERE NOT EXISTS (
            SELECT FROM procrastinate_jobs AS job WHERE queueing_lock = debate.lock AND status = 'todo'
        )
    ),
    deferred AS MATERIALIZED (
        SELECT procrastinate_defer_jobs_v1(array_agg(
            ROW(%(queue)s, %(task)s, 0, lock, lock, '{}'::jsonb, NULL)::procrastinate_job_to_defer_v1
        ))
        FROM wanted HAVING count(*) > 0
    )
    SELECT lock FROM wanted, (SELECT count(*) FROM deferred) AS all_of_them
"""

# A job that another process is ending is waited for, and then is not there.
FINISH_SQL: LiteralString = """
    WITH held AS MATERIALIZED (
        SELECT id FROM procrastinate_jobs WHERE id = ANY(%(ids)s) AND status IN ('todo', 'doing')
        ORDER BY id FOR UPDATE
    ),
    ended AS MATERIALIZED (SELECT procrastinate_finish_job_v1(id, 'failed', true) FROM held)
    SELECT (SELECT count(*) FROM ended) AS ended, EXISTS (
        SELECT FROM procrastinate_jobs
        WHERE status = 'todo' AND task_name = %(task)s AND queue_name = %(queue)s
    ) AS waiting
"""

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
    """The job to run a debate."""

    id: int
    debate: str


class FinishedJobs(Struct, frozen=True):
    ended: int
    """How many were ended; the others another process has ended."""
    waiting: bool
    """There are jobs in the queue."""


def queue_of(worker: int) -> str:
    """The queue from which only this worker takes jobs."""
    return f"{SHARED_QUEUE}-{worker}"


class Queue:
    @classmethod
    async def open(cls, url: str, *, seconds: float) -> Queue:
        """Creates its tables where they are missing. No query takes longer than `seconds`."""
        database = await Database.open(url, pool=POOL_SIZE, statement_seconds=seconds)
        queue = cls(url, seconds, database)
        try:
            connection = await database.open_connection()
            async with connection:
                with translated():
                    await make_tables(connection)
            async with queue._time_limit():
                await queue._app.open_async()
        except BaseException:
            await queue.close()
            raise
        return queue

    def __init__(self, url: str, seconds: float, database: Database) -> None:
        self._url = url
        self._seconds = seconds
        self._database = database
        """For our own statements: procrastinate's pool sends the server an empty one before each."""
        self._connector = PsycopgConnector(
            conninfo=url,
            connection_class=CancellableConnection,
            kwargs=_connect_options(),
            configure=_configure,
            min_size=0,
            max_size=1,
            timeout=seconds,
            reconnect_timeout=seconds,
            name="moot-queue",
        )
        self._app = App(connector=self._connector)
        # Callers wait here, not in the pool: a time limit that ends while the pool hands a connection over
        # may lose it.
        self._free = asyncio.Semaphore(1)
        self._jobs = self._app.job_manager

    async def close(self) -> None:
        await self._database.close()
        await self._app.close_async()

    # --- jobs -----------------------------------------------------------------------------------------

    async def defer(self, debate_id: str, queue: str = SHARED_QUEUE) -> bool:
        """Add a job. False where one is waiting already."""
        return bool(await self.defer_all([debate_id], queue))

    async def defer_all(self, debates: Sequence[str], queue: str = SHARED_QUEUE) -> list[str]:
        """Add jobs in one statement. Returns the debates for which none was waiting already."""
        values: dict[str, Any] = {"debates": list(debates), "queue": queue, "task": TASK}
        try:
            rows = await self.query(DEFER_SQL, **values)
        except StoreError as error:
            if not isinstance(error.__cause__, UniqueViolation):
                raise
            rows = await self.query(DEFER_SQL, **values)
        return [row["lock"] for row in rows]

    async def fetch(self, worker: int, queue: str, most: int = 1) -> list[DebateJob]:
        """Take jobs. If it fails they may be assigned to this worker all the same: see `taken`."""
        async with self._database.connection() as connection:
            rows = await _fetch_dicts(connection, FETCH_SQL, {"queue": queue, "worker": worker, "most": most})
        return [DebateJob(row["id"], row["lock"]) for row in rows]

    async def finish(self, jobs: Sequence[DebateJob], queue: str = SHARED_QUEUE) -> FinishedJobs:
        """End jobs in one statement, and say whether others are waiting in the queue: one for the same debate
        cannot be fetched before."""
        [row] = await self.query(FINISH_SQL, ids=[job.id for job in jobs], queue=queue, task=TASK)
        return FinishedJobs(**row)

    async def replace(self, jobs: Sequence[DebateJob], queue: str = SHARED_QUEUE) -> list[str]:
        """End running jobs and defer new ones for their debates, in one statement. Returns the debates,
        without those whose job another process has ended."""
        rows = await self.query(REPLACE_SQL, ids=[job.id for job in jobs], queue=queue, task=TASK)
        return [row["lock"] for row in rows]

    async def withdraw(self, job: DebateJob) -> bool:
        """Remove a waiting job. False where a worker has fetched it meanwhile."""
        async with self._time_limit():
            return await self._jobs.cancel_job_by_id_async(job.id, delete_job=True)

    async def taken(self, worker: int) -> list[DebateJob]:
        async with self._time_limit():
            return _debate_jobs(await self._jobs.list_jobs_async(task=TASK, status="doing", worker_id=worker))

    async def waiting(self, queue: str, debate_id: str | None = None) -> list[DebateJob]:
        async with self._time_limit():
            jobs = await self._jobs.list_jobs_async(
                task=TASK, status="todo", queue=queue, queueing_lock=debate_id
            )
            return _debate_jobs(jobs)

    async def stalled(self, seconds: float) -> list[DebateJob]:
        """Jobs of workers whose last heartbeat is older than this, or that are gone."""
        async with self._time_limit():
            jobs = await self._jobs.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=seconds)
        # While the database was away no worker could send a heartbeat: all of them get time to do so.
        return _debate_jobs(jobs) if jobs and not await self._server_just_started(seconds) else []

    async def _server_just_started(self, seconds: float) -> bool:
        rows = await self.query(
            "SELECT now() - pg_postmaster_start_time() < make_interval(secs => %(seconds)s) AS young",
            seconds=seconds,
        )
        return rows[0]["young"]

    async def stranded(self, seconds: float) -> list[DebateJob]:
        """Waiting jobs in the own queue of a worker that is gone."""
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
        """Debates that have a job, waiting or running."""
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
        """Remove workers whose last heartbeat is older than this."""
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
        """Call `news` for new jobs at once. Behind a pgbouncer that does not work; polling does."""
        channel = Identifier(*get_channel_for_queues([queue]))
        while True:
            # procrastinate's own function uses `wait_for`, which in 3.11 may swallow a cancellation.
            with suppress(psycopg.Error, OSError):
                async with await CancellableConnection.connect(
                    self._url, autocommit=True, **_connect_options()
                ) as connection:
                    await connection.execute(SQL("LISTEN {}").format(channel))
                    while True:
                        async for _ in connection.notifies(timeout=LISTEN_SECONDS):
                            news()
                        await connection.execute("SELECT 1")
            await asyncio.sleep(LISTEN_AGAIN_SECONDS)

    async def query(self, question: LiteralString, **values: Any) -> list[dict[str, Any]]:
        """Only for statements that may be run twice."""

        async def attempt(_left: float) -> list[dict[str, Any]]:
            async with self._database.connection() as connection:
                return await _fetch_dicts(connection, question, values)

        with translated():
            async with asyncio.timeout(self._seconds):
                return await retry_lost(attempt, self._seconds)

    @asynccontextmanager
    async def _time_limit(self) -> AsyncGenerator[None]:
        with translated():
            try:
                async with asyncio.timeout(self._seconds), self._free:
                    yield
            except ConnectorException as error:
                if isinstance(error.__cause__, psycopg.Error):
                    raise error.__cause__ from None
                raise translate(error) from error


async def _fetch_dicts(
    connection: Connection, question: LiteralString, values: dict[str, Any]
) -> list[dict[str, Any]]:
    async with connection.cursor(binary=True, row_factory=dict_row) as cursor:
        await cursor.execute(question, values)
        return await cursor.fetchall()


async def _configure(connection: AsyncConnection[Any]) -> None:
    # Not as an option of the connection: procrastinate passes its own for the one on which it listens.
    await connection.set_autocommit(True)


def _debate_job(job: Job | None) -> DebateJob | None:
    return None if job is None or job.id is None or job.lock is None else DebateJob(job.id, job.lock)


def _debate_jobs(jobs: Iterable[Job]) -> list[DebateJob]:
    return [job for job in map(_debate_job, jobs) if job is not None]


def _connect_options() -> dict[str, Any]:
    """Nothing is prepared, since a pgbouncer may stand in between."""
    return {
        "prepare_threshold": None,
        "connect_timeout": CONNECT_SECONDS,
        "fallback_application_name": application_name(),
    }
