"""Metrics in the format of Prometheus, for the operator's monitoring.

Counters are those of this process. Figures read from the store are the same in every process: the debates,
and how many of them each runner has.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.requests import Request
from starlette.responses import Response

from moot import __version__
from moot.core.errors import StoreError
from moot.core.events import CallCompleted, CallDelta, CallFailed, CallStarted, Recorded
from moot.core.statuses import Status
from moot.engine.arena import Arena
from moot.store.contract import UNCLAIMED
from moot.web.middleware.http_exchange import FinishedExchange
from moot.web.route_docs import api_router, documented
from moot.web.routes.health import is_bus_down

STATUSES: tuple[Status, ...] = get_args(Status)
QUERY_SECONDS = 4.0
"""Prometheus waits about ten seconds for the reply."""
METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "WS"})
MAX_MODELS = 100
MAX_CALLS = 10_000


router = api_router()


@router.get(
    "/metrics",
    **documented(
        "measure",
        tag="Health",
        summary="Metrics for Prometheus",
        says="Counts of this process.",
        query=None,
        media_types=("text/plain",),
    ),
)
async def get_metrics(request: Request) -> Response:
    """Returns metrics of this process in the text format of Prometheus. Where tokens are used, they
    are for the operator and for tokens with the role `monitor`.
    """
    exported: Metrics = request.app.state.metrics
    return Response(await exported.exposition(), media_type="text/plain; version=1.0.0; charset=utf-8")


class Metrics:
    def __init__(self, arena: Arena, viewers: Callable[[], int]) -> None:
        self._arena = arena
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        build = Gauge("moot_build_info", "Always 1", ["version", "python"], registry=registry)
        build.labels(__version__, platform.python_version()).set(1)
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
        self._takeovers = Counter(
            "moot_takeovers", "Debates that this process took over from one that was gone", registry=registry
        )
        self._requests = _RequestMetrics(registry)
        self._calls = _CallMetrics(registry)
        self._events = Counter("moot_events", "Events written by this process", registry=registry)
        self._deltas = Counter("moot_deltas", "Of these, words in flight", registry=registry)
        self._commit = Histogram(
            "moot_commit_seconds",
            "From an event to its being durable",
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
            registry=registry,
        )
        self._taken_over = 0
        arena.store.listen(self._on_events)

    async def exposition(self) -> bytes:
        self._bus_up.set(not await is_bus_down(self._arena))
        self._takeovers.inc(self._arena.takeovers - self._taken_over)
        self._taken_over = self._arena.takeovers
        try:
            async with asyncio.timeout(QUERY_SECONDS):
                await self._look_at_the_log()
        except (StoreError, TimeoutError):
            # The other figures are what an operator needs most just then.
            self._store_up.set(0)
        return generate_latest(self._registry)

    def on_exchange(self, exchange: FinishedExchange) -> None:
        """Called for each request that was answered."""
        self._requests.count(exchange)

    async def _look_at_the_log(self) -> None:
        """One query, however many figures there are: several processes are asked every few seconds."""
        log, waiting = await self._arena.figures()
        for status in STATUSES:
            self._debates.labels(status).set(log.statuses.get(status, 0))
        self._running.clear()
        for runner, debates in log.runners.items():
            if runner != UNCLAIMED:
                self._running.labels(runner).set(debates)
        if waiting is not None:
            self._waiting.set(waiting.jobs)
            self._oldest.set(waiting.oldest_seconds)
            self._stalled.set(waiting.stalled)
        self._size.set(log.bytes)
        self._store_up.set(not self._arena.store.write_error)

    def _on_events(self, debate_id: str, records: Sequence[Recorded] | None) -> None:
        if not records:
            return
        self._events.inc(len(records))
        self._commit.observe(max(0.0, (datetime.now(UTC) - records[0].at).total_seconds()))
        words = 0
        for recorded in records:
            match recorded.event:
                case CallDelta():
                    words += 1
                case CallStarted(call=call, model=model):
                    self._calls.started(debate_id, call, model)
                case CallCompleted() | CallFailed() as ended:
                    self._calls.ended(debate_id, ended)
                case _:
                    pass
        if words:
            self._deltas.inc(words)


class _RequestMetrics:
    """Requests by what they were for, without their paths, of which there is no end."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "moot_http_requests", "Requests answered", ["area", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "moot_http_request_seconds",
            "How long requests took, without streams",
            ["area"],
            buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
            registry=registry,
        )
        self._refusals = Counter(
            "moot_refusals", "Requests refused, by the kind of problem", ["kind"], registry=registry
        )

    def count(self, exchange: FinishedExchange) -> None:
        area = "stream" if exchange.streamed else _area(exchange.path)
        method = exchange.method if exchange.method in METHODS else "other"
        self._requests.labels(area, method, exchange.status).inc()
        if not exchange.streamed:
            self._seconds.labels(area).observe(exchange.seconds)
        if exchange.problem:
            self._refusals.labels(exchange.problem).inc()


def _area(path: str) -> str:
    first = path[1:].partition("/")[0]
    return first if first in ("api", "health", "metrics") else "page"


class _CallMetrics:
    """Calls to models: what they took, used and cost, by provider and model."""

    def __init__(self, registry: CollectorRegistry) -> None:
        by_model = ["provider", "model"]
        self._tokens = Counter("moot_tokens", "Tokens used", ["direction", *by_model], registry=registry)
        self._cost = Counter(
            "moot_cost_usd", "US dollars, where prices are known", by_model, registry=registry
        )
        self._failures = Counter("moot_call_failures", "Calls that failed", ["kind"], registry=registry)
        self._refused = Counter(
            "moot_model_refusals", "Calls in which the model refused to answer", by_model, registry=registry
        )
        self._latency = Histogram(
            "moot_call_seconds",
            "How long calls took",
            buckets=(0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320),
            registry=registry,
        )
        self._under_way: dict[tuple[str, int], str] = {}
        self._models: set[str] = set()

    def started(self, debate_id: str, call: int, model: str) -> None:
        self._under_way[debate_id, call] = model
        if len(self._under_way) > MAX_CALLS:
            # It never ended here: another process has its debate.
            del self._under_way[next(iter(self._under_way))]

    def ended(self, debate_id: str, event: CallCompleted | CallFailed) -> None:
        provider, model = self._labels(self._under_way.pop((debate_id, event.call), ""))
        if isinstance(event, CallFailed):
            self._failures.labels(event.kind).inc()
        else:
            self._latency.observe(event.latency_ms / 1000)
            if event.finish == "refusal":
                self._refused.labels(provider, model).inc()
        self._tokens.labels("input", provider, model).inc(event.usage.input)
        self._tokens.labels("output", provider, model).inc(event.usage.output)
        self._cost.labels(provider, model).inc(float(event.cost or 0))

    def _labels(self, label: str) -> tuple[str, str]:
        """Whoever opens debates can name models without end, so that only the first are told apart."""
        provider, _, model = label.partition("/")
        if not label:
            # Another process began the call, and this one found it unfinished.
            return "unknown", "unknown"
        if label not in self._models and len(self._models) >= MAX_MODELS:
            return "other", "other"
        self._models.add(label)
        return provider, model
