"""The replies of the compatibility APIs, as their documents have them, with further members beside."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.compat.arena_frames import Action, State
from moot.compat.quick import Code
from moot.compat.reference_turn_stream_schemas import TURN_EVENTS, TURN_REPLIES
from moot.core.events import EndReason
from moot.core.terms import Side, WinningRule
from moot.web.reference.schemas.base_schemas import LEFT_OUT, Count, DebateId, Dollars, Moment, Nth, Reply

Letter = Literal["A", "B", "C", "D"]
Winner = Literal["A", "B", "C", "D", "draw"]
Health = Literal["up", "down", "unconfigured"]


class Numbered(Reply):
    seq: Nth
    """Where it stands in the log: to come back to, as `lastEventId`."""
    part: Nth = LEFT_OUT
    """Of several events with one number, which: `lastEventId=seq.part`. The last one has none."""


# --- quick ----------------------------------------------------------------------------------------------


class QuickCreated(Reply):
    debate_id: DebateId
    stream_url: str


class QuickMessage(Reply):
    role: str
    content: str
    round: Count


class AgentStart(Numbered):
    """An agent begins, or begins anew: what it said before does not count."""

    type: Literal["agent_start"]
    agent: str
    round: Count
    """From 0."""
    timestamp: Moment


class QuickToken(Numbered):
    type: Literal["token"]
    content: str
    agent: str


class AgentEnd(Numbered):
    type: Literal["agent_end"]
    agent: str
    round: Count
    full_message: str
    token_count: Count


class RoundComplete(Numbered):
    type: Literal["round_complete"]
    round: Nth
    """How many have been held."""
    total_rounds: Nth


class Outcome(Reply):
    """What a debate came to; at its address, so far."""

    summary: str
    """The moderator's; where none spoke, what the judges said, or why it ended."""
    total_tokens: Count
    total_cost: Dollars | None
    """US dollars; null where no price is known."""
    duration: Count
    """Milliseconds."""
    transcript: list[QuickMessage]


class DebateComplete(Numbered, Outcome):
    type: Literal["debate_complete"]
    reason: EndReason
    winner: str | None
    """A name, or `draw`. A panel has none."""


class QuickError(Reply):
    """A speech came to nothing (with `agent`), or the debate did: then the stream ends."""

    type: Literal["error"]
    message: str
    code: Code
    retryable: bool
    agent: str = LEFT_OUT
    round: Count = LEFT_OUT
    seq: Nth = LEFT_OUT
    part: Nth = LEFT_OUT


# --- bouts ----------------------------------------------------------------------------------------------


class BoutDebater(Reply):
    model: str
    name: str
    position: Side
    system_prompt: str = LEFT_OUT
    """For owners and moderators."""
    objective: str = LEFT_OUT
    """For owners, moderators, and the person of that seat."""


class BoutTurn(Reply):
    number: Nth
    """Its place in the schedule."""
    speaker: Letter
    content: str
    reasoning: str = LEFT_OUT
    """For those who may read it."""
    timestamp: Moment
    status: Literal["error"] = LEFT_OUT
    error: str = LEFT_OUT


class Bout(Outcome):
    id: DebateId
    topic: str
    format: Literal["turn-based"]
    max_turns: Nth
    max_rounds: Nth
    winning_condition: WinningRule
    debater_a: BoutDebater
    debater_b: BoutDebater
    debater_c: BoutDebater = LEFT_OUT
    debater_d: BoutDebater = LEFT_OUT
    turns: list[BoutTurn]
    status: State
    winner: Winner | None
    """Also where it was too close to call there is a `draw`."""
    current_speaker: Letter
    created_at: Moment
    updated_at: Moment
    seq: Nth
    error: str = LEFT_OUT
    """Why it cannot go on, where it failed."""


class BoutAction(Reply):
    type: Action
    payload: str = LEFT_OUT


class BoutActed(Reply):
    debate_id: DebateId
    accepted: Literal[True]
    action: BoutAction
    status: State


class BoutStarted(Numbered):
    type: Literal["debate.started"]
    debate: Bout


class TurnBegun(Numbered):
    """A turn begins, or begins anew: what was said in it before does not count."""

    type: Literal["turn.started"]
    speaker: Letter
    turn_number: Nth


class BoutToken(Numbered):
    type: Literal["token"]
    speaker: Letter
    content: str


class TurnDone(Numbered):
    type: Literal["turn.completed"]
    speaker: Letter
    turn_number: Nth
    full_content: str
    status: Literal["error"] = LEFT_OUT
    """It came to nothing, and the debate goes on."""
    error: str = LEFT_OUT


class ActionProcessed(Numbered):
    """It has taken effect: a comment, when somebody begins to speak who hears it."""

    type: Literal["action.processed"]
    action: BoutAction


class BoutCompleted(Reply):
    type: Literal["debate.completed"]
    winner: Winner | None
    reason: str
    total_tokens: Count = LEFT_OUT
    total_cost: Dollars | None = LEFT_OUT
    error: str = LEFT_OUT
    seq: Nth = LEFT_OUT
    part: Nth = LEFT_OUT


# --- health ---------------------------------------------------------------------------------------------


class ServicesResponse(Reply):
    status: Literal["healthy", "degraded", "unhealthy"]
    services: Annotated[dict[str, Health], Field(examples=[{"groq": "unconfigured", "langgraph": "up"}])]
    """The services with a key, by what their last calls came to; `groq` and `langgraph`, which is the engine,
    always."""


COMPAT_EVENTS: dict[str, tuple[type[Reply], ...]] = {
    "quick": (AgentStart, QuickToken, AgentEnd, RoundComplete, DebateComplete, QuickError),
    "bouts": (BoutStarted, TurnBegun, BoutToken, TurnDone, ActionProcessed, BoutCompleted),
    "turns": TURN_EVENTS,
}
"""By the name that articles have for them."""
COMPAT_REPLIES: tuple[type[Reply], ...] = (
    QuickCreated, Bout, BoutActed, ServicesResponse, *TURN_REPLIES,
    *(event for name in ("quick", "bouts") for event in COMPAT_EVENTS[name]),
)  # fmt: skip
