"""Replies about debates: one that was opened, its status, a list of them, the result of a command.

`DebateConfig` is what the client sends of `DebateSessionConfig`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moot.api.shapes.seats_and_polls import OpenPoll
from moot.api.v1.states import StateName
from moot.core.statuses import VerdictOutcome
from moot.core.terms import DEFAULT_READING, Effort, OpeningSide, ReadingOrder, WinningRule
from moot.views.json_types import Amount, Count, DebateId, Nth, SeatId, Timestamp, one_of
from moot.views.transcript_shapes import CostSummary, DebateJudge, DebateParticipant, Verdict

# --- one debate -----------------------------------------------------------------------------------------


class PollsConfig(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    before: bool
    seconds: float | None = None


class DebateSessionConfig(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """With every default filled in."""

    max_rounds: Nth
    timeout_per_round: float
    cost_limit: Amount | None = None
    warn_at_cost: Amount | None = None
    auto_judge: bool
    auto_progress: bool
    winning_condition: Annotated[str, one_of(WinningRule)]
    intensity: Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 5})]
    effort: Annotated[str | None, one_of(Effort)] = None
    show_reasoning: bool
    person_seconds: float
    objective: str = ""
    prep: bool
    blind: bool
    opens: Annotated[str | None, one_of(OpeningSide)] = None
    polls: PollsConfig | None = None
    tools: tuple[str, ...] = ()
    beliefs: bool = False
    model_audience: bool = False
    reading: Annotated[str, one_of(ReadingOrder)] = DEFAULT_READING


class AudiencePolls(Struct, frozen=True, rename="camel"):
    """The audience votes after the speeches, and before them too. Without `seconds`, until `close_poll`."""

    before: bool = True
    seconds: float | UnsetType = UNSET


class DebateConfig(Struct, frozen=True, rename="camel"):
    max_rounds: int | UnsetType = UNSET
    timeout_per_round: float | UnsetType = UNSET
    cost_limit: float | UnsetType = UNSET
    warn_at_cost: float | UnsetType = UNSET
    auto_judge: bool | UnsetType = UNSET
    auto_progress: bool | UnsetType = UNSET
    winning_condition: WinningRule | UnsetType = UNSET
    intensity: int | UnsetType = UNSET
    effort: Effort | UnsetType = UNSET
    show_reasoning: bool | UnsetType = UNSET
    person_seconds: float | UnsetType = UNSET
    objective: str | UnsetType = UNSET
    prep: bool | UnsetType = UNSET
    blind: bool | UnsetType = UNSET
    opens: OpeningSide | UnsetType = UNSET
    recuse: bool | UnsetType = UNSET
    polls: AudiencePolls | UnsetType = UNSET
    tools: Sequence[str] | UnsetType = UNSET
    beliefs: bool | UnsetType = UNSET
    model_audience: bool | UnsetType = UNSET
    reading: ReadingOrder | UnsetType = UNSET


class CreatedEstimate(Struct, frozen=True, rename="camel", kw_only=True):
    """What the debate will cost in US dollars: see `/estimate`."""

    low: Amount | None
    expected: Amount | None
    high: Amount | None
    smallest_limit: Amount | None
    whole_limit: Amount | None
    holds: Annotated[str, Meta(description="What `costLimit` will hold; empty without one.")]
    text: str


class CreateDebateResponse(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    id: DebateId
    status: Annotated[str, Meta(extra_json_schema={"const": "initializing"})]
    topic: str
    participants: tuple[DebateParticipant, ...]
    judge: DebateJudge | None
    judges: Annotated[tuple[DebateJudge, ...], Meta(description="All of them; `judge` is the first.")]
    config: DebateSessionConfig
    created_at: Timestamp
    stream_url: Annotated[str, Meta(description="Where its events are.")]
    format: str
    warnings: Annotated[
        tuple[str, ...],
        Meta(
            description="What will weaken the verdict, such as a judge of a speaker's own family, and why "
            "there are fewer rounds than were asked for."
        ),
    ]
    estimate: Annotated[
        CreatedEstimate | None, Meta(description="Left out where nothing costs anything.")
    ] = None


class SpeechMarks(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """What is to be said about a speech; most speeches have few of these."""

    status: Annotated[str, Meta(description="The speaker failed.", extra_json_schema={"const": "error"})] = ""
    interrupted: Annotated[str, Meta(description="By what the speech was cut short.")] = ""
    words: Count = 0
    truncated: str = ""
    refusal: bool = False
    refusal_category: Annotated[
        str, Meta(description="The policy that the refusal rests on, as the provider names it.")
    ] = ""
    degraded: Annotated[
        str, Meta(description="What was left out or repaired in the request or the reply.")
    ] = ""
    over_length: bool = False
    clipped: Annotated[
        Count, Meta(description="How many of its words count, where it exceeded its budget.")
    ] = 0


class SpeechPreview(SpeechMarks, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The beginning of a speech."""

    participant_id: SeatId
    participant_name: str
    content_preview: Annotated[str, Meta(extra_json_schema={"maxLength": 200})]
    tokens_used: Count
    turn: Nth
    speech: Annotated[Nth, Meta(description="Its place in the order of speeches.")]
    phase: str


