"""The figures of many debates: who wins, against whom, what it cost. `statistics` counts them.

The tables of wins are sent by the API as they are: their `Meta` describes them there.
"""

from __future__ import annotations

from math import floor, sqrt
from typing import Annotated

from msgspec import Meta, Struct

from moot.core.terms import Money
from moot.judging.audience_votes import ConfidenceInterval

Z = 1.96
"""Of the normal distribution, 95 % lie within so many deviations."""


def ratio(part: float, total: int) -> float | None:
    return round(part / total, 3) if total else None


def whole_percent(share: float) -> str:
    """Rounded as the page does it: a half goes up."""
    return f"{floor(100 * share + 0.5)}%"


def wilson_interval(part: float, total: int) -> ConfidenceInterval | None:
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
    """The results of a model or a side. Debates that were not decided are only in `debates`."""

    name: str
    debates: int
    wins: int
    losses: int
    draws: int
    rate: Annotated[
        float | None,
        Meta(description="The share of wins in what was decided, a draw as half; null where nothing was."),
    ]
    interval: ConfidenceInterval | None


class PairRecord(Struct, frozen=True, rename="camel"):
    """Two models that argued against each other; `a` is ahead, unless they have won the same number."""

    a: str
    b: str
    debates: Annotated[int, Meta(description="In which they argued against each other.")]
    wins_a: int
    wins_b: int
    draws: int
    rate: Annotated[float | None, Meta(description="The share that `a` won, a draw as half.")]
    interval: ConfidenceInterval | None
    rate_b: Annotated[float | None, Meta(description="The share that `b` won, a draw as half.")]
    interval_b: ConfidenceInterval | None


class FormatRecord(Struct, frozen=True, rename="camel"):
    """How the debates of a format end."""

    format: str
    debates: int
    wins_for: int
    wins_against: int
    draws: int
    rate: Annotated[
        float | None,
        Meta(
            description="The share that the side in favour won, a draw as half; null where there are no two "
            "sides."
        ),
    ]
    interval: ConfidenceInterval | None


class TopicCount(Struct, frozen=True):
    motion: Annotated[str, Meta(description="As it was last written.")]
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
    """How models judge: whether they decide the same in both readings, and how often they agree."""

    debates: Annotated[int, Meta(description="Debates that models judged.")]
    judges: Annotated[int, Meta(description="Their judges, counted once in each debate.")]
    flips: Annotated[int, Meta(description="Judges who named another winner in their second reading.")]
    flip_rate: float | None
    flip_interval: ConfidenceInterval | None
    panels: Annotated[int, Meta(description="Debates with more than one judge.")]
    unanimous: Annotated[int, Meta(description="Panels in which all ballots name the same winner.")]
    unanimous_rate: float | None
    unanimous_interval: ConfidenceInterval | None
    agreement: Annotated[
        float | None,
        Meta(description="The share of ballots that name the winner, on average; null where nobody won."),
    ]
    interval: Annotated[ConfidenceInterval | None, Meta(description="Of `agreement`.")]


class DebateTotals(Struct, frozen=True):
    debates: int
    statuses: dict[str, int]
    speeches: int
    cost: Money
    """What is known of it."""
    unpriced: int
    """Debates with calls of unknown price."""
    silent: int = 0
    """Debates in which a speaker said nothing in a turn."""


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
