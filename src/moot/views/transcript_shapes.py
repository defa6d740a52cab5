"""A transcript as a JSON document: participants, speeches, verdicts, costs.

Its parts are also parts of the replies of v1, so that a debate looks the same wherever it is read.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from moot.core.json_types import (
    Amount,
    Count,
    DebateId,
    JudgeId,
    Nth,
    Points,
    SeatId,
    Seconds,
    Timestamp,
    Winner,
    one_of,
)
from moot.core.statuses import DecidedBy, Status, VerdictOutcome
from moot.core.terms import Side
from moot.judging.audience_votes import ChoiceChange, ConfidenceInterval, PollTotals


class DebateParticipant(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    id: SeatId
    name: str
    model: Annotated[
        str, Meta(description="Provider and model.", examples=["anthropic/claude-3-5-sonnet-20241022"])
    ]
    position: Annotated[str, one_of(Side)]
    color: str
    team: Annotated[str, Meta(description="Where a side has several teams.")] = ""
    person: Annotated[bool, Meta(description="A person has the seat.")] = False
    stand_in: Annotated[str, Meta(description="The model that speaks when the person does not.")] = ""
    left: Annotated[bool, Meta(description="The person has left, and the stand-in speaks.")] = False


class DebateJudge(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    id: JudgeId
    name: str
    model: str
    person: bool = False
    recused: Annotated[str, Meta(description="Why this judge is not asked.")] = ""

    @property
    def who(self) -> str:
        return "a person" if self.person else self.model


# --- costs ----------------------------------------------------------------------------------------------


class TokenUsage(Struct, frozen=True, rename="camel", kw_only=True):
    input_tokens: Count
    output_tokens: Count


class CostSummary(Struct, frozen=True, rename="camel", kw_only=True):
    total_cost: Annotated[Amount, Meta(description="US dollars, as far as prices are known.")]
    cost_by_model: dict[str, Amount]
    total_tokens: Count
    tokens_by_model: dict[str, TokenUsage]
    estimated: Annotated[
        bool, Meta(description="Whether some usage was estimated, because a provider did not report it.")
    ]
    unpriced: Annotated[tuple[str, ...], Meta(description="Models whose price is not known.")]


# --- verdicts -------------------------------------------------------------------------------------------

Rubric = Annotated[dict[str, dict[str, float]], Meta(description="Points by criterion and participant.")]


class Score(Struct, frozen=True):
    score: Points
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()


class Verdict(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    winner: Annotated[
        Winner, Meta(description="A participant's id, or `tie`; `outcome` says which kind of tie.")
    ]
    scores: Annotated[dict[str, Score], Meta(description="By participant id.")]
    reasoning: str
    criteria: dict[str, str]
    tokens_used: Annotated[Count, Meta(description="Of all judges.")]
    outcome: Annotated[str, one_of(VerdictOutcome)]
    headline: str
    by: Annotated[str, one_of(DecidedBy)]
    margin: float
    agreement: Annotated[
        float,
        Meta(
            description="The share of ballots that name the winner.",
            extra_json_schema={"minimum": 0, "maximum": 1},
        ),
    ]
    flips: Annotated[
        Count,
        Meta(description="Judges who named another winner in their second reading."),
    ]
    doubts: tuple[str, ...]
    cites: Annotated[tuple[Nth, ...], Meta(description="The turns on which the decision rests.")] = ()
    rubric: Annotated[Rubric | None, Meta(description="A diagnosis beside the decision.")] = None
    totals: Annotated[
        dict[str, float] | None,
        Meta(description="Of the rubric, by participant, with the weights of the criteria."),
    ] = None
    ranking: Annotated[
        tuple[SeatId, ...], Meta(description="From best to worst, where the format ranks them.")
    ] = ()
    last_word: Annotated[SeatId | None, Meta(description="Who spoke last: judges favour them.")] = None


class JudgeBallot(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    judge: JudgeId
    judge_name: str
    order: Annotated[
        Count, Meta(description="Which reading of the judge: 0 the first, 1 the second. A person has one.")
    ]
    winner: Winner
    reasoning: str
    scores: dict[str, Score]
    criteria: dict[str, str]
    cites: Annotated[tuple[Nth, ...], Meta(description="The turns on which it rests.")]
    rubric: Rubric | None = None
    ranking: tuple[SeatId, ...] = ()
    labels: Annotated[
        dict[str, str], Meta(description="The label under which a model read each participant, by id.")
    ] = {}
    read_first: Annotated[
        SeatId | None, Meta(description="The participant whose speech a model read first.")
    ] = None


class ReachedVerdict(Verdict, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    judging: Annotated[Nth | None, Meta(description="null where no judge was asked.")]
    judges: tuple[DebateJudge, ...]
    ballots: tuple[JudgeBallot, ...]


# --- votes of the audience ------------------------------------------------------------------------------


class Votes(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The result of the audience's votes. While it is sealed, only the first four members are sent."""

    sealed: Annotated[
        bool, Meta(description="Until the last poll has closed, only the number of votes is shown.")
    ]
    rule: Annotated[
        Literal["swing", "majority"] | None, Meta(description="null where the audience is not asked.")
    ]
    choices: tuple[str, ...]
    polls: tuple[PollTotals, ...]
    headline: str | None = None
    pairs: Annotated[Count | None, Meta(description="Voters who voted twice, in time.")] = None
    table: Annotated[
        tuple[tuple[Count, ...], ...] | None,
        Meta(description="Who moved from what (row) to what (column), in the order of `choices`."),
    ] = None
    changes: tuple[ChoiceChange, ...] | None = None
    leader: Annotated[str | UnsetType | None, Meta(description="null where no choice leads.")] = UNSET
    lead: Annotated[float | None, Meta(description="Points between the first and the next.")] = None
    interval: Annotated[
        ConfidenceInterval | UnsetType | None, Meta(description="Of the lead in a swing.")
    ] = UNSET
    account: Annotated[tuple[str, ...] | None, Meta(description="The result in sentences.")] = None
    doubts: tuple[str, ...] | None = None


