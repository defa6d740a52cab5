"""The replies and stream events of the older APIs, with further members beside those of their documents.

The routes build these structs, and the OpenAPI document describes them. Their members are encoded in the
order in which they stand here, `type` first; one with a default is left out where there is nothing to say.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moot.api.problems import ErrorCode
from moot.core.choices import WinningRule
from moot.core.json_types import SCHEMA_TEMPLATE, Amount, Count, DebateId, Dollars, Nth, Timestamp, one_of
from moot.core.statuses import EndReason
from moot.core.terms import Side
from moot.views.session_rows import SessionTurn

Seq = Annotated[Nth, Meta(description="Its number in the log: to resume after it, as `lastEventId`.")]
Part = Annotated[
    Nth | None,
    Meta(description="Of several events with one number, which: `lastEventId=seq.part`. The last has none."),
]
Failed = Annotated[str, Meta(extra_json_schema={"const": "error"})]
Duration = Annotated[Count, Meta(description="Milliseconds.")]
KnownCost = Annotated[Dollars | None, Meta(description="US dollars; null where no price is known.")]


class OlderShape(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The common configuration."""


# --- quick debates --------------------------------------------------------------------------------------


class QuickCreated(OlderShape, frozen=True, kw_only=True):
    debate_id: DebateId
    stream_url: str


class QuickMessage(OlderShape, frozen=True, kw_only=True):
    role: str
    content: str
    round: Count


class QuickOutcome(OlderShape, frozen=True, kw_only=True):
    """The result of a debate, or its state so far."""

    summary: Annotated[
        str, Meta(description="The moderator's; else the reasoning of the judges, or why it ended.")
    ]
    total_tokens: Count
    total_cost: KnownCost
    duration: Duration
    transcript: tuple[QuickMessage, ...]


class AgentStart(OlderShape, frozen=True, kw_only=True, tag="agent_start"):
    """An agent begins, or begins again: what it said before does not count."""

    agent: str
    round: Annotated[Count, Meta(description="From 0.")]
    timestamp: Timestamp
    seq: Seq
    part: Part = None


class QuickToken(OlderShape, frozen=True, kw_only=True, tag="token"):
    content: str
    agent: str
    seq: Seq
    part: Part = None


class AgentEnd(OlderShape, frozen=True, kw_only=True, tag="agent_end"):
    agent: str
    round: Count
    full_message: str
    token_count: Count
    seq: Seq
    part: Part = None


class RoundComplete(OlderShape, frozen=True, kw_only=True, tag="round_complete"):
    round: Annotated[Nth, Meta(description="How many have been held.")]
    total_rounds: Nth
    seq: Seq
    part: Part = None


class DebateComplete(QuickOutcome, frozen=True, kw_only=True, tag="debate_complete"):
    reason: Annotated[str, one_of(EndReason)]
    winner: Annotated[str | None, Meta(description="A name, or `draw`. A panel has none.")]
    seq: Seq
    part: Part = None


class QuickError(OlderShape, frozen=True, kw_only=True, tag="error"):
    """A speech failed (with `agent`), or the debate did: then the stream ends."""

    message: str
    code: Annotated[str, one_of(ErrorCode)]
    retryable: bool
    agent: str | None = None
    round: Count | None = None
    seq: Seq | None = None
    part: Part = None


QuickEvent = AgentStart | QuickToken | AgentEnd | RoundComplete | DebateComplete | QuickError

# --- debates of turns -----------------------------------------------------------------------------------

Letter = Annotated[str, Meta(extra_json_schema={"enum": ["A", "B", "C", "D"]})]
WinningLetter = Annotated[str, Meta(extra_json_schema={"enum": ["A", "B", "C", "D", "draw"]})]
Action = Literal["pause", "resume", "skip", "inject", "decide"]
BoutState = Literal["created", "running", "paused", "completed", "aborted"]


class BoutDebater(OlderShape, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="Its id in `/api/v1`.")]
    model: str
    name: str
    position: Annotated[str, one_of(Side)]
    system_prompt: Annotated[str, Meta(description="For owners and moderators.")] = ""
    objective: Annotated[str, Meta(description="For owners, moderators, and the person of that seat.")] = ""


class BoutTurn(OlderShape, frozen=True, kw_only=True):
    number: Annotated[Nth, Meta(description="Its position in the schedule.")]
    speaker: Letter
    content: str
    reasoning: Annotated[str, Meta(description="For those who may read it.")] = ""
    timestamp: Timestamp
    status: Failed | None = None
    error: str | None = None


class Bout(OlderShape, frozen=True, kw_only=True):
    id: DebateId
    topic: str
    format: Annotated[str, Meta(extra_json_schema={"const": "turn-based"})]
    max_turns: Nth
    max_rounds: Nth
    winning_condition: Annotated[str, one_of(WinningRule)]
    debater_a: BoutDebater
    debater_b: BoutDebater
    debater_c: BoutDebater | None = None
    debater_d: BoutDebater | None = None
    turns: tuple[BoutTurn, ...]
    status: Annotated[str, one_of(BoutState)]
    winner: Annotated[WinningLetter | None, Meta(description="`draw` also where it was too close to call.")]
    current_speaker: Letter
    created_at: Timestamp
    updated_at: Timestamp
    summary: Annotated[
        str, Meta(description="The moderator's; else the reasoning of the judges, or why it ended.")
    ]
    total_tokens: Count
    total_cost: KnownCost
    duration: Duration
    transcript: tuple[QuickMessage, ...]
    seq: Nth
    waiting_for: Annotated[
        str | None,
        Meta(description="Where you decide, after the last turn.", extra_json_schema={"const": "decision"}),
    ] = None
    error: Annotated[str | None, Meta(description="Why it cannot continue, where it failed.")] = None


