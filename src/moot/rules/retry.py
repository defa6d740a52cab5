"""Whether and when a runner tries a call again.

Transient faults are retried three times, after 1, 2 and 4 seconds (`RunnerTimings.retry_base`, doubled each
time) and never sooner than the provider asks. An unusable answer gets one more attempt. After a fault that
another request may avoid (with the whole history, a shorter one, no schema), the changed request is sent at
once, once for each kind of fault. Permanent faults and answers withheld by a content filter are not retried.
Pure: the random number for the jitter is an argument.
"""

from __future__ import annotations

from msgspec import Struct

from moot.core.errors import Fault, FaultKind

RETRIES = 3
MAX_WAIT_SECONDS = 60.0
JITTER = 0.1
AMENDABLE_FAULTS: tuple[FaultKind, ...] = (
    "chain_lost", "seal_refused", "summary_refused", "too_long", "schema_refused", "tools_refused",
)  # fmt: skip
"""Faults after which the same job sends a different request."""


class FaultCounts(Struct, frozen=True):
    """Faults of one job so far."""

    transient: int = 0
    unusable: int = 0
    amended: tuple[FaultKind, ...] = ()

    def after(self, fault: Fault) -> FaultCounts:
        if fault.kind in AMENDABLE_FAULTS:
            return FaultCounts(self.transient, self.unusable, (*self.amended, fault.kind))
        if fault.severity == "unusable":
            return FaultCounts(self.transient, self.unusable + 1, self.amended)
        return FaultCounts(self.transient + 1, self.unusable, self.amended)


def wait_before_retry(
    fault: Fault, counts: FaultCounts, *, base: float, time_left: float, jitter: float
) -> float | None:
    """Seconds to wait before the next attempt; None to give up. `counts` includes this fault."""
    if fault.severity == "permanent" or fault.kind == "filtered":
        return None
    if fault.kind in AMENDABLE_FAULTS:
        return 0.0 if counts.amended.count(fault.kind) == 1 else None
    if counts.transient > RETRIES or counts.unusable > 1:
        return None
    if fault.kind == "off_side":
        return 0.0
    failures = counts.transient + counts.unusable
    backoff = base * 2 ** (failures - 1) * (1 + JITTER * (2 * jitter - 1))
    wait = max(backoff, fault.retry_after or 0.0)
    if wait > MAX_WAIT_SECONDS or wait >= time_left:
        return None
    return wait
