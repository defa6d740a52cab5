"""What the tools answer, as data: each answer also has a text that says the same in words."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class SeatTold(Answer):
    name: str
    side: Literal["for", "against", "neutral"]
    model: str


class Started(Answer):
    id: str
    """For all the other tools."""
    motion: str
    format: str
    rounds: int
    seats: list[SeatTold]
    judges: list[str]
    """The models that will judge."""
    cost: str
    """What it may come to, before the first word."""


class Piece(Answer):
    """Something that was said, or happened, since the last look."""

    kind: Literal["speech", "remark", "verdict"]
    who: str
    """The speaker; for a remark, whoever made it."""
    round: int
    text: str
    note: str
    """What befell it: that it was cut short, for instance. Empty as a rule."""


class Speaking(Answer):
    who: str
    words: int
    """So many so far."""


class Followed(Answer):
    id: str
    status: str
    news: list[Piece]
    speaking: list[Speaking]
    """Who speaks at this moment."""
    next: int
    """Give it as `after` the next time."""
    over: bool
    """Nothing more will come."""
    waits: bool
    """It does not go on by itself: it was paused, it failed, or it waits for somebody."""


class Score(Answer):
    who: str
    score: float


class Judged(Answer):
    id: str
    headline: str
    outcome: Literal["win", "too-close", "draw"]
    winner: str | None
    margin: str
    agreement: float
    """The share of ballots that name the winner."""
    doubts: list[str]
    """Whatever weakens the verdict. Worth telling along with it."""
    scores: list[Score]
    reasoning: str
    cost: str


class Transcribed(Answer):
    id: str
    form: Literal["markdown", "json"]
    transcript: str


class Listed(Answer):
    id: str
    motion: str
    format: str
    status: str
    created: str


class Listing(Answer):
    debates: list[Listed]
    total: int


class FormatTold(Answer):
    name: str
    title: str
    summary: str
    chairs: list[str]
    """In this order `models` are seated."""
    rounds: int
    most_rounds: int


class Formats(Answer):
    formats: list[FormatTold]


class ModelTold(Answer):
    name: str
    """As `models` and `judges` take it."""
    usable: bool
    what: str
    """Where it runs; or, where it cannot be used, what to do about it."""


class Models(Answer):
    models: list[ModelTold]
    default: str
    """Speaks where nobody is named."""


class Steered(Answer):
    id: str
    status: str
    done: str
