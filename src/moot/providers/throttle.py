"""Limits the calls to one service: how many at once, and when the next may begin.

A hundred debates that hit the same rate limit must not all hit it again. A refusal for too many calls halves
the limit, and success raises it again, one call at a time. A pause that the service demands holds for all
calls. A service that has failed ten times in a row is not called, except for one call every five seconds that
tests whether it works again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from time import monotonic

from msgspec import Struct

from moot.core.errors import Fault, FaultKind
from moot.providers.shared_throttle import SharedThrottle

MAX_WAIT = 60.0
MAX_FAILURES = 10
TEST_SECONDS = 5.0
"""How long a service that is down is left alone between two calls that test it. However long it was down, a
new debate can try it this soon."""
OVERLOAD_FAULTS: tuple[FaultKind, ...] = ("rate_limited", "overloaded")
OUTAGE_FAULTS: tuple[FaultKind, ...] = (
    "unreachable",
    "timeout",
    "server_error",
    "overloaded",
    "disconnected",
)
REFUSAL_FAULTS: tuple[FaultKind, ...] = ("bad_key", "forbidden", "billing", "tls", "redirected")
"""The service works, but refuses every call with this key."""


class EndpointLimits(Struct, frozen=True):
    """The operator's limits for one service."""

    concurrent: int = 32
    per_minute: int | None = None
    written: bool = False
    """`concurrent` was set by the operator: it holds for all processes together, not for each."""


class Throttle:
    def __init__(
        self,
        allowed: EndpointLimits = EndpointLimits(),  # noqa: B008 - frozen
        clock: Callable[[], float] = monotonic,
        shared: SharedThrottle | None = None,
    ) -> None:
        """`shared` counts the calls of other processes to the same service too."""
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
        self._retry_at = 0.0
        self._last_fault: Fault | None = None
        self.healthy = True
        """Whether the last call was answered; true before the first call."""

    @property
    def active(self) -> int:
        return self._active

    @property
    def limit(self) -> int:
        return max(1, int(self._current_limit))

    @asynccontextmanager
    async def admit(self) -> AsyncGenerator[None]:
        """Waits until a call may begin, in the order of arrival; held while it lasts."""
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
            self._release()

    def admit_at_once(self) -> ExitStack | None:
        """The same for a call that need not wait; None where it would, or other processes must be asked."""
        is_free = self._shared is None and not self._waiting and self._active < self.limit
        if not is_free or self._seconds_to_wait() > 0:
            return None
        self._active += 1
        self._call_times.append(self._clock())
        place = ExitStack()
        place.callback(self._release)
        return place

    async def close(self) -> None:
        if self._shared is not None:
            await self._shared.close()

    @property
    def down_for(self) -> float:
        """Seconds until a service that is known to be down is called again; 0 where a call may be tried."""
        if self._failures < MAX_FAILURES or self._last_fault is None:
            return 0.0
        return max(0.0, self._retry_at - self._clock())

    def check(self) -> None:
        """Raises the last fault of a service that is not called for now; lets a test call through in time."""
        if self._failures < MAX_FAILURES or self._last_fault is None:
            return
        if not (seconds := self.down_for):
            self._retry_at = self._clock() + TEST_SECONDS
            return
        last = self._last_fault
        raise Fault(
            last.kind,
            retry_after=seconds,
            billed=False,
            detail="left alone for a while",
            message=str(last),
        )

    def succeeded(self) -> None:
        """Record that the service has answered."""
        self._failures, self.healthy = 0, True
        self._current_limit = min(
            float(self._limits.concurrent), self._current_limit + 1 / self._current_limit
        )
        self._wake_next()

    def failed(self, fault: Fault, began: float) -> None:
        """Record a failure. `began` is when the call did, by the clock of this throttle."""
        now = self._clock()
        self.healthy = fault.kind not in (*OUTAGE_FAULTS, *REFUSAL_FAULTS)
        if fault.kind in OVERLOAD_FAULTS and fault.severity == "transient":
            # Calls that began before the last reduction say nothing about the new limit.
            is_news = began >= self._reduced_at
            if is_news:
                self._current_limit = max(1.0, min(self._current_limit, self._active) / 2)
                self._reduced_at = now
            # A call that is to wait for hours fails; the others need not wait for that.
            if fault.retry_after and fault.retry_after <= MAX_WAIT:
                is_news = is_news or now + fault.retry_after > self._opens_at
                self._opens_at = max(self._opens_at, now + fault.retry_after)
            if self._shared is not None and is_news:
                self._shared.report_backoff(max(0.0, self._opens_at - now))
        if fault.kind in OUTAGE_FAULTS and fault.severity == "transient":
            self._failures, self._last_fault = self._failures + 1, fault
            if self._failures >= MAX_FAILURES:
                self._retry_at = now + TEST_SECONDS
        elif fault.kind not in OVERLOAD_FAULTS:
            self._failures = 0

    def now(self) -> float:
        return self._clock()

    def _apply_shared_backoff(self, wait: float | None) -> None:
        """Another process was refused for too many calls, and has to wait this long."""
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
                with suppress(ValueError):  # it may have been removed already
                    self._waiting.remove(future)
            raise

    async def _wait_until_open(self) -> None:
        while (wait := self._seconds_to_wait()) > 0:  # noqa: ASYNC110 - the end of the wait is known, there is no event for it
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

    def _release(self) -> None:
        self._active -= 1
        self._wake_next()

    def _wake_next(self) -> None:
        while self._waiting and self._active < self.limit:
            future = self._waiting.popleft()
            if not future.done():
                self._active += 1
                future.set_result(None)
