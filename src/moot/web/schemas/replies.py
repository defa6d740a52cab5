"""A debate as it is told in replies: the table, how it stands, and what came of a command."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.terms import Effort, Side, Winning
from moot.web.schemas.base import (
    LEFT_OUT,
    Count,
    DebateId,
    Dollars,
    JudgeId,
    Moment,
    Nth,
    Points,
    Reply,
    SeatId,
    Winner,
)
from moot.wire.v1.states import State


class DebateParticipant(Reply):
    id: SeatId
    name: str
    model: Annotated[str, Field(examples=["anthropic/claude-3-5-sonnet-20241022"])]
    """Provider and model."""
    position: Side
    color: str


class Judge(Reply):
    id: JudgeId
    name: str
    model: str


class DebateSessionConfig(Reply):
    """With every default filled in."""

    max_rounds: Nth
    timeout_per_round: float
    cost_limit: Dollars = LEFT_OUT
    warn_at_cost: Dollars = LEFT_OUT
    auto_judge: bool
    auto_progress: bool
    winning_condition: Winning
    intensity: Annotated[int, Field(ge=1, le=5)]
    effort: Effort = LEFT_OUT
    show_reasoning: bool


class Table(Reply):
    participants: list[DebateParticipant]
    judges: list[Judge]
    """All of them; `judge` is the first."""


class CreateDebateResponse(Table):
    id: DebateId
    status: Literal["initializing"]
    topic: str
    format: str
    config: DebateSessionConfig
    created_at: Moment
    judge: Judge
    stream_url: str
    """Where its events are."""
    warnings: list[str]
    """What will weaken the verdict, such as a judge of a speaker's own family."""


class Score(Reply):
    score: Points
    strengths: list[str]
    weaknesses: list[str]


class Verdict(Reply):
    winner: Winner
    """A participant's id, or `tie`; `outcome` says which kind of tie."""
    scores: dict[str, Score]
    """By participant id."""
    reasoning: str
    criteria: dict[str, str]
    tokens_used: Count
    """Of all judges."""
    outcome: Literal["win", "too-close", "draw"]
    headline: str
    by: Literal["judges", "hand", "stalemate", "concession"]
    margin: float
    agreement: Annotated[float, Field(ge=0, le=1)]
    """The share of ballots that name the winner."""
    flips: Count
    """Judges who changed their mind when the speakers were shown in the other order."""
    doubts: list[str]


class Tokens(Reply):
    input_tokens: Count
    output_tokens: Count


class CostSummary(Reply):
    total_cost: Dollars
    """US dollars, as far as prices are known."""
    cost_by_model: dict[str, Dollars]
    total_tokens: Count
    tokens_by_model: dict[str, Tokens]
    estimated: bool
    """Some provider did not tell its usage."""
    unpriced: list[str]
    """Models whose price nobody knows."""


class Marks(Reply):
    """What there is to say about a speech; most speeches have few of these."""

    status: Literal["error"] = LEFT_OUT
    """The speaker failed."""
    interrupted: str = LEFT_OUT
    """By what the speech was cut short."""
    words: Count = LEFT_OUT
    truncated: str = LEFT_OUT
    refusal: Literal[True] = LEFT_OUT
    degraded: str = LEFT_OUT
    """What had to be done without, or was mended."""
    over_length: Literal[True] = LEFT_OUT


class Placed(Marks):
    participant_id: SeatId
    participant_name: str
    turn: Nth
    speech: Nth
    """Its place in the order of speeches."""
    phase: str


class Preview(Placed):
    content_preview: Annotated[str, Field(max_length=200)]
    tokens_used: Count


class DebateRoundSummary(Reply):
    round_number: Nth
    responses: list[Preview]
    total_tokens: Count
    round_cost: Dollars
    timestamp: Moment


class DebateStatusResponse(Table):
    id: DebateId
    status: State
    topic: str
    format: str
    current_round: Count
    max_rounds: Count
    rounds: list[DebateRoundSummary]
    costs: CostSummary
    judge: Judge = LEFT_OUT
    verdict: Verdict = LEFT_OUT
    created_at: Moment
    updated_at: Moment
    completed_at: Moment = LEFT_OUT
    config: DebateSessionConfig
    stopped: bool
    """It was ended early: stopped or aborted."""
    pausing: bool
    """Paused, and a speech is still being given to its end."""
    paused_for: str = LEFT_OUT
    """Why it is paused, where a key is needed again."""
    ending: str = LEFT_OUT
    """Why it is over, in a sentence."""
    seq: Count
    """The number of its last event."""


class DebateSummary(Reply):
    id: DebateId
    topic: str
    format: str
    status: State
    participant_count: Count
    current_round: Count
    max_rounds: Count
    total_cost: Dollars
    unpriced: bool
    """Some of it has a price that nobody knows."""
    created_at: Moment
    completed_at: Moment = LEFT_OUT
    winner: str = LEFT_OUT
    """A participant's name."""
    outcome: Literal["win", "too-close", "draw"] = LEFT_OUT


class Pagination(Reply):
    total: Count
    limit: Count
    offset: Count
    has_more: bool


class ListDebatesResponse(Reply):
    debates: list[DebateSummary]
    pagination: Pagination


class SubmitRoundResponse(Reply):
    debate_id: DebateId
    current_round: Count
    status: State
    message: str


class TriggerJudgeResponse(Reply):
    debate_id: DebateId
    status: State
    message: str


class PauseDebateResponse(Reply):
    debate_id: DebateId
    status: State
    paused_at: Moment
    pausing: bool
    """A speech is still being given to its end."""


class ResumeDebateResponse(Reply):
    debate_id: DebateId
    status: State
    resumed_at: Moment


class StopDebateResponse(Reply):
    debate_id: DebateId
    status: State
    stopped_at: Moment
    message: str
    stopped: Literal[True]


class ActionResponse(Reply):
    debate_id: DebateId
    current_round: Count
    status: State
    message: str


class InjectResponse(Reply):
    debate_id: DebateId
    current_round: Count
    status: Literal["queued"]
    current_status: State
    message: str


class TicketResponse(Reply):
    debate_id: DebateId
    ticket: str
    expires_in: Count
    stream_url: str
