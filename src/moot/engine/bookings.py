"""The money of debates of a series, whose budget an extension keeps: what the arena asks of it.

A command that lets such a debate go on after it was over is recorded only with its money reserved, at the
epoch that the debate had before (`rules/reserved_costs.py`).
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from moot.core.errors import OverBudget
from moot.core.statuses import Status
from moot.core.terms import Money
from moot.extension import loaded
from moot.rules.reserved_costs import ANY_AMOUNT
from moot.store.contract import Store


class Reservation(Struct, frozen=True):
    """What a debate may cost in all, if the command that lets it go on is recorded at this epoch."""

    most: Money = ANY_AMOUNT
    epoch: int | None = None
    """None for a debate whose budget nobody keeps: then it is recorded at any."""


class Bookings(Protocol):
    async def reserve(self, debate_id: str, status: Status, most: Money | None, /) -> Reservation:
        """Reserve what a debate that is over may cost in all, before it goes on. Raises OverBudget.

        `most` is None where it has no limit; then no budget can hold.
        """
        ...

    async def settle(self, debate_id: str, /) -> None:
        """Book what a debate has cost that has gone on and is over; otherwise do nothing."""
        ...

    async def settle_deleted(self, debate_id: str, /) -> None:
        """The same before a debate is deleted, with the most that it may have cost."""
        ...


class NoBookings:
    """Nobody keeps budgets: debates that have one do not go on, so that none is exceeded."""

    async def reserve(self, _debate_id: str, status: Status, _most: Money | None) -> Reservation:
        raise OverBudget(
            "This debate belongs to an experiment, and the extension that keeps its budget is not loaded.",
            status,
        )

    async def settle(self, _debate_id: str) -> None:
        pass

    async def settle_deleted(self, _debate_id: str) -> None:
        pass


def bookings_of(store: Store) -> Bookings:
    """Those of the extension that keeps budgets."""
    made = (make(store) for _, make in loaded().of(lambda extension: extension.bookings))
    return next(made, NoBookings())
