"""How it went so far: the shapes of the statistics."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from moot.web.reference.schemas.base_schemas import Count, Dollars, Reply

Share = Annotated[float, Field(ge=0, le=1)]


class Chance(Reply):
    """Within which, to 95 %, the true share lies."""

    low: Share
    high: Share


class Standing(Reply):
    name: str
    debates: Count
    wins: Count
    losses: Count
    draws: Count
    rate: Share | None
    """The share of wins in what was decided; null where nothing was."""
    interval: Chance | None


class Pair(Reply):
    a: str
    """The model that is ahead, if one is."""
    b: str
    debates: Count
    """In which they argued against each other."""
    wins_a: Count
    wins_b: Count
    draws: Count
    rate: Share | None
    """The share that `a` won."""
    interval: Chance | None
    rate_b: Share | None
    """The share that `b` won; a draw is won by neither."""
    interval_b: Chance | None


class FormatStanding(Reply):
    format: str
    debates: Count
    wins_for: Count
    wins_against: Count
    draws: Count
    rate: Share | None
    """The share that those in favour won; null where there are no two sides."""
    interval: Chance | None


class Topic(Reply):
    motion: str
    debates: Count


class ModelBill(Reply):
    model: str
    cost: Dollars | None
    """US dollars, as far as it is known; null where nothing is."""
    cost_text: str
    tokens: Count
    debates: Count


class JudgeFigures(Reply):
    debates: Count
    """Judged by models."""
    judges: Count
    """In all of them together."""
    flips: Count
    """Judges who named another winner when the order changed."""
    flip_rate: Share | None
    flip_interval: Chance | None
    panels: Count
    """Debates with more than one of them."""
    unanimous: Count
    """Panels whose ballots all name the same."""
    unanimous_rate: Share | None
    unanimous_interval: Chance | None
    agreement: Share | None
    """The share of ballots that name the winner, in the mean."""
    interval: Chance | None
    """Of the agreement."""


class DayFigures(Reply):
    day: str
    """By UTC."""
    debates: Count
    cost: Dollars
    cost_text: str


class Totals(Reply):
    debates: Count
    statuses: dict[str, Count]
    speeches: Count
    cost: Dollars
    """US dollars, as far as it is known."""
    cost_text: str
    unpriced: Count
    """Debates with calls that nobody can price."""


class StatisticsResponse(Reply):
    totals: Totals
    models: list[Standing]
    sides: list[Standing]
    pairs: list[Pair]
    formats: list[FormatStanding]
    topics: list[Topic]
    costs: list[ModelBill]
    judges: JudgeFigures
    days: list[DayFigures]
    """On which a debate was opened, the last year of them."""
