"""What can happen in a debate: past tense, facts only, in one union with one codec.

The log of a debate is a list of `Recorded` with dense `seq` 1..n. Tags are ours and never class paths; a
new field gets a default, a changed meaning gets a new tag. A *call* is one attempt to make a model speak,
for a turn or for a judge; the words of a turn are the deltas of its last call, and of those that it goes on
from. Requests as sent are kept by hash beside the log, because they grow with the square of the turns.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from moot.core.errors import FaultKind, FaultSeverity
from moot.core.terms import (
    AsideKind,
    Ballot,
    DebateLimits,
    DebateOptions,
    DeltaKind,
    FinishReason,
    Format,
    Judge,
    Model,
    Money,
    PartStart,
    PollName,
    Seat,
    Segment,
    SimilarTurns,
    StepSize,
    Tone,
    Truncation,
    Usage,
    Verdict,
)

InterruptReason = Literal[
    "skip", "stop", "pause", "judge", "decide", "abort", "crash", "drain", "budget", "absent",
]  # fmt: skip
"""`absent`: the person of that seat did not speak in time, and a model speaks instead."""
EndReason = Literal["rounds", "stopped", "budget", "concession", "stalemate", "judged", "decided", "aborted"]
FailReason = Literal["permanent_fault", "all_failed", "judge_failed", "internal", "budget"]


class DebateOpened(Struct, frozen=True, tag="debate.opened"):
    motion: str
    format: Format
    seats: tuple[Seat, ...]
    judges: tuple[Judge, ...]
    limits: DebateLimits
    manner: DebateOptions
    title: str = ""
    prompts: int = 1
    """The version of the words that models are told."""
    fence: str = ""
    """Secret: the names of the fences around quotations are made from it. Only the owner sees it."""


class DebateStarted(Struct, frozen=True, tag="debate.started", omit_defaults=True):
    step: StepSize | None = None
    """It goes on for so much, and pauses by itself."""


class DebateImported(Struct, frozen=True, tag="debate.imported"):
    """What stands before this event was held elsewhere; `record` is what was kept of it there, as it was."""

    source: str
    record: dict[str, Any]


class DebateReady(Struct, frozen=True, tag="debate.ready"):
    """A runner has taken the debate up, and the models are at hand."""


class DebatePaused(Struct, frozen=True, tag="debate.paused"):
    by: str = ""
    reason: str = ""


class DebateResumed(Struct, frozen=True, tag="debate.resumed", omit_defaults=True):
    step: StepSize | None = None
    """It goes on for so much, and pauses by itself."""
    intensity: int | None = None
    """How hard they go at each other from now on, where that has changed."""


class DebateStopped(Struct, frozen=True, tag="debate.stopped"):
    """Someone ended it early; what was said is judged."""

    reason: str = ""


class DebateEnded(Struct, frozen=True, tag="debate.ended"):
    reason: EndReason
    detail: str = ""


class DebateFailed(Struct, frozen=True, tag="debate.failed"):
    """It cannot go on as it is; retry, judge or stop may still follow."""

    reason: FailReason
    detail: str = ""


class RoundAsked(Struct, frozen=True, tag="round.asked"):
    """Manual mode: the next round may begin."""


class RoundStarted(Struct, frozen=True, tag="round.started"):
    round: int


class RoundCompleted(Struct, frozen=True, tag="round.completed"):
    round: int


class TurnStarted(Struct, frozen=True, tag="turn.started"):
    turn: int
    slot: int
    round: int
    phase: str
    tone: Tone
    seat: str


class TurnCompleted(Struct, frozen=True, tag="turn.completed", omit_defaults=True):
    turn: int
    words: int
    truncated: Truncation | None = None
    refusal: bool = False
    degraded: str = ""
    over_length: bool = False
    clipped: int = 0
    """Of all its words only so many are heard, since it went beyond its budget; 0: all of them."""


class TurnFailed(Struct, frozen=True, tag="turn.failed"):
    turn: int
    kind: FaultKind
    message: str


class TurnInterrupted(Struct, frozen=True, tag="turn.interrupted"):
    """Cut in mid-speech; the words said so far are kept."""

    turn: int
    by: InterruptReason


class TurnSkipped(Struct, frozen=True, tag="turn.skipped"):
    """A speech that never began."""

    slot: int
    seat: str
    by: str = ""


class TurnRetried(Struct, frozen=True, tag="turn.retried"):
    """This turn is struck; its slot will be spoken again."""

    turn: int


class TurnExtended(Struct, frozen=True, tag="turn.extended"):
    """Its speaker has more time."""

    turn: int
    seconds: float
    by: str = ""


class RoundsAdded(Struct, frozen=True, tag="rounds.added"):
    rounds: int
    by: str = ""


class SeatTaken(Struct, frozen=True, tag="seat.taken"):
    """A person sits down; the model that sat there stands in when they leave."""

    seat: str
    by: str


class SeatLeft(Struct, frozen=True, tag="seat.left"):
    """The person is gone, by their own wish or since their time ran out; from now on the stand-in speaks."""

    seat: str
    by: str = ""


class SeatFilled(Struct, frozen=True, tag="seat.filled", omit_defaults=True):
    """A seat that nobody held is given to a model, which speaks there from now on."""

    seat: str
    model: Model
    by: str = ""


class DraftKept(Struct, frozen=True, tag="draft.kept"):
    """What the person of a seat has written and not said."""

    seat: str
    text: str


class AsideAsked(Struct, frozen=True, tag="aside.asked", omit_defaults=True):
    """Something is asked of a seat, or of a judge as referee, beside the speeches."""

    aside: int
    kind: AsideKind
    slot: int
    seat: str | None = None
    judge: str | None = None
    turn: int | None = None
    """The speech that it is about."""
    about: str = ""
    """The words that gave rise to it."""


class AsideAnswered(Struct, frozen=True, tag="aside.answered", omit_defaults=True):
    aside: int
    yes: bool = False
    text: str = ""


class AsideFailed(Struct, frozen=True, tag="aside.failed"):
    """No answer came: that is a no."""

    aside: int
    message: str


class PointRaised(Struct, frozen=True, tag="point.raised"):
    """Someone rose on a point of information; only one that is accepted is heard."""

    point: int
    turn: int
    seat: str
    accepted: bool
    text: str


class PollOpened(Struct, frozen=True, tag="poll.opened"):
    poll: PollName
    seconds: float | None = None
    """How long it stays open. None: until somebody closes it."""


class VoteCast(Struct, frozen=True, tag="vote.cast", omit_defaults=True):
    """One voter, one poll, one vote: a side, a seat, or undecided."""

    poll: PollName
    voter: str
    choice: str
    late: bool = False
    """After that poll had closed: it is shown apart."""


class PollClosed(Struct, frozen=True, tag="poll.closed"):
    poll: PollName
    by: str = ""


class CallStarted(Struct, frozen=True, tag="call.started", omit_defaults=True):
    """About to ask a model. The reservation is its worst case in money, None where the price is unknown."""

    call: int
    model: str
    request: str
    attempt: int
    max_tokens: int
    input_bound: int
    reserved: Money | None
    turn: int | None = None
    judge: str | None = None
    order: int = 0
    repair: bool = False
    previous_response_id: str | None = None
    trimmed: int = 0
    """So many of the oldest speeches were left out, because the whole was too long for the model."""
    aside: int | None = None
    continues: int | None = None
    """The call whose tools have answered, or that paused: the speech goes on where that one ended."""
    input_guess: int = 0
    """About how many tokens are sent, rather too many than too few; 0: not told."""


class CallDelta(Struct, frozen=True, tag="call.delta", omit_defaults=True):
    call: int
    segment: int
    kind: DeltaKind
    text: str
    part: PartStart | None = None
    """With the first words of a part, where the service names and counts its items."""


class SegmentCompleted(Struct, frozen=True, tag="segment.completed", omit_defaults=True):
    call: int
    segment: Segment
    taken_back: bool = False
    """The words of this call so far were thoughts, and not speech."""


class CallCompleted(Struct, frozen=True, tag="call.completed", omit_defaults=True):
    call: int
    finish: FinishReason
    usage: Usage
    cost: Money | None
    latency_ms: int
    first_token_ms: int | None = None
    response_id: str | None = None
    truncated: Truncation | None = None
    stored: bool = True
    """False: the provider keeps nothing, so that no later call can refer to this one."""
    reason: str = ""
    """Why it ended, in the provider's own word."""
    answered_by: str = ""
    """The model that answered, as the provider names it."""
    request_id: str = ""
    """By which the provider's own people would find this call."""
    unread: int = 0
    """Events in the reply of kinds that we do not know."""


