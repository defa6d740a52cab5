"""The processes that share one arena, as they report themselves in a table, and the state of the queue."""

from __future__ import annotations

import os
import socket
from datetime import datetime
from secrets import token_hex
from typing import Literal, LiteralString

from msgspec import Struct, convert

from moot import __version__
from moot.cluster.queue import SHARED_QUEUE, TASK, Queue
from moot.engine.placement import ProcessRole, QueueStats, WorkerTimings
from moot.store.contract import StoreFigures
from moot.store.postgres.queries import FIGURES_SQL, as_figures, size_values

FORGET_AFTER = "10 minutes"
"""How long a process that died without unregistering is still shown."""
LATE_SECONDS = 10.0
"""A process reports every two seconds."""


class Node(Struct, frozen=True):
    name: str
    host: str
    pid: int
    role: ProcessRole
    version: str
    started_at: datetime
    seen_seconds: float
    """Seconds since its last report."""
    worker: int | None
    debates: int
    streams: int
    working: bool
    """Its heartbeat is recent, so it can be given debates."""
    dead: bool
    """It ended without unregistering, or is frozen or cut off: it has not reported for `LATE_SECONDS`, or its
    heartbeat is too old, and other workers take over its debates."""


def new_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{token_hex(3)}"


async def report_node(
    queue: Queue, name: str, role: ProcessRole, worker: int | None, debates: int, streams: int
) -> None:
    """Report this process and what it does."""
    await queue.query(
        """
        INSERT INTO nodes (name, host, pid, role, version, worker, debates, streams)
        VALUES (%(name)s, %(host)s, %(pid)s, %(role)s, %(version)s, %(worker)s, %(debates)s, %(streams)s)
        ON CONFLICT (name) DO UPDATE SET seen_at = now(), role = excluded.role, worker = excluded.worker,
            debates = excluded.debates, streams = excluded.streams
        RETURNING name
        """,
        name=name,
        host=socket.gethostname(),
        pid=os.getpid(),
        role=role,
        version=__version__,
        worker=worker,
        debates=debates,
        streams=streams,
    )


async def delete_node(queue: Queue, name: str) -> None:
    await queue.query(
        "DELETE FROM nodes WHERE name = %(name)s OR seen_at < now() - %(forget)s::interval RETURNING name",
        name=name,
        forget=FORGET_AFTER,
    )


async def list_nodes(queue: Queue, stall_seconds: float) -> list[Node]:
    rows = await queue.query(
        """
        SELECT nodes.*, extract(epoch FROM now() - seen_at)::float8 AS seen_seconds,
            coalesce(last_heartbeat > now() - make_interval(secs => %(seconds)s), false) AS working,
            seen_at < now() - make_interval(secs => %(late)s) OR worker IS NOT NULL
                AND coalesce(last_heartbeat <= now() - make_interval(secs => %(seconds)s), true) AS dead
        FROM nodes LEFT JOIN procrastinate_workers ON procrastinate_workers.id = worker
        WHERE seen_at > now() - %(forget)s::interval
        ORDER BY host, started_at
        """,
        seconds=stall_seconds,
        late=LATE_SECONDS,
        forget=FORGET_AFTER,
    )
    return convert(rows, list[Node])


async def has_pending_job(queue: Queue, debate_id: str, stall_seconds: float) -> bool:
    """Whether a worker will run this debate: it has a job, and the shared queue has a live worker."""
    rows = await queue.query(
        """
        SELECT FROM procrastinate_jobs
        WHERE task_name = %(task)s AND lock = %(debate)s AND status IN ('todo', 'doing') AND EXISTS (
            SELECT FROM nodes JOIN procrastinate_workers ON procrastinate_workers.id = worker
            WHERE role IN ('worker', 'both')
              AND last_heartbeat > now() - make_interval(secs => %(seconds)s)
        )
        """,
        task=TASK,
        debate=debate_id,
        seconds=stall_seconds,
    )
    return bool(rows)


QUEUE_SQL: LiteralString = """
    WITH job AS (
        SELECT job.*, last_heartbeat > now() - make_interval(secs => %(seconds)s) AS fresh
        FROM procrastinate_jobs AS job
        LEFT JOIN procrastinate_workers AS worker ON worker.id = job.worker_id
        WHERE task_name = %(task)s
    ), todo AS (
        SELECT (SELECT max(at) FROM procrastinate_events WHERE job_id = job.id) AS since
        FROM job
        WHERE status = 'todo' AND queue_name = %(common)s
          AND lock NOT IN (SELECT lock FROM job AS other WHERE other.status = 'doing')
    )
    SELECT (SELECT count(*) FROM todo) AS jobs,
        (SELECT coalesce(extract(epoch FROM now() - min(since)), 0)::float8 FROM todo) AS oldest_seconds,
        (SELECT count(*) FROM job WHERE status = 'doing' AND fresh) AS running,
        (SELECT count(*) FROM job WHERE status = 'doing' AND fresh IS NOT TRUE) AS stalled
"""
"""A waiting job whose debate is being run already is superfluous and not counted."""
QUEUE_ROWS_SQL: LiteralString = f"""
    SELECT 'queue' AS kind, figure.name, figure.value FROM ({QUEUE_SQL}) AS queue
    CROSS JOIN LATERAL (VALUES
        ('jobs', jobs::float8), ('oldest_seconds', oldest_seconds), ('running', running::float8),
        ('stalled', stalled::float8)
    ) AS figure (name, value)
"""  # noqa: S608 - our own statement


async def queue_stats(queue: Queue, stall_seconds: float) -> QueueStats:
    rows = await queue.query(QUEUE_SQL, task=TASK, common=SHARED_QUEUE, seconds=stall_seconds)
    return convert(rows[0], QueueStats)


async def figures(queue: Queue, stall_seconds: float) -> tuple[StoreFigures, QueueStats]:
    """Those of the log and of the queue, which are in one database, in one query."""
    rows = await queue.query(
        f"{FIGURES_SQL} UNION ALL {QUEUE_ROWS_SQL}",
        task=TASK,
        common=SHARED_QUEUE,
        seconds=stall_seconds,
        **size_values(),
    )
    stats = {row["name"]: row["value"] for row in rows if row["kind"] == "queue"}
    log = as_figures([(row["kind"], row["name"], row["value"]) for row in rows])
    return log, convert(stats, QueueStats, strict=False)


BusStatus = Literal["reachable", "not reachable", "not used"]


class ClusterStatus(Struct, frozen=True):
    nodes: list[Node]
    waiting: QueueStats
    workers: int
    """Workers with a recent heartbeat that take from the shared queue."""
    bus: BusStatus
    unattended: bool
    """Debates wait and there is no worker."""
    bus_error: str = ""
    """Why Redis cannot be reached."""


async def read_status(url: str, bus: BusStatus, timings: WorkerTimings, bus_error: str = "") -> ClusterStatus:
    queue = await Queue.open(url, seconds=timings.statement_seconds)
    try:
        listed = await list_nodes(queue, timings.stall_seconds)
        waiting = await queue_stats(queue, timings.stall_seconds)
    finally:
        await queue.close()
    workers = sum(node.working and node.role in ("worker", "both") for node in listed)
    unattended = not workers and bool(waiting.jobs or waiting.stalled)
    return ClusterStatus(listed, waiting, workers, bus, unattended, bus_error)
