"""The replies of the compatibility APIs, as their documents have them, with further members beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from moot.api.v1.bodies import Body
from moot.compat.arena_frames import Action, State
from moot.compat.arena_routes import BODIES as ARENA_BODIES
from moot.compat.quick import Code, QuickDebate
from moot.compat.turn_stream import AskedTurn
from moot.core.events import EndReason
from moot.core.terms import Side, WinningRule
from moot.web.reference.schemas.base_schemas import LEFT_OUT, Count, DebateId, Dollars, Moment, Nth, Reply

Letter = Literal["A", "B", "C", "D"]
Winner = Literal["A", "B", "C", "D", "draw"]


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


class QuickOutcome(Reply):
    """What a debate came to; at its address, so far."""

    summary: str
    """The moderator's; where none spoke, what the judges said, or why it ended."""
    total_tokens: Count
    total_cost: Dollars | None
    """US dollars; null where no price is known."""
    duration: Count
    """Milliseconds."""
    transcript: list[QuickMessage]


class DebateComplete(Numbered, QuickOutcome):
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


class Bout(QuickOutcome):
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


# --- turns that are asked for one by one ----------------------------------------------------------------


TokenUsage = Annotated[
    dict[str, Any], Field(examples=[{"input_tokens": 850, "output_tokens": 300, "total_tokens": 1150}])
]


class SimpleError(Reply):
    error: str


class SessionBegun(Reply):
    session_id: DebateId
    stream_url: str


class TurnCancelled(Reply):
    session_id: DebateId
    cancelled: bool


class SessionTurn(Reply):
    turn: Nth
    model_id: str
    content: str
    reasoning: str
    """Empty for those who may not read it."""
    response_id: str
    cost: Dollars
    timestamp: int
    """Milliseconds since 1970."""


class SessionBrief(Reply):
    id: DebateId
    topic_text: str
    model1_id: Annotated[str, Field(alias="model1Id")]
    model2_id: Annotated[str, Field(alias="model2Id")]
    """Empty until its first turn is asked for."""
    adversarial_level: Annotated[int, Field(ge=1, le=5)]
    current_turn: Count
    """The last that was begun; 0 before the first."""
    total_cost: Dollars
    created_at: Moment | None
    updated_at: Moment | None


class DebateSession(SessionBrief):
    turn_history: list[SessionTurn]
    model1_response_ids: Annotated[list[str], Field(alias="model1ResponseIds")]
    model2_response_ids: Annotated[list[str], Field(alias="model2ResponseIds")]


class SessionsResponse(Reply):
    sessions: list[SessionBrief]
    total: Count


class TurnReasoning(Reply):
    event: ClassVar[str] = "reasoning"
    chunk: str


class TurnContent(Reply):
    event: ClassVar[str] = "content"
    chunk: str


class TurnCost(Reply):
    """US dollars, in three parts that make the total."""

    total: Dollars
    input: Dollars
    output: Dollars
    reasoning: Dollars
    known: Literal[False] = LEFT_OUT
    """Nobody knows the price: the noughts are none."""


class TurnComplete(Reply):
    event: ClassVar[str] = "complete"
    response_id: str
    """To be sent with this model's next turn."""
    token_usage: TokenUsage
    """As the Responses API tells it."""
    cost: TurnCost
    session_id: DebateId
    turn_number: Nth
    content: str
    """The whole: what the chunks of `content` make together."""


class TurnError(Reply):
    event: ClassVar[str] = "error"
    message: str
    retrying: Literal[True] = LEFT_OUT
    """The answer was begun again and differs from what was sent: ask for the same turn to read it."""


TURN_EVENTS: tuple[type[Reply], ...] = (TurnReasoning, TurnContent, TurnComplete, TurnError)
TURN_REPLIES: tuple[type[Reply], ...] = (
    SimpleError, SessionBegun, TurnCancelled, DebateSession, SessionsResponse, *TURN_EVENTS,
)  # fmt: skip


COMPAT_EVENTS: dict[str, tuple[type[Reply], ...]] = {
    "quick": (AgentStart, QuickToken, AgentEnd, RoundComplete, DebateComplete, QuickError),
    "bouts": (BoutStarted, TurnBegun, BoutToken, TurnDone, ActionProcessed, BoutCompleted),
    "turns": TURN_EVENTS,
}
"""By the name that the routes have for them."""
COMPAT_REPLIES: tuple[type[Reply], ...] = (
    QuickCreated, Bout, BoutActed, *TURN_REPLIES,
    *(event for name in ("quick", "bouts") for event in COMPAT_EVENTS[name]),
)  # fmt: skip
COMPAT_BODIES: tuple[type[Body], ...] = (QuickDebate, *ARENA_BODIES, AskedTurn)


def _new_bout(model: str) -> dict[str, Any]:
    debaters = {"debaterA": {"model": model}, "debaterB": {"model": model}}
    return {"topic": "Best algorithm for sorting 1M items", **debaters, "maxTurns": 4}


def _first_turn(model: str) -> dict[str, Any]:
    return {
        "modelId": model,
        "topic": "AI will replace most human jobs by 2040",
        "role": "AFFIRMATIVE",
        "intensity": 3,
        "opponentMessage": None,
        "previousResponseId": None,
        "turnNumber": 1,
    }


COMPAT_SAMPLES: dict[str, Callable[[str], Any]] = {
    "QuickDebate": lambda _: {"topic": "Should AI be regulated?", "maxRounds": 2},
    "NewBout": _new_bout,
    "UserAction": lambda _: {"type": "inject", "payload": "What about the memory it takes?"},
    "AskedTurn": _first_turn,
}
"""Bodies as they can be sent here, with the full name of a model that needs no key."""
