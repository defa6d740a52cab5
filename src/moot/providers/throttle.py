"""The door of one service: how many calls may be under way, and when the next may begin.

A hundred debates that run into the same limit must not all run into it again. So a refusal for haste halves
the room at the door, and success widens it again, one call at a time; a wait that the service asks for is
kept by everyone; and a service that has failed ten times in a row is left alone for a while, but for one call
that looks whether it is back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from time import monotonic

from msgspec import Struct

from moot.core.errors import Fault, FaultKind
from moot.providers.shared_throttle import SharedThrottle

MAX_WAIT = 60.0
MAX_FAILURES = 10
FIRST_BACKOFF = 5.0
OVERLOAD_FAULTS: tuple[FaultKind, ...] = ("rate_limited", "overloaded")
OUTAGE_FAULTS: tuple[FaultKind, ...] = (
    "unreachable",
    "timeout",
    "server_error",
    "overloaded",
    "disconnected",
)
REFUSAL_FAULTS: tuple[FaultKind, ...] = ("bad_key", "forbidden", "billing", "tls", "redirected")
"""It is there, and will answer nobody who comes with this key."""


class EndpointLimits(Struct, frozen=True):
    """What the operator allows towards one service."""

    concurrent: int = 32
    per_minute: int | None = None
    written: bool = False
    """The operator has said how many at once: then it holds for all processes together, not for each."""


class Throttle:
    def __init__(
        self,
        allowed: EndpointLimits = EndpointLimits(),  # noqa: B008 - frozen
        clock: Callable[[], float] = monotonic,
        shared: SharedThrottle | None = None,
    ) -> None:
        """`shared`: what other processes do at the same door counts too."""
        self._limits = allowed
        self._clock = clock
        self._shared = shared
        self._current_limit = float(allowed.concurrent)
        self._active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._opens_at = 0.0
        self._reduced_at = 0.0
        self._call_times: deque[float] = deque()
        self._failures = 0
        self._backoff = FIRST_BACKOFF
        self._retry_at = 0.0
        self._last_fault: Fault | None = None
        self.healthy = True
        """The service answered when it was last asked; unasked, it is believed to be there."""

    @property
    def active(self) -> int:
        return self._active

    @property
    def limit(self) -> int:
        return max(1, int(self._current_limit))

    @asynccontextmanager
    async def admit(self) -> AsyncGenerator[None]:
        """First come, first served."""
        await self._wait_for_slot()
        slot = ""
        try:
            if self._shared is not None:
                slot = await self._shared.acquire(lambda: self.limit)
                self._apply_shared_backoff(await self._shared.reported_backoff())
            await self._wait_until_open()
            yield
        finally:
            if self._shared is not None and slot:
                self._shared.release(slot)
            self._active -= 1
            self._wake_next()

    async def close(self) -> None:
        if self._shared is not None:
            await self._shared.close()

    def check(self) -> None:
        """Raise what was last heard of a service that is left alone; let one call through when it is time."""
        if self._failures < MAX_FAILURES or self._last_fault is None:
            return
        now = self._clock()
        if now >= self._retry_at:
            self._retry_at = now + self._backoff
            return
        last = self._last_fault
        raise Fault(
            last.kind, retry_after=self._retry_at - now, billed=False, detail="left alone for a while"
        )

    def succeeded(self) -> None:
        """The service has answered as it should."""
        self._failures, self._backoff, self.healthy = 0, FIRST_BACKOFF, True
        self._current_limit = min(
            float(self._limits.concurrent), self._current_limit + 1 / self._current_limit
        )
        self._wake_next()

    def failed(self, fault: Fault, began: float) -> None:
        """`began` is when the failed call did, on this gate's clock."""
        now = self._clock()
        self.healthy = fault.kind not in (*OUTAGE_FAULTS, *REFUSAL_FAULTS)
        if fault.kind in OVERLOAD_FAULTS and fault.severity == "transient":
            # Calls that began before the room was halved say nothing about the new room.
            news = began >= self._reduced_at
            if news:
                self._current_limit, self._reduced_at = (
                    max(1.0, min(self._current_limit, self._active) / 2),
                    now,
                )
            # Who is told to come back tomorrow gives up; the others need not wait for that.
            if fault.retry_after and fault.retry_after <= MAX_WAIT:
                news = news or now + fault.retry_after > self._opens_at
                self._opens_at = max(self._opens_at, now + fault.retry_after)
            if self._shared is not None and news:
                self._shared.report_backoff(max(0.0, self._opens_at - now))
        if fault.kind in OUTAGE_FAULTS and fault.severity == "transient":
            self._failures, self._last_fault = self._failures + 1, fault
            if self._failures >= MAX_FAILURES:
                self._retry_at = now + self._backoff
                self._backoff = min(2 * self._backoff, MAX_WAIT)
        elif fault.kind not in OVERLOAD_FAULTS:
            self._failures = 0

    def now(self) -> float:
        return self._clock()

    def _apply_shared_backoff(self, wait: float | None) -> None:
        """Another process was refused for haste, and is to wait for so long."""
        if wait is None:
            return
        now = self._clock()
        self._current_limit, self._reduced_at = max(1.0, self._current_limit / 2), now
        self._opens_at = max(self._opens_at, now + min(wait, MAX_WAIT))

    async def _wait_for_slot(self) -> None:
        if not self._waiting and self._active < self.limit:
            self._active += 1
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._active -= 1
                self._wake_next()
            else:
                with suppress(ValueError):  # it may have been passed over already
                    self._waiting.remove(future)
            raise

    async def _wait_until_open(self) -> None:
        while (wait := self._seconds_to_wait()) > 0:  # noqa: ASYNC110 - the wait is known, nothing tells of its end
            await asyncio.sleep(wait)
        self._call_times.append(self._clock())

    def _seconds_to_wait(self) -> float:
        now = self._clock()
        wait = self._opens_at - now
        if self._limits.per_minute is not None:
            while self._call_times and self._call_times[0] <= now - 60:
                self._call_times.popleft()
            if len(self._call_times) >= self._limits.per_minute:
                wait = max(wait, self._call_times[0] + 60 - now)
        else:
            self._call_times.clear()
        return wait

    def _wake_next(self) -> None:
        while self._waiting and self._active < self.limit:
            future = self._waiting.popleft()
            if not future.done():
                self._active += 1
                future.set_result(None)
