"""The events of a stream: the nine of the contract, and more for those who ask for them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.api.command_table import SOCKET_COMMANDS
from moot.api.v1.states import State
from moot.core.events import EndReason, FailReason
from moot.web.reference.schemas.base_schemas import (
    LEFT_OUT,
    Count,
    DebateId,
    Dollars,
    JudgeId,
    Moment,
    Nth,
    Reply,
    SeatId,
    Seconds,
    Winner,
)
from moot.web.reference.schemas.reply_schemas import Marks, OpenPoll, Placed, Rubric, Score, Tokens, Verdict


class Told(Reply):
    timestamp: Moment
    seq: Nth
    """Where it stands in the log."""


class StatusEvent(Told):
    """The state or the round has changed."""

    debate_id: DebateId
    state: State
    current_round: Count
    reason: str = LEFT_OUT
    """Why it is paused, where a key is needed again."""


class OfATurn(Told):
    participant_id: SeatId
    participant_name: str
    round_number: Nth
    turn: Nth
    speech: Nth
    phase: str
    attempt: Nth
    """Rises when the speech is asked for again: show the words of the highest."""


class ParticipantEvent(OfATurn, Marks):
    """Words of a speech as they come; with `done`, its end."""

    chunk: str
    done: bool
    tokens_used: Count = LEFT_OUT
    """Only with `done`."""
    latency_ms: Count = LEFT_OUT
    """Only with `done`."""
    replace: Literal[True] = LEFT_OUT
    """This chunk takes the place of all before it."""


class Response(Placed):
    content: str
    tokens_used: Count
    latency_ms: Count


class RoundCompleteEvent(Told):
    """Everybody has spoken in this round."""

    round_number: Nth
    responses: list[Response]
    total_tokens: Count
    round_cost: Dollars


class JudgeEvent(Told):
    """The judge's reasoning as it is written; with `done`, the end of the judging."""

    chunk: str
    done: bool
    judge_id: JudgeId = LEFT_OUT
    order: Count = LEFT_OUT
    attempt: Nth = LEFT_OUT
    replace: Literal[True] = LEFT_OUT


class VerdictEvent(Told, Verdict):
    """What the judges came to. A debate without a verdict has none of these."""


class TokensUsed(Reply):
    total: Count
    by_model: dict[str, Tokens]


class CostUpdateEvent(Told):
    """After every call that used something."""

    total_cost: Dollars
    cost_by_model: dict[str, Dollars]
    tokens_used: TokensUsed
    estimated: bool
    unpriced: list[str]


class CostWarningEvent(Told):
    """`warnAtCost` was reached."""

    threshold: Dollars
    current_cost: Dollars
    percent_of_limit: float = LEFT_OUT
    message: str


class ErrorEvent(Reply):
    """Something went wrong. Where it is retryable, it is being tried again."""

    type: Literal["model_error", "timeout", "cost_limit", "validation"]
    message: str
    retryable: bool
    timestamp: Moment
    seq: Nth = LEFT_OUT
    """Not there where it was told to one viewer alone: nothing of it is in the log."""
    participant_id: SeatId = LEFT_OUT
    judge_id: JudgeId = LEFT_OUT
    order: Count = LEFT_OUT
    attempt: Nth = LEFT_OUT
    retry_in_ms: Count = LEFT_OUT
    reason: FailReason = LEFT_OUT
    """Why the whole debate failed."""
    code: str = LEFT_OUT
    """Of a command over a WebSocket that was not carried out."""
    retry_after: Count = LEFT_OUT
    """With the code `RATE_LIMIT`: so many seconds until the next command is taken."""
    errors: dict[str, list[str]] = LEFT_OUT
    current_status: State = LEFT_OUT


class CompleteEvent(Told):
    """The last event: the debate is over."""

    debate_id: DebateId
    total_rounds: Count
    final_cost: Dollars
    duration: Seconds
    verdict: Verdict | None
    stopped: bool
    reason: EndReason


class TurnEvent(OfATurn):
    """A speech begins."""

    title: str
    tone: str
    words: Count
    """How long it should be."""
    to: SeatId | None


class ReasoningEvent(Told):
    """What a model thinks aloud: a participant's, or with `judgeId` a judge's."""

    kind: Literal["reasoning"]
    chunk: str
    done: bool
    attempt: Nth
    participant_id: SeatId = LEFT_OUT
    participant_name: str = LEFT_OUT
    round_number: Count = LEFT_OUT
    turn: Count = LEFT_OUT
    speech: Count = LEFT_OUT
    phase: str = LEFT_OUT
    judge_id: JudgeId = LEFT_OUT
    order: Count = LEFT_OUT


class RemarkEvent(Told):
    """Somebody has said something from outside."""

    remark: Nth
    text: str
    by: str
    to: SeatId | None
    question: Literal[True] = LEFT_OUT
    """It wants an answer."""


class BallotEvent(Told):
    """One judge's view in one order, or with `spoiled` why there is none."""

    judge_id: JudgeId
    judge_name: str
    order: Count
    winner: Winner = LEFT_OUT
    scores: dict[str, Score] = LEFT_OUT
    reasoning: str = LEFT_OUT
    criteria: dict[str, str] = LEFT_OUT
    inconsistent: bool = LEFT_OUT
    cites: list[Nth] = LEFT_OUT
    rubric: Rubric = LEFT_OUT
    ranking: list[SeatId] = LEFT_OUT
    spoiled: str = LEFT_OUT


class SeatEvent(Told):
    """A person sits down, or a model takes over."""

    participant_id: SeatId
    participant_name: str
    model: str
    person: bool
    by: str


class ClockEvent(Told):
    """A person's time begins, stands still (`endsAt` is null), goes on or grows."""

    participant_id: SeatId
    turn: Nth
    ends_at: Moment | None


class PointEvent(Told):
    """Somebody rose on a point of information; the text of one that was not taken is empty."""

    participant_id: SeatId
    participant_name: str
    to: SeatId | None
    turn: Nth
    accepted: bool
    text: str


class PollEvent(Told, OpenPoll):
    """A vote is opened or closed, or somebody has voted."""


class AckData(Reply):
    """A command over a WebSocket is in the log."""

    type: Annotated[str, Field(json_schema_extra={"enum": [*SOCKET_COMMANDS]})]
    status: Literal["done", "queued"]
    debate_id: DebateId
    current_status: State
    seq: Count
    timestamp: Moment


EVENTS: dict[str, type[Reply]] = {
    "status": StatusEvent,
    "participant": ParticipantEvent,
    "round_complete": RoundCompleteEvent,
    "judge": JudgeEvent,
    "verdict": VerdictEvent,
    "cost_update": CostUpdateEvent,
    "cost_warning": CostWarningEvent,
    "error": ErrorEvent,
    "complete": CompleteEvent,
}
"""The nine of the contract, in its order."""
EXTENDED: dict[str, type[Reply]] = {
    "turn": TurnEvent,
    "reasoning": ReasoningEvent,
    "remark": RemarkEvent,
    "ballot": BallotEvent,
    "seat": SeatEvent,
    "clock": ClockEvent,
    "point": PointEvent,
    "poll": PollEvent,
}
"""More, for those who ask for them."""
