"""What can happen in a debate: facts in the past tense, in one union with one codec.

The log of a debate is a list of `Recorded` with `seq` 1, 2, 3 without gaps. Tags are fixed names, never class
paths: a new field gets a default, a changed meaning gets a new tag. A *call* is one attempt to get a reply
from a model, for a turn, an aside or a ballot. The text of a turn is that of its last call and of the calls
which that one continues. Requests as sent are stored by hash beside the log, because they grow with the
square of the turns.

An event that every viewer may see is a `PublicEvent`; `visibility.py` decides about all others. How an event
changes the state is in `evolve.py`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct, field

from moot.core.errors import FaultKind, FaultSeverity
from moot.core.extension_events import TAG as EXTENSION_TAG
from moot.core.extension_events import ExtensionEvent, decode_extension_event
from moot.core.statuses import EndReason, FailReason
from moot.core.terms import (
    Ballot,
    DebateLimits,
    DebateSetup,
    DebateVerdict,
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
)

InterruptReason = Literal[
    "skip", "stop", "pause", "judge", "decide", "abort", "crash", "drain", "budget", "absent",
    "unusable",
]  # fmt: skip
"""`absent`: the person of that seat did not speak in time, and their stand-in speaks instead; `unusable`: a
model of the debate, not always the speaker's, cannot be used."""


class PublicEvent(Struct, frozen=True):
    """An event that every viewer may see in full."""


class DebateOpened(Struct, frozen=True, tag="debate.opened"):
    motion: str
    format: Format
    seats: tuple[Seat, ...]
    judges: tuple[Judge, ...]
    limits: DebateLimits
    setup: DebateSetup = field(name="manner")
    title: str = ""
    prompts: int = 1
    """The version of the prompts."""
    fence: str = ""
    """Secret: the names of the fences around quotations are made from it. Only the owner sees it."""


class DebateStarted(PublicEvent, frozen=True, tag="debate.started", omit_defaults=True):
    step: StepSize | None = None
    """Pauses by itself after this much."""


class DebateImported(Struct, frozen=True, tag="debate.imported"):
    """The events before this one happened elsewhere; `record` is the other system's own record, unchanged."""

    source: str
    record: dict[str, Any]


class DebateReady(PublicEvent, frozen=True, tag="debate.ready"):
    """A runner has claimed the debate, and the models are loaded."""


class DebatePaused(PublicEvent, frozen=True, tag="debate.paused"):
    by: str = ""
    reason: str = ""


class DebateResumed(PublicEvent, frozen=True, tag="debate.resumed", omit_defaults=True):
    step: StepSize | None = None
    """Pauses by itself after this much."""
    intensity: int | None = None
    """From now on, where it changed."""
    quoted: str = ""
    """What the next speaker is told that its opponent said, where that differs from the speech in the log."""


class DebateStopped(PublicEvent, frozen=True, tag="debate.stopped"):
    """Ended early by a command; what was said is judged."""

    reason: str = ""


class DebateEnded(PublicEvent, frozen=True, tag="debate.ended"):
    reason: EndReason
    detail: str = ""


class DebateFailed(PublicEvent, frozen=True, tag="debate.failed"):
    """The debate cannot go on; the commands retry, judge and stop are still possible."""

    reason: FailReason
    detail: str = ""


class RoundAsked(PublicEvent, frozen=True, tag="round.asked"):
    """Manual mode: the next round may begin."""


class RoundStarted(PublicEvent, frozen=True, tag="round.started"):
    round: int


class RoundCompleted(PublicEvent, frozen=True, tag="round.completed"):
    round: int


class TurnStarted(PublicEvent, frozen=True, tag="turn.started"):
    turn: int
    slot: int
    round: int
    phase: str
    tone: Tone
    seat: str


