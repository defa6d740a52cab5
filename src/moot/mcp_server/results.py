"""What the tools answer, as data: each answer also has a text that says the same in words."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class ToolAnswer(BaseModel):
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class SeatInfo(ToolAnswer):
    name: str
    side: Literal["for", "against", "neutral"]
    model: str


class StartResult(ToolAnswer):
    id: str
    """For all the other tools."""
    motion: str
    format: str
    rounds: int
    seats: list[SeatInfo]
    judges: list[str]
    """The models that will judge."""
    cost: str
    """What it may come to, before the first word."""


class NewsItem(ToolAnswer):
    """Something that was said, or happened, since the last look."""

    kind: Literal["speech", "remark", "verdict"]
    who: str
    """The speaker; for a remark, whoever made it."""
    round: int
    text: str
    note: str
    """What befell it: that it was cut short, for instance. Empty as a rule."""


class CurrentSpeaker(ToolAnswer):
    who: str
    words: int
    """So many so far."""


class FollowResult(ToolAnswer):
    id: str
    status: str
    news: list[NewsItem]
    speaking: list[CurrentSpeaker]
    """Who speaks at this moment."""
    next: int
    """Give it as `after` the next time."""
    over: bool
    """Nothing more will come."""
    waits: bool
    """It does not go on by itself: it was paused, it failed, or it waits for somebody."""


class SeatPoints(ToolAnswer):
    who: str
    score: float


class VerdictResult(ToolAnswer):
    id: str
    headline: str
    outcome: Literal["win", "too-close", "draw"]
    winner: str | None
    margin: str
    agreement: float
    """The share of ballots that name the winner."""
    doubts: list[str]
    """Whatever weakens the verdict. Worth telling along with it."""
    scores: list[SeatPoints]
    reasoning: str
    cost: str


class TranscriptResult(ToolAnswer):
    id: str
    form: Literal["markdown", "json"]
    transcript: str


class ListedDebate(ToolAnswer):
    id: str
    motion: str
    format: str
    status: str
    created: str


class DebateListResult(ToolAnswer):
    debates: list[ListedDebate]
    total: int


class FormatInfo(ToolAnswer):
    name: str
    title: str
    summary: str
    chairs: list[str]
    """In this order `models` are seated."""
    rounds: int
    most_rounds: int


class FormatListResult(ToolAnswer):
    formats: list[FormatInfo]


class ModelInfo(ToolAnswer):
    name: str
    """As `models` and `judges` take it."""
    usable: bool
    what: str
    """Where it runs; or, where it cannot be used, what to do about it."""


class ModelListResult(ToolAnswer):
    models: list[ModelInfo]
    default: str
    """Speaks where nobody is named."""


class SteerResult(ToolAnswer):
    id: str
    status: str
    done: str
