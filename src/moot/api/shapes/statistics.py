"""The statistics of many debates. The tables of wins are those of `views/statistics_tables.py`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from moot.api.shapes.base import Count, Dollars
from moot.views.statistics_tables import FormatRecord, JudgeRecord, PairRecord, TopicCount, WinRecord


class ModelBill(Struct, frozen=True, rename="camel", kw_only=True):
    model: str
    cost: Annotated[
        Dollars | None, Meta(description="US dollars, as far as prices are known; null where none is.")
    ]
    cost_text: str
    tokens: Count
    debates: Count


class DayFigures(Struct, frozen=True, rename="camel", kw_only=True):
    day: Annotated[str, Meta(description="A date in UTC.")]
    debates: Count
    cost: Dollars
    cost_text: str


class Totals(Struct, frozen=True, rename="camel", kw_only=True):
    debates: Count
    statuses: dict[str, Count]
    speeches: Count
    cost: Annotated[Dollars, Meta(description="US dollars, as far as prices are known.")]
    cost_text: str
    unpriced: Annotated[Count, Meta(description="Debates with calls whose price is not known.")]


class StatisticsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    totals: Totals
    models: tuple[WinRecord, ...]
    sides: tuple[WinRecord, ...]
    pairs: tuple[PairRecord, ...]
    formats: tuple[FormatRecord, ...]
    topics: tuple[TopicCount, ...]
    costs: tuple[ModelBill, ...]
    judges: JudgeRecord
    days: Annotated[
        tuple[DayFigures, ...],
        Meta(description="The days on which a debate was opened, of the last year."),
    ]
