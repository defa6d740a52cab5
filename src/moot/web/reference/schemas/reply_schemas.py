"""A debate as it is told in replies: the table, how it stands, and what came of a command."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.api.v1.states import State
from moot.core.terms import Effort, OpeningSide, PollName, Side, WinningRule
from moot.web.reference.schemas.base_schemas import (
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


class DebateParticipant(Reply):
    id: SeatId
    name: str
    model: Annotated[str, Field(examples=["anthropic/claude-3-5-sonnet-20241022"])]
    """Provider and model."""
    position: Side
    color: str
    team: str = LEFT_OUT
    """Where a side has several teams."""
    person: Literal[True] = LEFT_OUT
    """Somebody sits there."""
    stand_in: str = LEFT_OUT
    """The model that speaks when they do not."""
    left: Literal[True] = LEFT_OUT
    """They are gone, and it speaks."""


class Judge(Reply):
    id: JudgeId
    name: str
    model: str
    person: Literal[True] = LEFT_OUT
    recused: str = LEFT_OUT
    """Why this judge is not asked."""


class PollsConfig(Reply):
    before: bool
    seconds: float = LEFT_OUT


class DebateSessionConfig(Reply):
    """With every default filled in."""

    max_rounds: Nth
    timeout_per_round: float
    cost_limit: Dollars = LEFT_OUT
    warn_at_cost: Dollars = LEFT_OUT
    auto_judge: bool
    auto_progress: bool
    winning_condition: WinningRule
    intensity: Annotated[int, Field(ge=1, le=5)]
    effort: Effort = LEFT_OUT
    show_reasoning: bool
    person_seconds: float
    objective: str = LEFT_OUT
    prep: bool
    blind: bool
    opens: OpeningSide = LEFT_OUT
    polls: PollsConfig = LEFT_OUT
    tools: list[str] = LEFT_OUT


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


Rubric = dict[str, dict[str, float]]
"""Points by criterion and participant."""


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
    by: Literal["judges", "hand", "stalemate", "concession", "audience"]
    margin: float
    agreement: Annotated[float, Field(ge=0, le=1)]
    """The share of ballots that name the winner."""
    flips: Count
    """Judges who changed their mind when the speakers were shown in the other order."""
    doubts: list[str]
    cites: list[Nth] = LEFT_OUT
    """The turns on which the decision rests."""
    rubric: Rubric = LEFT_OUT
    """A diagnosis beside the decision."""
    totals: dict[str, float] = LEFT_OUT
    """Of the rubric, by participant, with the weights of the criteria."""
    ranking: list[SeatId] = LEFT_OUT
    """From best to worst, where the format ranks them."""
    last_word: SeatId = LEFT_OUT
    """Who spoke last: judges favour them."""


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
    clipped: Count = LEFT_OUT
    """So many of its words count, since it went beyond its budget."""


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


class Speaker(Reply):
    participant_id: SeatId
    turn: Nth
    speech: Nth
    person: Literal[True] = LEFT_OUT
    ends_at: Moment | None = LEFT_OUT
    """When a person's time is up; null while the clock stands still."""


class OpenPoll(Reply):
    poll: PollName
    open: bool
    votes: Count
    """Those that came in time."""
    ends_at: Moment | None
    """null where it is closed, or open until somebody closes it."""


class DebateStatusResponse(Table):
    id: DebateId
    status: State
    topic: str
    format: str
    current_round: Count
    max_rounds: Count
    rounds: list[DebateRoundSummary]
    speaking: list[Speaker]
    """Whose turn it is."""
    polls: list[OpenPoll]
    """Votes that are or were open, with how many have voted."""
    warnings: list[str]
    """What will weaken the verdict."""
    accidents: dict[str, dict[str, Count]]
    """How often what went wrong, by participant."""
    costs: CostSummary
    judge: Judge = LEFT_OUT
    verdict: Verdict = LEFT_OUT
    verdicts: Count
    """How many there are: a debate may be judged again."""
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
