"""What the operator's own monitoring reads: counts of this process, in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from moot.arena import Arena
from moot.events import CallCompleted, CallDelta, CallFailed, Recorded
from moot.terms import Status
from moot.web.streams import Clock

STATUSES: tuple[Status, ...] = get_args(Status)


class Metrics:
    def __init__(self, arena: Arena, clock: Clock) -> None:
        self._arena = arena
        self._clock = clock
        self._registry = registry = CollectorRegistry()
        self._debates = Gauge("moot_debates", "Debates in the log", ["status"], registry=registry)
        self._viewers = Gauge("moot_viewers", "Open streams and sockets", registry=registry)
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
        arena.store.listen(self._heard)

    async def page(self) -> bytes:
        for status in STATUSES:
            total = (await self._arena.list(statuses=(status,), limit=1)).total
            self._debates.labels(status).set(total)
        self._viewers.set(self._clock.viewers)
        self._size.set(await self._arena.store.size())
        return generate_latest(self._registry)

    def _heard(self, _debate_id: str, records: Sequence[Recorded] | None) -> None:
        if not records:
            return
        self._events.inc(len(records))
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