class TurnCompleted(PublicEvent, frozen=True, tag="turn.completed", omit_defaults=True):
    turn: int
    words: int
    truncated: Truncation | None = None
    refusal: bool = False
    degraded: str = ""
    over_length: bool = False
    clipped: int = 0
    """Only so many of its words count, because it is over its budget; 0: all of them."""
    refusal_category: str = ""
    """The policy that the refusal rests on, as the provider names it."""


class TurnFailed(PublicEvent, frozen=True, tag="turn.failed"):
    turn: int
    kind: FaultKind
    message: str


class TurnInterrupted(PublicEvent, frozen=True, tag="turn.interrupted"):
    """Cut in mid-speech; the text so far is kept."""

    turn: int
    by: InterruptReason


class TurnSkipped(PublicEvent, frozen=True, tag="turn.skipped"):
    """A speech that never began."""

    slot: int
    seat: str
    by: str = ""


class TurnRetried(PublicEvent, frozen=True, tag="turn.retried"):
    """This turn is struck: its slot is given again."""

    turn: int


class TurnExtended(PublicEvent, frozen=True, tag="turn.extended"):
    """Its speaker got more time."""

    turn: int
    seconds: float
    by: str = ""


class RoundsAdded(PublicEvent, frozen=True, tag="rounds.added"):
    rounds: int
    by: str = ""


class SeatTaken(PublicEvent, frozen=True, tag="seat.taken"):
    """A person took the seat; the model that had it becomes their stand-in."""

    seat: str
    by: str


class SeatLeft(PublicEvent, frozen=True, tag="seat.left"):
    """The person left, or their time ran out; from now on the stand-in speaks."""

    seat: str
    by: str = ""


class SeatFilled(PublicEvent, frozen=True, tag="seat.filled", omit_defaults=True):
    """A model was named for a seat that had none."""

    seat: str
    model: Model
    by: str = ""


class DraftKept(Struct, frozen=True, tag="draft.kept"):
    """What the person in a seat has written but not said."""

    seat: str
    text: str


class AsideAsked(Struct, frozen=True, tag="aside.asked", omit_defaults=True):
    """A question beside the speeches, to a seat or to a judge as referee."""

    aside: int
    kind: str
    """An `AsideKind`, or one of an extension."""
    slot: int
    seat: str | None = None
    judge: str | None = None
    turn: int | None = None
    """The speech that it is about."""
    about: str = ""
    """The passage of the speech that led to the question."""
    persona: str = ""
    """Who is asked, where it is neither a seat nor a judge."""


class AsideAnswered(Struct, frozen=True, tag="aside.answered", omit_defaults=True):
    aside: int
    yes: bool = False
    text: str = ""
    chances: dict[str, float] = {}
    """How likely each party is to win, from 0 to 1; a debater is asked about its own only."""


class AsideFailed(Struct, frozen=True, tag="aside.failed", omit_defaults=True):
    """No answer came, which counts as a no."""

    aside: int
    message: str
    lost: bool = False
    """The process stopped meanwhile: the question of an extension is asked again."""


class PointRaised(Struct, frozen=True, tag="point.raised"):
    """A point of information was offered; only an accepted one is heard."""

    point: int
    turn: int
    seat: str
    accepted: bool
    text: str


class PollOpened(PublicEvent, frozen=True, tag="poll.opened"):
    poll: PollName
    seconds: float | None = None
    """How long it stays open. None: until it is closed by a command."""


class VoteCast(Struct, frozen=True, tag="vote.cast", omit_defaults=True, gc=False):
    """One voter's vote in one poll: a side, a seat, or undecided. Without gc: there may be thousands."""

    poll: PollName
    voter: str
    choice: str
    late: bool = False
    """Cast after the poll had closed: shown apart."""


class PollClosed(PublicEvent, frozen=True, tag="poll.closed"):
    poll: PollName
    by: str = ""


class CallStarted(Struct, frozen=True, tag="call.started", omit_defaults=True):
    """A model is about to be called. `reserved` is the most it can cost, None where the price is unknown."""

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
    """So many of the oldest speeches were left out, because all of them were too long for the model."""
    aside: int | None = None
    continues: int | None = None
    """The call that this one continues, because its tools have answered or it paused."""
    input_guess: int = 0
    """Estimated input tokens, rather too many than too few; 0: unknown."""