# --- the transcript -------------------------------------------------------------------------------------


class TranscriptDebate(Struct, frozen=True, rename="camel", kw_only=True):
    id: DebateId
    topic: str
    format: str
    status: Annotated[str, one_of(Status)]
    created_at: Timestamp
    completed_at: Timestamp | None
    duration: Seconds
    ending: str
    early_end: Annotated[
        str | UnsetType,
        Meta(description="Why the speeches ended before the end of the format, in a sentence."),
    ] = UNSET


class TranscriptPoint(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A point of information; a declined one has no text."""

    participant: str
    participant_id: SeatId
    accepted: bool
    text: str = ""


class TranscriptSpeech(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    participant: str
    participant_id: SeatId
    turn: Nth
    phase: str
    title: str
    content: str
    words: Count
    tokens_used: Count
    estimated: bool
    cost: Amount | None
    latency_ms: Count
    flags: tuple[str, ...]
    notes: tuple[str, ...]
    started_at: Timestamp = field(name="timestamp")
    budget: Annotated[Count, Meta(description="How many words count.")]
    clipped: Annotated[
        Count, Meta(description="How many of them were heard, where it exceeded its budget.")
    ] = field(default=0, name="wordsHeard")
    by_hand: Annotated[bool, Meta(description="A person gave it.")] = False
    speaks_as: str = ""
    points: Annotated[
        tuple[TranscriptPoint, ...], Meta(description="Points of information that were offered in it.")
    ] = ()
    reasoning: str = ""


class TranscriptRound(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    round_number: Nth
    responses: tuple[TranscriptSpeech, ...]
    struck: Annotated[
        tuple[TranscriptSpeech, ...],
        Meta(description="Speeches that were given again; they count for nothing."),
    ] = ()


class TranscriptRemark(Struct, frozen=True, rename="camel", kw_only=True):
    text: str
    by: str
    to: SeatId | None
    at: Timestamp
    before_turn: Count | None
    question: bool
