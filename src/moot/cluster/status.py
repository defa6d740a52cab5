"""A look at all who hold the arena together, from outside."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from moot.cluster import nodes
from moot.cluster.nodes import Node
from moot.cluster.queue import Queue
from moot.engine.placement import QueueStats, WorkerTimings

BusStatus = Literal["reachable", "not reachable", "not used"]


class ClusterStatus(Struct, frozen=True):
    nodes: list[Node]
    waiting: QueueStats
    workers: int
    """Those that have said lately that they live, and take from the common queue."""
    bus: BusStatus
    unattended: bool
    """Debates wait, and there is nobody to run them."""


async def read_status(url: str, bus: BusStatus, rhythm: WorkerTimings) -> ClusterStatus:
    queue = await Queue.open(url, seconds=rhythm.statement_seconds)
    try:
        there = await nodes.list_nodes(queue, rhythm.stall_seconds)
        waiting = await nodes.queue_stats(queue, rhythm.stall_seconds)
    finally:
        await queue.close()
    workers = sum(node.working and node.role in ("worker", "both") for node in there)
    unattended = not workers and bool(waiting.jobs or waiting.stalled)
    return ClusterStatus(there, waiting, workers, bus, unattended)
