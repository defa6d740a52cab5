"""Whether and when to try a call again. Pure: the dice come in by the door.

Transient faults are tried three times more, after 1, 2 and 4 seconds and never sooner than the provider asks.
An unusable answer is given one more chance. Where we can ask for something else (the whole history, a shorter
one, no schema), that is done at once, and once for each. Permanent faults are not tried again, nor is what a
content filter has withheld.
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
"""Faults after which the same part asks for something else."""


class FaultCounts(Struct, frozen=True):
    """Faults of one turn so far."""

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
    fault: Fault, tries: FaultCounts, *, base: float, time_left: float, jitter: float
) -> float | None:
    """Seconds to wait before the next attempt; None to give up. `tries` includes this fault."""
    if fault.severity == "permanent" or fault.kind == "filtered":
        return None
    if fault.kind in AMENDABLE_FAULTS:
        return 0.0 if tries.amended.count(fault.kind) == 1 else None
    if tries.transient > RETRIES or tries.unusable > 1:
        return None
    if fault.kind == "off_side":
        return 0.0
    nth = tries.transient + tries.unusable
    backoff = base * 2 ** (nth - 1) * (1 + JITTER * (2 * jitter - 1))
    wait = max(backoff, fault.retry_after or 0.0)
    if wait > MAX_WAIT_SECONDS or wait >= time_left:
        return None
    return wait