class DebateRoundSummary(Struct, frozen=True, rename="camel", kw_only=True):
    round_number: Nth
    responses: tuple[SpeechPreview, ...]
    total_tokens: Count
    round_cost: Amount
    timestamp: Timestamp


class Speaker(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    participant_id: SeatId
    turn: Nth
    speech: Nth
    person: bool = False
    ends_at: Annotated[
        Timestamp | UnsetType | None,
        Meta(description="When a person's time is up; null while the clock is stopped."),
    ] = UNSET


class DebateStatusResponse(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    id: DebateId
    status: StateName
    topic: str
    current_round: Count
    max_rounds: Count
    participants: tuple[DebateParticipant, ...]
    judge: DebateJudge | None = None
    judges: Annotated[tuple[DebateJudge, ...], Meta(description="All of them; `judge` is the first.")]
    rounds: tuple[DebateRoundSummary, ...]
    speaking: Annotated[tuple[Speaker, ...], Meta(description="Whose turn it is.")]
    costs: CostSummary
    verdict: Verdict | None = None
    verdicts: Annotated[Count, Meta(description="How many there are: a debate may be judged again.")]
    polls: Annotated[
        tuple[OpenPoll, ...], Meta(description="Polls that are or were open, with how many have voted.")
    ]
    warnings: Annotated[
        tuple[str, ...], Meta(description="What will weaken the verdict, and why there are fewer rounds.")
    ]
    accidents: Annotated[
        dict[str, dict[str, Count]], Meta(description="How often what went wrong, by participant.")
    ]
    created_at: Timestamp
    updated_at: Timestamp
    completed_at: Timestamp | None = None
    format: str
    config: DebateSessionConfig
    stopped: Annotated[bool, Meta(description="Whether it was ended early: stopped or aborted.")]
    pausing: Annotated[bool, Meta(description="Whether it is paused while a speech is still being finished.")]
    paused_for: Annotated[str, Meta(description="Why it is paused, where a key is needed again.")] = ""
    ending: Annotated[str, Meta(description="Why it is over, in a sentence.")] = ""
    seq: Annotated[Count, Meta(description="The number of its last event.")]


# --- a list of debates ----------------------------------------------------------------------------------


class Sitting(Struct, frozen=True, rename="camel", kw_only=True):
    """A participant, in brief."""

    name: str
    shown: Annotated[
        str,
        Meta(description="The name for readers: the model, or the seat where several have the same model."),
    ]
    model: str
    position: Annotated[str, Meta(description="What they argue; `moderator` for one who only moderates.")]
    color: str


WAITS = ("", "vote", "speaker", "judge")


class DebateSummary(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    id: DebateId
    topic: str
    status: StateName
    participant_count: Count
    current_round: Count
    max_rounds: Count
    total_cost: Amount
    created_at: Timestamp
    completed_at: Timestamp | None = None
    format: str
    unpriced: Annotated[bool, Meta(description="Some calls have no known price.")]
    winner: Annotated[str | None, Meta(description="A participant's name.")] = None
    outcome: Annotated[str, one_of(VerdictOutcome)] = ""
    headline: Annotated[str, Meta(description="Who won, in a few words.")] = ""
    total_cost_text: str
    participants: tuple[Sitting, ...]
    strip: Annotated[
        tuple[Count, ...],
        Meta(description="Who gives each speech, by their place among the participants, counted from 0."),
    ]
    given: Annotated[Count, Meta(description="How many speeches of the strip have been given.")]
    waiting_for: Annotated[
        str, Meta(description="The people it waits for, if any.", extra_json_schema={"enum": WAITS})
    ] = ""
    silent: Annotated[Count, Meta(description="Turns in which the speaker said nothing.")] = 0


class Pagination(Struct, frozen=True, rename="camel", kw_only=True):
    total: Count
    limit: Count
    offset: Count
    has_more: bool


class ListDebatesResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debates: tuple[DebateSummary, ...]
    pagination: Pagination


# --- the result of a command ----------------------------------------------------------------------------


class ActionResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    current_round: Count
    status: StateName
    message: str


class SubmitRoundResponse(ActionResponse, frozen=True, rename="camel", kw_only=True):
    """A round was started, or the judging was."""


class InjectResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    current_round: Count
    status: Annotated[str, Meta(extra_json_schema={"const": "queued"})]
    message: str
    current_status: StateName


class TriggerJudgeResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    message: str


class PauseDebateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    paused_at: Timestamp
    pausing: Annotated[bool, Meta(description="Whether a speech is still being finished.")]


class ResumeDebateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    resumed_at: Timestamp


class StopDebateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    status: StateName
    stopped_at: Timestamp
    message: str
    stopped: Annotated[bool, Meta(extra_json_schema={"const": True})]


class TicketResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    ticket: str
    expires_in: Count
    stream_url: str
