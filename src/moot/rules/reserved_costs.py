"""What a debate that belongs to a series may still cost: it is reserved before the debate goes on.

A debate that is over costs nothing more until a command lets it go on: a failed speech is given again, or it
is judged now, or once more. What it costs then is bounded by its own limit, or by the allowance of the
judging. `engine/bookings.py` says who reserves it.
"""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.events import Event
from moot.core.state import ZERO, Debate
from moot.core.statuses import ENDED
from moot.core.terms import Money
from moot.rules.runner_decisions import EventBatch, wants_runner

ANY_AMOUNT = Money("Infinity")


class NotReserved(Exception):
    """The command lets a debate of a series go on, and its money is not reserved."""

    def __init__(self, most: Money | None) -> None:
        super().__init__()
        self.most = most
        """What the debate may cost in all; None: any amount."""


def is_over(debate: Debate) -> bool:
    """Whether it costs nothing more unless a command lets it go on."""
    return debate.status in ENDED and not wants_runner(debate)


def most_cost(debate: Debate) -> Money | None:
    """What the debate may cost in all, with what it has cost; None without a limit."""
    limit = debate.cost_limit
    return None if limit is None else debate.cost_so_far + max(limit - debate.counted, ZERO)


def check_reserved(debate: Debate, events: Sequence[Event], reserved: Money | None) -> None:
    """Raises NotReserved where these events let a debate of a series go on that was over, and it may cost
    more in all than was `reserved` for that."""
    if debate.series is None or not is_over(debate):
        return
    batch = EventBatch(debate)
    batch.add(*events)
    if is_over(batch.debate):
        return
    most = most_cost(batch.debate)
    if reserved is None or (ANY_AMOUNT if most is None else most) > reserved:
        raise NotReserved(most)
