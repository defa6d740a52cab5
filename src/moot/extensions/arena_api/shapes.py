"""The replies and stream events of `/api/debates`, with more members than its document has."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from moot.api.shapes.plain_streams import Duration, KnownCost, Part, PlainShape, QuickMessage, Seq
from moot.core.choices import WinningRule
from moot.core.json_types import SCHEMA_TEMPLATE, Count, DebateId, Dollars, Nth, Timestamp, one_of
from moot.core.terms import Side

Failed = Annotated[str, Meta(extra_json_schema={"const": "error"})]
Letter = Annotated[str, Meta(extra_json_schema={"enum": ["A", "B", "C", "D"]})]
WinningLetter = Annotated[str, Meta(extra_json_schema={"enum": ["A", "B", "C", "D", "draw"]})]
Action = Literal["pause", "resume", "skip", "inject", "decide"]
BoutState = Literal["created", "running", "paused", "completed", "aborted"]


class BoutDebater(PlainShape, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="Its id in `/api/v1`.")]
    model: str
    name: str
    position: Annotated[str, one_of(Side)]
    system_prompt: Annotated[str, Meta(description="For owners and moderators.")] = ""
    objective: Annotated[str, Meta(description="For owners, moderators, and the person of that seat.")] = ""


class BoutTurn(PlainShape, frozen=True, kw_only=True):
    number: Annotated[Nth, Meta(description="Its position in the schedule.")]
    speaker: Letter
    content: str
    reasoning: Annotated[str, Meta(description="For those who may read it.")] = ""
    timestamp: Timestamp
    status: Failed | None = None
    error: str | None = None


class Bout(PlainShape, frozen=True, kw_only=True):
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


class BoutAction(PlainShape, frozen=True, kw_only=True):
    type: Annotated[str, one_of(Action)]
    payload: str = ""


class BoutActed(PlainShape, frozen=True, kw_only=True):
    debate_id: DebateId
    accepted: Annotated[bool, Meta(extra_json_schema={"const": True})]
    action: BoutAction
    status: Annotated[str, one_of(BoutState)]


class BoutStarted(PlainShape, frozen=True, kw_only=True, tag="debate.started"):
    debate: Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": SCHEMA_TEMPLATE.format(name="Bout")})]
    seq: Seq
    part: Part = None


class TurnBegun(PlainShape, frozen=True, kw_only=True, tag="turn.started"):
    """A turn begins, or begins again: what was said in it before does not count."""

    speaker: Letter
    turn_number: Nth
    seq: Seq
    part: Part = None


class BoutToken(PlainShape, frozen=True, kw_only=True, tag="token"):
    speaker: Letter
    content: str
    seq: Seq
    part: Part = None


class TurnDone(PlainShape, frozen=True, kw_only=True, tag="turn.completed"):
    speaker: Letter
    turn_number: Nth
    full_content: str
    status: Annotated[Failed | None, Meta(description="It failed, and the debate continues.")] = None
    error: str | None = None
    seq: Seq
    part: Part = None


class ActionProcessed(PlainShape, frozen=True, kw_only=True, tag="action.processed"):
    """The action has taken effect: a comment, when a speaker begins who hears it."""

    action: BoutAction
    seq: Seq
    part: Part = None


class DecisionAwaited(PlainShape, frozen=True, kw_only=True, tag="decision.awaited"):
    """The turns are over, and the debate waits: `POST …/turn` with `decide` and one of `choices`."""

    choices: tuple[str, ...]
    seq: Seq
    part: Part = None


class BoutCompleted(PlainShape, frozen=True, kw_only=True, tag="debate.completed"):
    winner: WinningLetter | None
    reason: str
    total_tokens: Count | None = None
    total_cost: Dollars | UnsetType | None = UNSET
    error: str | None = None
    seq: Seq | None = None
    part: Part = None


BoutEvent = BoutStarted | TurnBegun | BoutToken | TurnDone | ActionProcessed | DecisionAwaited | BoutCompleted