class CallFailed(Struct, frozen=True, tag="call.failed", omit_defaults=True):
    call: int
    kind: FaultKind
    severity: FaultSeverity
    message: str
    usage: Usage
    cost: Money | None
    latency_ms: int = 0
    http_status: int | None = None
    retry_in_ms: int | None = None
    """None: there will be no further attempt."""
    billed: bool = True
    request_id: str = ""


class RemarkInjected(Struct, frozen=True, tag="remark.injected", omit_defaults=True):
    remark: int
    text: str
    by: str = ""
    to: str | None = None
    question: bool = False
    """It wants an answer: of the seat it is put to, in its next speech, or of all when the floor is heard."""


class BudgetWarned(Struct, frozen=True, tag="budget.warned", omit_defaults=True):
    """What was spent, and what is set aside beyond it, have come to the threshold."""

    threshold: Money
    spent: Money
    reserved: Money = Money(0)


class BudgetExhausted(Struct, frozen=True, tag="budget.exhausted"):
    limit: Money
    spent: Money
    held: Money


class StalemateFound(Struct, frozen=True, tag="stalemate.found"):
    evidence: tuple[SimilarTurns, ...]
    threshold: float


class ConcessionMade(Struct, frozen=True, tag="concession.made", omit_defaults=True):
    turn: int
    seat: str
    words: str
    referee: str = ""
    """What the referee said who was asked whether that is so."""


