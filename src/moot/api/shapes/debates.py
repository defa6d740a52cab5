"""Replies about debates: one that was opened, its status, a list of them, the result of a command.

`DebateConfig` is what the client sends of `DebateSessionConfig`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_origin

from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType, defstruct

from moot.api.shapes.rounds import DebateRoundSummary, Speaker
from moot.api.shapes.seats_and_polls import OpenPoll
from moot.api.v1.states import StateName
from moot.core.choices import WinningRule
from moot.core.json_types import Amount, Count, DebateId, Nth, Timestamp, one_of
from moot.core.setup_field import Between, SetupField
from moot.core.setup_table import LimitFields, OptionFields, SetupFields, SpeakerFields, setup_fields
from moot.core.statuses import VerdictOutcome
from moot.core.terms import Money, PollSettings
from moot.views.transcript_shapes import CostSummary, DebateJudge, DebateParticipant, Verdict

# --- one debate -----------------------------------------------------------------------------------------


class PollsConfig(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    before: bool
    seconds: float | None = None


class AudiencePolls(Struct, frozen=True, rename="camel"):
    """The audience votes after the speeches, and before them too. Without `seconds`, until `close_poll`."""

    before: bool = True
    seconds: float | UnsetType = UNSET


REPLY_TYPES: dict[Any, Any] = {Money: Amount, PollSettings: PollsConfig}
REQUEST_TYPES: dict[Any, Any] = {Money: float, PollSettings: AudiencePolls, tuple[str, ...]: Sequence[str]}


def _reply_type(field: SetupField) -> Any:
    kind = REPLY_TYPES.get(field.kind, field.kind)
    described = str if get_origin(kind) is Literal else kind
    if field.optional:
        described = described | None
    match field.limit:
        case _ if get_origin(kind) is Literal:
            return Annotated[described, one_of(kind)]
        case Between(low, high):
            return Annotated[described, Meta(extra_json_schema={"minimum": low, "maximum": high})]
        case _:
            return Nth if field.name == "rounds" else described


def _reply_members() -> Iterable[tuple[SetupField, Any, Any]]:
    for field in setup_fields():
        if field.reply != "no":
            yield field, _reply_type(field), NODEFAULT if field.reply == "always" else field.default


def _request_members() -> Iterable[tuple[SetupField, Any, Any]]:
    for field in setup_fields():
        if field.request:
            yield field, REQUEST_TYPES.get(field.kind, field.kind) | UnsetType, UNSET


def _config_struct(
    name: str, doc: str, members: Iterable[tuple[SetupField, Any, Any]], **options: Any
) -> Any:
    members = tuple(members)
    return defstruct(
        name,
        [(field.keyword, kind, default) for field, kind, default in members],
        module=__name__,
        namespace={"__doc__": doc},
        rename={field.keyword: field.wire for field, _, _ in members},
        frozen=True,
        **options,
    )


if TYPE_CHECKING:
    # For editors and type checkers: the attributes of the table, and those that v1 calls or types otherwise.
    class _Settings(LimitFields, SpeakerFields, OptionFields, Struct, frozen=True, kw_only=True):
        max_rounds: int = 5
        timeout_per_round: float = 120
        auto_progress: bool = True
        beliefs: bool = False
        model_audience: bool = False
        winning_condition: WinningRule = "ai-judge"

    class DebateSessionConfig(_Settings, frozen=True, kw_only=True):
        cost_limit: Money | None = None
        warn_at_cost: Money | None = None
        polls: PollsConfig | None = None  # pyright: ignore[reportIncompatibleVariableOverride]

    class DebateConfig(_Settings, SetupFields, frozen=True, kw_only=True):
        cost_limit: float | UnsetType = UNSET
        warn_at_cost: float | UnsetType = UNSET
        polls: AudiencePolls | UnsetType = UNSET  # pyright: ignore[reportIncompatibleVariableOverride]
        tools: Sequence[str] = ()  # pyright: ignore[reportIncompatibleVariableOverride]
else:
    DebateSessionConfig = _config_struct(
        "DebateSessionConfig",
        "With every default filled in.",
        _reply_members(),
        kw_only=True,
        omit_defaults=True,
    )
    DebateConfig = _config_struct(
        "DebateConfig", "Settings that are left out take the server's defaults.", _request_members()
    )


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


class TicketResponse(Struct, frozen=True, rename="camel", kw_only=True):
    debate_id: DebateId
    ticket: str
    expires_in: Count
    stream_url: str
