"""The figures of many debates: who wins, against whom, what it cost. `statistics` counts them."""

from __future__ import annotations

from math import sqrt

from msgspec import Struct

from moot.core.terms import Money
from moot.judging.audience_votes import ConfidenceInterval

Z = 1.96
"""Of the normal distribution, 95 % lie within so many deviations."""


def ratio(part: int, total: int) -> float | None:
    return round(part / total, 3) if total else None


def wilson_interval(part: int, total: int) -> ConfidenceInterval | None:
    """Wilson's score interval of a share: honest also for a few, and for none or all of them."""
    if not total:
        return None
    rate = part / total
    middle = rate + Z * Z / (2 * total)
    reach = Z * sqrt(rate * (1 - rate) / total + Z * Z / (4 * total * total))
    scale = 1 + Z * Z / total
    return _within((middle - reach) / scale, (middle + reach) / scale)


def mean_interval(total: float, squares: float, count: int) -> ConfidenceInterval | None:
    """Of the mean of `count` shares, with their sum and that of their squares. None for a single one."""
    if count < 2:
        return None
    mean = total / count
    spread = sqrt(max(0.0, (squares - count * mean * mean) / (count - 1)))
    return _within(mean - Z * spread / sqrt(count), mean + Z * spread / sqrt(count))


def _within(low: float, high: float) -> ConfidenceInterval:
    return ConfidenceInterval(round(max(0.0, low), 3), round(min(1.0, high), 3))


class WinRecord(Struct, frozen=True):
    """Of a model or a side. `debates` may be more than those won, lost and drawn: see the module."""

    name: str
    debates: int
    wins: int
    losses: int
    draws: int
    rate: float | None
    """The share of wins in what was decided; None where nothing was."""
    interval: ConfidenceInterval | None = None


class PairRecord(Struct, frozen=True, rename="camel"):
    """Two models that argued against each other; `a` is ahead, if anybody is."""

    a: str
    b: str
    debates: int
    wins_a: int
    wins_b: int
    draws: int
    rate: float | None
    """The share that `a` won."""
    interval: ConfidenceInterval | None
    rate_b: float | None
    interval_b: ConfidenceInterval | None
    """Not what is left of the other: a draw is won by neither."""


class FormatRecord(Struct, frozen=True, rename="camel"):
    """How a format usually ends."""

    format: str
    debates: int
    wins_for: int
    wins_against: int
    draws: int
    rate: float | None = None
    """The share that those in favour won, where there are two sides."""
    interval: ConfidenceInterval | None = None


class TopicCount(Struct, frozen=True):
    motion: str
    """As it was last written."""
    debates: int


class ModelSpending(Struct, frozen=True):
    model: str
    cost: Money | None
    """What is known of it; None where nothing is."""
    tokens: int
    debates: int


class DaySpending(Struct, frozen=True):
    day: str
    debates: int
    cost: Money


class JudgeRecord(Struct, frozen=True, rename="camel"):
    """How models judge: whether the order sways them, and how often they are of one mind."""

    debates: int = 0
    """Judged by models."""
    judges: int = 0
    """In all of them together."""
    flips: int = 0
    """Judges who named another winner when the order changed."""
    flip_rate: float | None = None
    flip_interval: ConfidenceInterval | None = None
    panels: int = 0
    """Debates with more than one of them."""
    unanimous: int = 0
    """Panels whose ballots all name the same."""
    unanimous_rate: float | None = None
    unanimous_interval: ConfidenceInterval | None = None
    agreement: float | None = None
    """The share of ballots that name the winner, in the mean."""
    interval: ConfidenceInterval | None = None
    """Of the agreement."""


class DebateTotals(Struct, frozen=True):
    debates: int
    statuses: dict[str, int]
    speeches: int
    cost: Money
    """What is known of it."""
    unpriced: int
    """Debates with calls of unknown price."""


class Statistics(Struct, frozen=True):
    totals: DebateTotals
    models: tuple[WinRecord, ...]
    sides: tuple[WinRecord, ...]
    pairs: tuple[PairRecord, ...]
    formats: tuple[FormatRecord, ...]
    topics: tuple[TopicCount, ...]
    costs: tuple[ModelSpending, ...]
    judges: JudgeRecord
    days: tuple[DaySpending, ...]
    """Those on which a debate was opened, the last ones, in their order."""