class JudgingStarted(Struct, frozen=True, tag="judging.started", omit_defaults=True):
    judging: int
    why: EndReason
    reason: str = ""
    judges: tuple[Judge, ...] = ()
    """Who judges, where it is not those of the debate: a debate that is over is judged again."""
    allowance: Money | None = None
    """What judging again may cost, whatever the debate's own limit has left."""
    labels: tuple[str, ...] = ()
    """Under which the parties are shown, where the usual labels occur in the debate."""


class BallotCast(Struct, frozen=True, tag="ballot.cast"):
    judging: int
    ballot: Ballot


class BallotSpoiled(Struct, frozen=True, tag="ballot.spoiled"):
    """A judge gave nothing usable, even after a repair."""

    judging: int
    judge: str
    order: int
    message: str


class JudgingFailed(Struct, frozen=True, tag="judging.failed"):
    """Judging again came to nothing; what was decided before stands."""

    judging: int
    message: str


class VerdictReached(Struct, frozen=True, tag="verdict.reached"):
    verdict: Verdict
    judging: int | None = None


Event = (
    DebateOpened | DebateStarted | DebateReady | DebatePaused | DebateResumed | DebateStopped | DebateEnded
    | DebateFailed | RoundAsked | RoundStarted | RoundCompleted | TurnStarted | TurnCompleted | TurnFailed
    | TurnInterrupted | TurnSkipped | TurnRetried | CallStarted | CallDelta | SegmentCompleted
    | CallCompleted | CallFailed | RemarkInjected | BudgetWarned | BudgetExhausted | StalemateFound
    | ConcessionMade | JudgingStarted | BallotCast | BallotSpoiled | VerdictReached | JudgingFailed
    | TurnExtended | RoundsAdded | SeatTaken | SeatLeft | DraftKept | AsideAsked | AsideAnswered
    | AsideFailed | PointRaised | PollOpened | VoteCast | PollClosed | SeatFilled | DebateImported
)  # fmt: skip

StreamedEvent = CallDelta | SegmentCompleted
"""The events that a runner may write without looking at the head of the log."""


class Recorded(Struct, frozen=True):
    """An event with its position in the log: the debate, `seq` (1, 2, 3 …), time, and epoch of the runner."""

    debate: str
    seq: int
    at: datetime
    epoch: int
    event: Event


_encoder = msgspec.json.Encoder(decimal_format="string")
_event_decoder = msgspec.json.Decoder(Event)
_recorded_decoder = msgspec.json.Decoder(Recorded)


def encode(value: Event | Recorded) -> bytes:
    return _encoder.encode(value)


def decode_event(data: bytes | str) -> Event:
    return _event_decoder.decode(data)


def decode_recorded(data: bytes | str) -> Recorded:
    return _recorded_decoder.decode(data)


def tag_of(event: Event) -> str:
    return str(event.__struct_config__.tag)
