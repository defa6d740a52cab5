"""The events of a stream: the nine of the contract, and more for clients that ask for them.

The server builds its frames as dictionaries (`api/v1/*_frames.py`), one for every few words of a speech. The
client decodes these classes, and OpenAPI describes them.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from moot.api.shapes.rounds import SpeechMarks
from moot.api.shapes.seats_and_polls import OpenPoll
from moot.api.v1.states import State, StateName
from moot.core.json_types import (
    Amount,
    Count,
    DebateId,
    JudgeId,
    Nth,
    SeatId,
    Seconds,
    Timestamp,
    Winner,
    one_of,
)
from moot.core.statuses import EndReason, FailReason
from moot.views.transcript_shapes import Rubric, Score, TokenUsage, Verdict


class LoggedFrame(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """What every event of the log has."""

    timestamp: Timestamp
    seq: Annotated[Nth, Meta(description="Where it stands in the log.")]


class StatusEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The state or the round has changed."""

    debate_id: DebateId
    state: StateName
    current_round: Count
    reason: Annotated[str, Meta(description="Why it is paused, where a key is needed again.")] = ""


class ParticipantEvent(SpeechMarks, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """Words of a speech as they come; with `done`, its end.

    Chunks of a speech add up. Only with `extended` may words of a higher `attempt` replace all earlier ones
    of the same speech, and a chunk with `replace` all earlier ones of its attempt.
    """

    participant_id: SeatId
    participant_name: str
    round_number: Nth
    chunk: str
    done: bool
    tokens_used: Annotated[Count | None, Meta(description="Only with `done`.")] = None
    latency_ms: Annotated[Count | None, Meta(description="Only with `done`.")] = None
    replace: Annotated[bool, Meta(description="With `extended`: it takes the place of all before it.")] = (
        False
    )
    timestamp: Timestamp
    seq: Annotated[Nth, Meta(description="Where it stands in the log.")]
    turn: Nth
    speech: Nth
    phase: str
    attempt: Annotated[
        Nth,
        Meta(
            description="With `extended` it rises when the speech is asked for again: show the words of the "
            "highest. Without, it is that of the first chunk."
        ),
    ]


class RoundResponse(SpeechMarks, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A speech of a round."""

    participant_id: SeatId
    participant_name: str
    content: str
    tokens_used: Count
    latency_ms: Count
    turn: Nth
    speech: Annotated[Nth, Meta(description="Its place in the order of speeches.")]
    phase: str


class RoundCompleteEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """All speakers of this round have spoken."""

    round_number: Nth
    responses: tuple[RoundResponse, ...]
    total_tokens: Count
    round_cost: Amount


class JudgeEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The judge's reasoning as it is written; with `done`, the end of the judging."""

    chunk: str
    done: bool
    judge_id: JudgeId = ""
    order: Count = 0
    attempt: Nth = 1
    replace: bool = False


class VerdictEvent(Verdict, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The verdict. A debate without a verdict has no such event."""

    timestamp: Timestamp
    seq: Annotated[Nth, Meta(description="Where it stands in the log.")]


class TokensUsed(Struct, frozen=True, rename="camel", kw_only=True):
    total: Count
    by_model: dict[str, TokenUsage]


class CostUpdateEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """After every call that used something."""

    total_cost: Amount
    cost_by_model: dict[str, Amount]
    tokens_used: TokensUsed
    estimated: bool
    unpriced: tuple[str, ...]


class CostWarningEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """`warnAtCost` was reached."""

    threshold: Amount
    current_cost: Amount
    percent_of_limit: float | None = None
    message: str


class ErrorEvent(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """Something went wrong. Where it is retryable, it is being tried again."""

    type: Annotated[
        str, Meta(extra_json_schema={"enum": ["model_error", "timeout", "cost_limit", "validation"]})
    ]
    message: str
    retryable: bool
    timestamp: Timestamp
    seq: Annotated[
        Nth | None, Meta(description="Missing where it is for one viewer alone: nothing of it is in the log.")
    ] = None
    participant_id: SeatId | None = None
    judge_id: JudgeId | None = None
    order: Count | None = None
    attempt: Nth | None = None
    retry_in_ms: Count | None = None
    reason: Annotated[str, Meta(description="Why the whole debate failed."), one_of(FailReason)] = ""
    code: Annotated[str, Meta(description="Of a command over a WebSocket that was not carried out.")] = ""
    retry_after: Annotated[
        Count | None,
        Meta(description="With the code `RATE_LIMIT`: so many seconds until the next command is taken."),
    ] = None
    errors: dict[str, tuple[str, ...]] | None = None
    current_status: Annotated[str, one_of(State)] = ""


class CompleteEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The last event: the debate is over."""

    debate_id: DebateId
    total_rounds: Count
    final_cost: Amount
    duration: Seconds
    verdict: Verdict | None
    stopped: bool
    reason: Annotated[str, one_of(EndReason)]


# --- with `extended=true` -------------------------------------------------------------------------------


class TurnEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A speech begins."""

    participant_id: SeatId
    participant_name: str
    round_number: Nth
    turn: Nth
    speech: Nth
    phase: str
    attempt: Nth
    title: str
    tone: str
    words: Annotated[Count, Meta(description="How long it should be.")]
    to: SeatId | None


class ReasoningEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """What a model thinks aloud: a participant's, or with `judgeId` a judge's."""

    kind: Annotated[str, Meta(extra_json_schema={"const": "reasoning"})]
    chunk: str
    done: bool
    attempt: Nth
    participant_id: SeatId | None = None
    participant_name: str = ""
    round_number: Count | None = None
    turn: Count | None = None
    speech: Count | None = None
    phase: str = ""
    judge_id: JudgeId | None = None
    order: Count | None = None


class RemarkEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A remark was made, or a question was asked, from outside the debate."""

    remark: Nth
    text: str
    by: str
    to: SeatId | None
    question: Annotated[bool, Meta(description="It wants an answer.")] = False


class BallotEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """One judge's view after one reading, or with `spoiled` why there is none."""

    judge_id: JudgeId
    judge_name: str
    order: Count
    winner: Winner = ""
    scores: dict[str, Score] | None = None
    reasoning: str = ""
    criteria: dict[str, str] | None = None
    inconsistent: bool = False
    cites: tuple[Nth, ...] = ()
    rubric: Rubric | None = None
    ranking: tuple[SeatId, ...] = ()
    spoiled: str = ""


class SeatEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A person takes a seat, or a model replaces them."""

    participant_id: SeatId
    participant_name: str
    model: str
    person: bool
    by: str


class ClockEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A person's time begins, is stopped (`endsAt` is null), continues or is extended."""

    participant_id: SeatId
    turn: Nth
    ends_at: Timestamp | None


class PointEvent(LoggedFrame, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A point of information was offered; one that was declined has no text."""

    participant_id: SeatId
    participant_name: str
    to: SeatId | None
    turn: Nth
    accepted: bool
    text: str


class PollEvent(OpenPoll, frozen=True, rename="camel", kw_only=True):
    """A poll was opened or closed, or a vote was cast."""

    timestamp: Timestamp
    seq: Annotated[Nth, Meta(description="Where it stands in the log.")]


# --- over a WebSocket -----------------------------------------------------------------------------------


class AckData(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A command over a WebSocket is in the log."""

    type: str
    status: Annotated[str, Meta(extra_json_schema={"enum": ["done", "queued"]})]
    debate_id: DebateId
    current_status: StateName
    seq: Count
    timestamp: Timestamp
    replayed: Annotated[
        bool, Meta(description="The command had been carried out before under the same key.")
    ] = False


EVENTS: dict[str, type[Struct]] = {
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
EXTENDED: dict[str, type[Struct]] = {
    "turn": TurnEvent,
    "reasoning": ReasoningEvent,
    "remark": RemarkEvent,
    "ballot": BallotEvent,
    "seat": SeatEvent,
    "clock": ClockEvent,
    "point": PointEvent,
    "poll": PollEvent,
}
"""More, for clients that ask for them."""
