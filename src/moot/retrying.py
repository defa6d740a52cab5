"""Whether and when to try a call again. Pure: the dice come in by the door.

Transient faults are tried three times more, after 1, 2 and 4 seconds and never sooner than the provider asks.
An unusable answer is given one more chance. Permanent faults are not tried again, nor is what a content
filter has withheld.
"""

from __future__ import annotations

from msgspec import Struct

from moot.errors import Fault

RETRIES = 3
LONGEST_WAIT = 60.0
JITTER = 0.1
AT_ONCE = ("off_side", "chain_lost")


class Tries(Struct, frozen=True):
    """Faults of one turn so far."""

    transient: int = 0
    unusable: int = 0

    def after(self, fault: Fault) -> Tries:
        if fault.severity == "unusable":
            return Tries(self.transient, self.unusable + 1)
        return Tries(self.transient + 1, self.unusable)


def wait_before_retry(
    fault: Fault, tries: Tries, *, base: float, time_left: float, dice: float
) -> float | None:
    """Seconds to wait before the next attempt; None to give up. `tries` includes this fault."""
    if fault.severity == "permanent" or fault.kind == "filtered":
        return None
    if tries.transient > RETRIES or tries.unusable > 1:
        return None
    if fault.kind in AT_ONCE:
        return 0.0
    nth = tries.transient + tries.unusable
    backoff = base * 2 ** (nth - 1) * (1 + JITTER * (2 * dice - 1))
    wait = max(backoff, fault.retry_after or 0.0)
    if wait > LONGEST_WAIT or wait >= time_left:
        return None
    return wait
