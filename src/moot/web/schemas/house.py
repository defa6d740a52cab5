"""What the server has to offer and how it went so far: models, formats, statistics, estimates, health."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.terms import Effort, Side
from moot.web.schemas.base import LEFT_OUT, Count, Dollars, Nth, Reply


class Price(Reply):
    """US dollars for a million tokens."""

    input_per_million: Dollars
    output_per_million: Dollars


class OfferedModel(Reply):
    provider: str
    model_id: str
    name: str
    available: bool
    """Ready to be used."""
    missing: str | None
    """What to do so that it is."""
    price: Price | None
    """null where nobody knows it."""
    thinks: bool
    efforts: list[Effort]
    """What `config.effort` may be."""
    context_tokens: Count | None
    output_tokens: Count | None


class ModelsResponse(Reply):
    models: list[OfferedModel]
    default: str
    """What is used where nobody names a model."""


class Chair(Reply):
    name: str
    position: Side
    role: Literal["debater", "moderator"]
    team: str


class FormatPhase(Reply):
    key: str
    title: str
    round: Nth
    speaker: str
    """Whose turn it is: each, for, against, neutral or moderator."""
    member: Count
    """Which speaker of that team; 0 for each in turn."""
    team: str
    speaks_as: str
    to: str | None
    """Whom the speaker questions."""
    kind: str
    tone: str
    minutes: Annotated[float, Field(ge=0)]
    words: Count
    clock: Count
    """Words of each side for the whole exchange; 0 where there is no clock."""
    exchanges: Count
    new_arguments: bool
    simultaneous: bool
    points_of_information: bool
    protected: Count


class OfferedFormat(Reply):
    name: str
    title: str
    summary: str
    min_participants: Annotated[int, Field(ge=2)]
    max_participants: Annotated[int, Field(ge=2)]
    rounds: Nth
    max_rounds: Nth
    scripted: bool
    """Every speech stands in the format; else its rounds repeat."""
    result: str
    parties: str
    """Who wins: seats for themselves, or sides."""
    either_first: bool
    """A toss decides which side opens: `config.opens`."""
    last_word: str | None
    prep_words: Count
    chairs: list[Chair]
    phases: list[FormatPhase]


class FormatsResponse(Reply):
    formats: list[OfferedFormat]


class Standing(Reply):
    name: str
    debates: Count
    wins: Count
    losses: Count
    draws: Count
    rate: Annotated[float, Field(ge=0, le=1)] | None
    """The share of wins in what was decided; null where nothing was."""


class FormatStanding(Reply):
    format: str
    debates: Count
    wins_for: Count
    wins_against: Count
    draws: Count


class Topic(Reply):
    motion: str
    debates: Count


class Totals(Reply):
    debates: Count
    statuses: dict[str, Count]
    speeches: Count
    cost: Dollars
    """US dollars, as far as it is known."""
    unpriced: Count
    """Debates with calls that nobody can price."""


class StatisticsResponse(Reply):
    totals: Totals
    models: list[Standing]
    sides: list[Standing]
    formats: list[FormatStanding]
    topics: list[Topic]


class Span(Reply):
    low: Count
    high: Count


class ModelEstimate(Reply):
    model: str
    calls: Span
    input_tokens: Span
    output_tokens: Span
    low: Dollars | None
    """null where nobody knows the price."""
    high: Dollars | None


class EstimateResponse(Reply):
    currency: Literal["USD"]
    speeches: Count
    calls: Span
    tokens: Span
    low: Dollars | None
    """US dollars, if everybody keeps to the words of the format."""
    high: Dollars | None
    """US dollars, if every call takes all that it may."""
    limited: bool
    """It could cost more if `costLimit` did not hold it."""
    models: list[ModelEstimate]
    unpriced: list[str]


class HealthResponse(Reply):
    status: Literal["ok", "stopping", "unhealthy"]
    store: Literal["ok", "unreachable"] = LEFT_OUT