class CallDelta(Struct, frozen=True, gc=False, tag="call.delta", omit_defaults=True):
    call: int
    segment: int
    kind: DeltaKind
    text: str
    part: PartStart | None = None
    """With the first text of a part, where the service numbers its items."""


class SegmentCompleted(Struct, frozen=True, gc=False, tag="segment.completed", omit_defaults=True):
    call: int
    segment: Segment
    taken_back: bool = False
    """The text of this call so far turned out to be reasoning, not speech."""


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
    """False: the provider does not keep the response, so no later call can refer to it."""
    reason: str = ""
    """Why it ended, in the provider's own word."""
    answered_by: str = ""
    """The model that answered, as the provider names it."""
    request_id: str = ""
    """The provider's id of this call, for its support."""
    unread: int = 0
    """Events of unknown kinds in the reply."""
    refusal_category: str = ""
    """Of a refusal: the policy that it rests on, as the provider names it."""
    service_tier: str = ""
    """The tier at which the service answered, where one was asked for and it says so."""


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
    counted: Money | None = None
    """What counts towards the cost limit, where that is neither the cost nor the whole reservation: of a call
    that was lost with its process."""


class RemarkInjected(Struct, frozen=True, tag="remark.injected", omit_defaults=True):
    remark: int
    text: str
    by: str = ""
    to: str | None = None
    question: bool = False
    """It wants an answer: from the seat it is put to in its next speech, or from all in the round of audience
    questions."""


class BudgetWarned(PublicEvent, frozen=True, tag="budget.warned", omit_defaults=True):
    """The settled cost has passed the threshold; or, with `limit`, the cost limit stops the debate before
    that."""

    threshold: Money
    spent: Money
    reserved: Money = Money(0)
    limit: Money | None = None


class BudgetShortened(PublicEvent, frozen=True, tag="budget.shortened"):
    """From this round on speeches have so many per cent of their words, so that the rest of the debate fits
    the cost limit; 100 again where there turned out to be more room."""

    round: int
    percent: int


class BudgetExhausted(PublicEvent, frozen=True, tag="budget.exhausted", omit_defaults=True):
    """The cost limit leaves no room for another round, or for the call that was next."""

    limit: Money
    spent: Money
    held: Money
    cut_round: int = 0
    """The round that could not be completed: its speeches are not judged, since one side would have a speech
    that the other was denied. 0 where all rounds that began are complete."""


class StalemateFound(PublicEvent, frozen=True, tag="stalemate.found"):
    evidence: tuple[SimilarTurns, ...]
    threshold: float


class ConcessionMade(PublicEvent, frozen=True, tag="concession.made", omit_defaults=True):
    turn: int
    seat: str
    words: str
    referee: str = ""
    """What the referee said when asked to confirm it."""


class JudgingStarted(PublicEvent, frozen=True, tag="judging.started", omit_defaults=True):
    judging: int
    why: EndReason
    reason: str = ""
    judges: tuple[Judge, ...] = ()
    """The judges, where they are not those of the debate: a finished debate is judged again."""
    allowance: Money | None = None
    """What judging again may cost, whatever the debate's own limit has left."""
    labels: tuple[str, ...] = ()
    """The names under which the parties are shown, where the usual labels occur in the debate."""


class BallotCast(Struct, frozen=True, tag="ballot.cast"):
    judging: int
    ballot: Ballot


class BallotSpoiled(Struct, frozen=True, tag="ballot.spoiled", omit_defaults=True):
    """A judge gave no usable ballot: it could not be asked, or its reply could not be read, even when it was
    asked again."""

    judging: int
    judge: str
    order: int
    message: str
    kind: FaultKind | None = None
    """What was wrong, where a call failed; None in older logs."""
    severity: FaultSeverity | None = None
    waived: bool = False
    """The cost limit left no room for this second reading: the judge counts with the first."""