class BoutAction(OlderShape, frozen=True, kw_only=True):
    type: Annotated[str, one_of(Action)]
    payload: str = ""


class BoutActed(OlderShape, frozen=True, kw_only=True):
    debate_id: DebateId
    accepted: Annotated[bool, Meta(extra_json_schema={"const": True})]
    action: BoutAction
    status: Annotated[str, one_of(BoutState)]


class BoutStarted(OlderShape, frozen=True, kw_only=True, tag="debate.started"):
    debate: Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": SCHEMA_TEMPLATE.format(name="Bout")})]
    seq: Seq
    part: Part = None


class TurnBegun(OlderShape, frozen=True, kw_only=True, tag="turn.started"):
    """A turn begins, or begins again: what was said in it before does not count."""

    speaker: Letter
    turn_number: Nth
    seq: Seq
    part: Part = None


class BoutToken(OlderShape, frozen=True, kw_only=True, tag="token"):
    speaker: Letter
    content: str
    seq: Seq
    part: Part = None


class TurnDone(OlderShape, frozen=True, kw_only=True, tag="turn.completed"):
    speaker: Letter
    turn_number: Nth
    full_content: str
    status: Annotated[Failed | None, Meta(description="It failed, and the debate continues.")] = None
    error: str | None = None
    seq: Seq
    part: Part = None


class ActionProcessed(OlderShape, frozen=True, kw_only=True, tag="action.processed"):
    """The action has taken effect: a comment, when a speaker begins who hears it."""

    action: BoutAction
    seq: Seq
    part: Part = None


class DecisionAwaited(OlderShape, frozen=True, kw_only=True, tag="decision.awaited"):
    """The turns are over, and the debate waits: `POST …/turn` with `decide` and one of `choices`."""

    choices: tuple[str, ...]
    seq: Seq
    part: Part = None


class BoutCompleted(OlderShape, frozen=True, kw_only=True, tag="debate.completed"):
    winner: WinningLetter | None
    reason: str
    total_tokens: Count | None = None
    total_cost: Dollars | UnsetType | None = UNSET
    error: str | None = None
    seq: Seq | None = None
    part: Part = None


BoutEvent = BoutStarted | TurnBegun | BoutToken | TurnDone | ActionProcessed | DecisionAwaited | BoutCompleted

# --- turns that are asked for one by one ----------------------------------------------------------------

TableTime = Annotated[
    str, Meta(extra_json_schema={"format": "date-time"}, examples=["2024-12-03T05:30:00.000Z"])
]


class SimpleError(OlderShape, frozen=True, kw_only=True):
    error: str


class SessionBegun(OlderShape, frozen=True, kw_only=True):
    session_id: DebateId
    stream_url: str


class TurnCancelled(OlderShape, frozen=True, kw_only=True):
    session_id: DebateId
    cancelled: bool


class SessionBrief(OlderShape, frozen=True, kw_only=True):
    id: DebateId
    topic_text: str
    model1_id: str
    model2_id: Annotated[str, Meta(description="Empty until its first turn is asked for.")]
    adversarial_level: Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 5})]
    current_turn: Annotated[Count, Meta(description="The last that was begun; 0 before the first.")]
    total_cost: Amount
    created_at: TableTime | None
    updated_at: TableTime | None


class DebateSession(SessionBrief, frozen=True, kw_only=True):
    turn_history: tuple[SessionTurn, ...]
    model1_response_ids: tuple[str, ...]
    model2_response_ids: tuple[str, ...]


class SessionsResponse(OlderShape, frozen=True, kw_only=True):
    sessions: tuple[SessionBrief, ...]
    total: Count


class TurnReasoning(OlderShape, frozen=True):
    event: ClassVar[str] = "reasoning"
    chunk: str


class TurnContent(OlderShape, frozen=True):
    event: ClassVar[str] = "content"
    chunk: str


class TurnCost(OlderShape, frozen=True, kw_only=True):
    """US dollars, in three parts that make the total."""

    total: Amount
    input: Amount
    output: Amount
    reasoning: Amount
    known: Annotated[
        bool,
        Meta(
            description="Only where no price is known.",
            extra_json_schema={"const": False},
        ),
    ] = True


class ResponsesUsage(Struct, frozen=True, kw_only=True):
    """Tokens as the Responses API counts them."""

    input_tokens: Count
    input_tokens_details: dict[str, Count]
    output_tokens: Count
    output_tokens_details: dict[str, Count]
    total_tokens: Count


class TurnComplete(OlderShape, frozen=True, kw_only=True):
    event: ClassVar[str] = "complete"
    response_id: Annotated[str, Meta(description="To be sent with this model's next turn.")]
    token_usage: ResponsesUsage
    cost: TurnCost
    session_id: DebateId
    turn_number: Nth
    content: Annotated[str, Meta(description="The full text: all chunks of `content` together.")]


class TurnError(OlderShape, frozen=True):
    event: ClassVar[str] = "error"
    message: str
    retrying: Annotated[
        bool,
        Meta(
            description="The answer was begun again and differs from what was sent: request the same turn to "
            "read it.",
            extra_json_schema={"const": True},
        ),
    ] = False


TurnStreamEvent = TurnReasoning | TurnContent | TurnComplete | TurnError
