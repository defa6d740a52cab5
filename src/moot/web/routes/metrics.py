"""Metrics in the format of Prometheus, for the operator's monitoring.

Counters are those of this process. Figures read from the store are the same in every process: the debates,
and how many of them each runner has.
"""

from __future__ import annotations

import asyncio
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.requests import Request
from starlette.responses import Response

from moot.core.errors import StoreError
from moot.core.events import CallCompleted, CallDelta, CallFailed, Recorded
from moot.core.terms import Status
from moot.engine.arena import Arena
from moot.store.contract import UNCLAIMED
from moot.web.route_docs import api_router, documented
from moot.web.routes.health import is_bus_down

STATUSES: tuple[Status, ...] = get_args(Status)
QUERY_SECONDS = 4.0
"""Prometheus waits about ten seconds for the reply."""


router = api_router()


@router.get(
    "/metrics",
    **documented(
        "operate",
        tag="Health",
        summary="Metrics for Prometheus",
        says="Counts of this process.",
        media_types=("text/plain",),
    ),
)
async def metrics(request: Request) -> Response:
    """Returns metrics of this process in the text format of Prometheus. Where tokens are used, only the
    operator may read them.
    """
    exported: Metrics = request.app.state.metrics
    return Response(await exported.exposition(), media_type="text/plain; version=1.0.0; charset=utf-8")


class Metrics:
    def __init__(self, arena: Arena, viewers: Callable[[], int]) -> None:
        self._arena = arena
        self._registry = registry = CollectorRegistry()
        self._debates = Gauge("moot_debates", "Debates in the log", ["status"], registry=registry)
        self._running = Gauge(
            "moot_debates_running", "Debates that this runner has", ["runner"], registry=registry
        )
        self._store_up = Gauge("moot_store_up", "Whether the log can be read and written", registry=registry)
        self._bus_up = Gauge("moot_bus_up", "Whether Redis answers; 1 where there is none", registry=registry)
        self._waiting = Gauge("moot_jobs_waiting", "Debates that wait for a worker", registry=registry)
        self._oldest = Gauge("moot_oldest_wait_seconds", "How long the first has waited", registry=registry)
        self._stalled = Gauge("moot_jobs_stalled", "Debates of workers that fell silent", registry=registry)
        Gauge("moot_viewers", "Open streams and sockets", registry=registry).set_function(viewers)
        self._size = Gauge("moot_log_bytes", "Bytes that the log takes", registry=registry)
        self._events = Counter("moot_events", "Events written by this process", registry=registry)
        self._deltas = Counter("moot_deltas", "Of these, words in flight", registry=registry)
        self._tokens = Counter("moot_tokens", "Tokens used", ["direction"], registry=registry)
        self._failures = Counter("moot_call_failures", "Calls that failed", ["kind"], registry=registry)
        self._latency = Histogram(
            "moot_call_seconds",
            "How long calls took",
            buckets=(0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320),
            registry=registry,
        )
        self._commit = Histogram(
            "moot_commit_seconds",
            "From an event to its being durable",
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
            registry=registry,
        )
        arena.store.listen(self._on_events)

    async def exposition(self) -> bytes:
        self._bus_up.set(not await is_bus_down(self._arena))
        try:
            async with asyncio.timeout(QUERY_SECONDS):
                await self._look_at_the_log()
        except (StoreError, TimeoutError):
            # The other figures are what an operator needs most just then.
            self._store_up.set(0)
        return generate_latest(self._registry)

    async def _look_at_the_log(self) -> None:
        for status in STATUSES:
            total = (await self._arena.list(statuses=(status,), limit=1)).total
            self._debates.labels(status).set(total)
        names = [one.runner for one in await self._arena.store.claimed_debates()]
        held = Tally(name for name in names if name != UNCLAIMED)
        self._running.clear()
        for runner, debates in held.items():
            self._running.labels(runner).set(debates)
        if waiting := await self._arena.queue_stats():
            self._waiting.set(waiting.jobs)
            self._oldest.set(waiting.oldest_seconds)
            self._stalled.set(waiting.stalled)
        self._size.set(await self._arena.store.size())
        self._store_up.set(not self._arena.store.write_error)

    def _on_events(self, _debate_id: str, records: Sequence[Recorded] | None) -> None:
        if not records:
            return
        self._events.inc(len(records))
        self._commit.observe(max(0.0, (datetime.now(UTC) - records[0].at).total_seconds()))
        words = 0
        for recorded in records:
            match recorded.event:
                case CallDelta():
                    words += 1
                case CallCompleted(usage=usage, latency_ms=latency):
                    self._latency.observe(latency / 1000)
                    self._tokens.labels("input").inc(usage.input)
                    self._tokens.labels("output").inc(usage.output)
                case CallFailed(kind=kind):
                    self._failures.labels(kind).inc()
                case _:
                    pass
        if words:
            self._deltas.inc(words)