class JudgingFailed(PublicEvent, frozen=True, tag="judging.failed"):
    """Judging again gave no verdict; the earlier one stands."""

    judging: int
    message: str


class VerdictReached(PublicEvent, frozen=True, tag="verdict.reached"):
    verdict: DebateVerdict
    judging: int | None = None


AudienceEvent = PollOpened | VoteCast | PollClosed
"""What the audience does, and what is asked of it: see `core/audience.py`."""

Event = (
    DebateOpened | DebateStarted | DebateReady | DebatePaused | DebateResumed | DebateStopped | DebateEnded
    | DebateFailed | RoundAsked | RoundStarted | RoundCompleted | TurnStarted | TurnCompleted | TurnFailed
    | TurnInterrupted | TurnSkipped | TurnRetried | CallStarted | CallDelta | SegmentCompleted
    | CallCompleted | CallFailed | RemarkInjected | BudgetWarned | BudgetShortened | BudgetExhausted
    | StalemateFound | ConcessionMade | JudgingStarted | BallotCast | BallotSpoiled | VerdictReached
    | JudgingFailed | TurnExtended | RoundsAdded | SeatTaken | SeatLeft | DraftKept | AsideAsked
    | AsideAnswered | AsideFailed | PointRaised | AudienceEvent | SeatFilled | DebateImported | ExtensionEvent
)  # fmt: skip

StreamedEvent = CallDelta | SegmentCompleted
"""The events that a runner may write without looking at the head of the log."""


class Recorded(Struct, frozen=True, gc=False):
    """An event with its position in the log: the debate, `seq` (1, 2, 3 …), time, and epoch of the runner."""

    debate: str
    seq: int
    at: datetime
    epoch: int
    event: Event


class _Envelope(Struct, frozen=True):
    """A record whose event is of no type of ours."""

    debate: str
    seq: int
    at: datetime
    epoch: int
    event: dict[str, Any]


TAGS = frozenset(str(event.__struct_config__.tag) for event in get_args(Event)) - {EXTENSION_TAG}
"""The tags of our own events."""
OWN_NAMES = frozenset(tag.partition(".")[0] for tag in TAGS)
"""What our own tags begin with: no extension may have one of these names."""
_encoder = msgspec.json.Encoder(decimal_format="string")
_event_decoder = msgspec.json.Decoder(Event)
_recorded_decoder = msgspec.json.Decoder(Recorded)
_records_decoder = msgspec.json.Decoder(tuple[Recorded, ...])


def encode(value: Event | Recorded) -> bytes:
    return _encoder.encode(value)


def decode_event(data: bytes | str) -> Event:
    try:
        return _event_decoder.decode(data)
    except msgspec.ValidationError:
        members = msgspec.json.decode(data, type=dict[str, Any])
        if not _is_of_extension(members):
            raise
    return decode_extension_event(members)


def decode_recorded(data: bytes | str) -> Recorded:
    try:
        return _recorded_decoder.decode(data)
    except msgspec.ValidationError:
        envelope = msgspec.json.decode(data, type=_Envelope)
        if not _is_of_extension(envelope.event):
            raise
    return Recorded(
        envelope.debate, envelope.seq, envelope.at, envelope.epoch, decode_extension_event(envelope.event)
    )


def decode_records(data: bytes | str) -> tuple[Recorded, ...]:
    """An array of records, as stores and the bus pass them on."""
    try:
        return _records_decoder.decode(data)
    except msgspec.ValidationError:
        return tuple(map(decode_recorded, msgspec.json.decode(data, type=list[msgspec.Raw])))


def _is_of_extension(members: dict[str, Any]) -> bool:
    """Whether the event has a tag, and one that cannot be ours, not even of a later version."""
    name, dot, _ = str(members.get("type", "")).partition(".")
    return bool(name and dot) and name not in OWN_NAMES
