"""The state of a debate, and how each event changes it: `state = fold(events)`.

`Debate` is frozen; `evolve` is the only place where it changes, total over all events. Finished turns are in
`turns`, those being given in `live`. Deltas touch only the live turn they belong to, so the cost of a token
does not grow with the debate. `decide` and `plan` never look at live text.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal, TypeVar, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from moot.events import (
    BallotCast,
    BallotSpoiled,
    BudgetExhausted,
    BudgetWarned,
    CallCompleted,
    CallDelta,
    CallFailed,
    CallStarted,
    ConcessionMade,
    DebateEnded,
    DebateFailed,
    DebateOpened,
    DebatePaused,
    DebateReady,
    DebateResumed,
    DebateStarted,
    DebateStopped,
    EndReason,
    Event,
    FailReason,
    JudgingStarted,
    Recorded,
    RemarkInjected,
    RoundAsked,
    RoundCompleted,
    RoundStarted,
    SegmentCompleted,
    StalemateFound,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnRetried,
    TurnSkipped,
    TurnStarted,
    VerdictReached,
)
from moot.schedule import schedule
from moot.terms import (
    Ballot,
    Format,
    Judge,
    Limits,
    Manner,
    Money,
    Phase,
    Seat,
    Segment,
    Slot,
    Status,
    Text,
    Tone,
    Truncation,
    Usage,
    Verdict,
)

RUNNING: tuple[Status, ...] = ("initializing", "awaiting_arguments", "debating")
FINAL: tuple[Status, ...] = ("completed", "aborted")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING = Money(0)

TurnState = Literal["live", "completed", "failed", "interrupted"]
REPLAYED = ("crash", "pause", "drain")
"""Interruptions after which the same speech is given again."""


class Turn(Struct, frozen=True):
    number: int
    slot: int
    round: int
    phase: str
    tone: Tone
    seat: str
    seq: int
    """Where in the log it started: what it hears is what stands before."""
    started_at: datetime
    state: TurnState = "live"
    text: str = ""
    reasoning: str = ""
    segments: tuple[Segment, ...] = ()
    call: int | None = None
    attempt: int = 0
    max_tokens: int = 0
    by: str = ""
    """Who or what interrupted it, or the kind of fault that failed it."""
    message: str = ""
    words: int = 0
    truncated: Truncation | None = None
    refusal: bool = False
    degraded: str = ""
    over_length: bool = False
    struck: bool = False
    """Given again later; it no longer counts, and nobody hears it."""
    usage: Usage = Usage()
    cost: Money | None = NOTHING
    latency_ms: int = 0
    response_id: str | None = None
    ended_at: datetime | None = None

    @property
    def spent(self) -> bool:
        """Its slot is used up."""
        if self.struck or self.state == "live":
            return False
        return not (self.state == "interrupted" and self.by in REPLAYED)

    @property
    def said(self) -> bool:
        """It left words that count."""
        return self.spent and self.state in ("completed", "interrupted") and bool(self.text.strip())


class Call(Struct, frozen=True):
    """A call under way."""

    number: int
    model: str
    attempt: int
    max_tokens: int
    input_bound: int
    reserved: Money | None
    turn: int | None = None
    judge: str | None = None
    order: int = 0
    repair: bool = False
    text: str = ""
    reasoning: str = ""


Speaking = TypeVar("Speaking", Turn, Call)


class Remark(Struct, frozen=True):
    number: int
    seq: int
    text: str
    by: str
    to: str | None
    at: datetime


class Tally(Struct, frozen=True):
    """What one model has used and cost so far; `unpriced` calls have no known price."""

    usage: Usage = Usage()
    cost: Money = NOTHING
    calls: int = 0
    unpriced: int = 0


class Judging(Struct, frozen=True):
    number: int
    why: EndReason
    ballots: tuple[Ballot, ...] = ()
    spoiled: tuple[tuple[str, int], ...] = ()
    lost: tuple[tuple[str, int], ...] = ()
    """Judges whose call was lost to a crash, once for each time."""

    def has(self, judge: str, order: int) -> bool:
        return (judge, order) in self.spoiled or any(
            ballot.judge == judge and ballot.order == order for ballot in self.ballots
        )


class Debate(Struct, frozen=True):
    id: str
    motion: str
    format: Format
    seats: tuple[Seat, ...]
    judges: tuple[Judge, ...]
    limits: Limits
    manner: Manner
    schedule: tuple[Slot, ...]
    title: str = ""
    seq: int = 0
    turning: int = 0
    """The seq of the last event that is not a delta or a segment."""
    epoch: int = 0
    status: Status = "created"
    before_pause: Status | None = None
    round: int = 0
    rounds_done: int = 0
    rounds_asked: int = 0
    turns: tuple[Turn, ...] = ()
    live: tuple[Turn, ...] = ()
    skipped: tuple[int, ...] = ()
    calls_made: int = 0
    calls: tuple[Call, ...] = ()
    remarks: tuple[Remark, ...] = ()
    tallies: dict[str, Tally] = field(default_factory=dict[str, Tally])
    counted: Money = NOTHING
    """What the limit counts: settled costs, and the reservations of calls whose cost is not known."""
    warned: bool = False
    judging: Judging | None = None
    verdicts: tuple[Verdict, ...] = ()
    ended: EndReason | None = None
    ended_detail: str = ""
    failure: FailReason | None = None
    created_at: datetime = EPOCH
    started_at: datetime | None = None
    updated_at: datetime = EPOCH
    paused_at: datetime | None = None
    stopped_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def running(self) -> bool:
        return self.status in RUNNING

    @property
    def final(self) -> bool:
        return self.status in FINAL

    @property
    def verdict(self) -> Verdict | None:
        return self.verdicts[0] if self.verdicts else None

    @property
    def rounds_planned(self) -> int:
        return self.schedule[-1].round if self.schedule else 0

    @property
    def spent(self) -> Money:
        """What the calls have cost so far, estimates included."""
        return sum((tally.cost for tally in self.tallies.values()), NOTHING)

    @property
    def reserved(self) -> Money:
        return sum((call.reserved or NOTHING for call in self.calls), NOTHING)

    @property
    def something_said(self) -> bool:
        return any(turn.said for turn in self.turns)

    @property
    def waiting(self) -> tuple[Remark, ...]:
        """Remarks that no turn has heard yet: the next one will."""
        heard = max((turn.seq for turn in (*self.turns, *self.live)), default=0)
        return tuple(remark for remark in self.remarks if remark.seq > heard)

    def seat(self, seat_id: str) -> Seat:
        return next(seat for seat in self.seats if seat.id == seat_id)

    def judge(self, judge_id: str) -> Judge:
        return next(judge for judge in self.judges if judge.id == judge_id)

    def phase(self, slot: int) -> Phase:
        return self.format.phases[self.schedule[slot].phase]

    def turn(self, number: int) -> Turn | None:
        return next((turn for turn in (*self.turns, *self.live) if turn.number == number), None)

    def is_live(self, number: int) -> bool:
        return any(turn.number == number for turn in self.live)

    def call(self, number: int) -> Call | None:
        return next((call for call in self.calls if call.number == number), None)

    def unspent(self) -> tuple[Slot, ...]:
        used = {turn.slot for turn in self.turns if turn.spent} | set(self.skipped)
        return tuple(slot for slot in self.schedule if slot.index not in used)

    def chain(self, seat_id: str) -> str | None:
        """The response id that this seat's next turn refers to: its own last one, never another's."""
        own = (turn for turn in reversed(self.turns) if turn.seat == seat_id and turn.state == "completed")
        return next((turn.response_id for turn in own if turn.said), None)


def fold(records: Iterable[Recorded], debate: Debate | None = None) -> Debate | None:
    for recorded in records:
        debate = evolve(debate, recorded)
    return debate


def evolve(debate: Debate | None, recorded: Recorded) -> Debate:
    event = recorded.event
    if debate is None:
        if not isinstance(event, DebateOpened):
            raise ValueError("a debate begins with debate.opened")
        return _opened(event, recorded)
    if isinstance(event, CallDelta):
        return _delta(debate, recorded, event)
    changed = _change(debate, recorded, event)
    narrated = isinstance(event, SegmentCompleted)
    return replace(
        changed,
        seq=recorded.seq,
        turning=debate.turning if narrated else recorded.seq,
        epoch=recorded.epoch,
        updated_at=recorded.at,
    )


def _opened(event: DebateOpened, recorded: Recorded) -> Debate:
    return Debate(
        id=recorded.debate,
        motion=event.motion,
        title=event.title,
        format=event.format,
        seats=event.seats,
        judges=event.judges,
        limits=event.limits,
        manner=event.manner,
        schedule=schedule(event.format, event.seats, event.limits),
        seq=recorded.seq,
        turning=recorded.seq,
        epoch=recorded.epoch,
        created_at=recorded.at,
        updated_at=recorded.at,
    )


def _delta(debate: Debate, recorded: Recorded, event: CallDelta) -> Debate:
    """The hot path: one call, perhaps one live turn, and nothing else."""
    live, calls = debate.live, debate.calls
    for i, call in enumerate(calls):
        if call.number != event.call:
            continue
        if call.turn is None:
            calls = (*calls[:i], _heard(call, event), *calls[i + 1 :])
        for j, turn in enumerate(live):
            if turn.call == event.call:
                live = (*live[:j], _heard(turn, event), *live[j + 1 :])
    return replace(
        debate, seq=recorded.seq, epoch=recorded.epoch, updated_at=recorded.at, live=live, calls=calls
    )


def _heard(speaker: Speaking, event: CallDelta) -> Speaking:
    if event.kind == "text":
        return replace(speaker, text=speaker.text + event.text)
    return replace(speaker, reasoning=speaker.reasoning + event.text)


def _change(debate: Debate, recorded: Recorded, event: Event) -> Debate:
    match event:
        case DebateOpened() | CallDelta():
            raise ValueError("a debate opens once")
        case DebateStarted():
            return replace(debate, status="initializing", started_at=recorded.at)
        case DebateReady():
            return _set_status(debate, "awaiting_arguments")
        case DebatePaused():
            return replace(debate, status="paused", before_pause=debate.status, paused_at=recorded.at)
        case DebateResumed():
            status = debate.before_pause or "debating"
            return replace(debate, status=status, before_pause=None, paused_at=None)
        case DebateStopped():
            return replace(debate, stopped_at=recorded.at)
        case DebateEnded():
            status = "aborted" if event.reason == "aborted" else "completed"
            return _halt(debate, status, ended=event.reason, detail=event.detail, at=recorded.at)
        case DebateFailed():
            return replace(_halt(debate, "error", detail=event.detail), failure=event.reason)
        case RoundAsked():
            return replace(debate, rounds_asked=_following_round(debate))
        case RoundStarted():
            return replace(debate, round=event.round)
        case RoundCompleted():
            done = replace(debate, rounds_done=max(debate.rounds_done, event.round))
            waits = not debate.manner.auto or event.round >= debate.rounds_planned
            return _set_status(done, "awaiting_arguments") if waits else done
        case TurnStarted():
            return _turn_started(debate, recorded, event)
        case TurnCompleted() | TurnFailed() | TurnInterrupted():
            return _turn_ended(debate, recorded, event)
        case TurnSkipped():
            return replace(debate, skipped=(*debate.skipped, event.slot))
        case TurnRetried():
            turns = tuple(
                replace(turn, struck=True) if turn.number == event.turn else turn for turn in debate.turns
            )
            status = debate.status if debate.status == "paused" else "debating"
            return replace(debate, turns=turns, status=status, failure=None, ended_detail="")
        case CallStarted():
            return _call_started(debate, event)
        case SegmentCompleted():
            live = tuple(
                replace(turn, segments=(*turn.segments, event.segment)) if turn.call == event.call else turn
                for turn in debate.live
            )
            return replace(debate, live=live)
        case CallCompleted() | CallFailed():
            return _call_ended(debate, event)
        case RemarkInjected():
            remark = Remark(event.remark, recorded.seq, event.text, event.by, event.to, recorded.at)
            return replace(debate, remarks=(*debate.remarks, remark))
        case BudgetWarned():
            return replace(debate, warned=True)
        case BudgetExhausted() | StalemateFound() | ConcessionMade():
            return debate
        case JudgingStarted():
            judging = Judging(event.judging, event.why)
            halted = _halt(debate, "judging")
            return replace(halted, judging=judging, failure=None)
        case BallotCast():
            return _judged(debate, ballots=(event.ballot,))
        case BallotSpoiled():
            return _judged(debate, spoiled=((event.judge, event.order),))
        case VerdictReached():
            return replace(debate, verdicts=(*debate.verdicts, event.verdict))
        case _:
            assert_never(event)


def _following_round(debate: Debate) -> int:
    """The round of the next speech: one whose speeches were all skipped is never asked for."""
    unspent = debate.unspent()
    return max(debate.rounds_asked, unspent[0].round if unspent else debate.rounds_done)


def _set_status(debate: Debate, status: Status) -> Debate:
    """What a debate is doing while it is paused is remembered, not shown."""
    if debate.status == "paused":
        return replace(debate, before_pause=status)
    return replace(debate, status=status)


def _halt(
    debate: Debate,
    status: Status,
    *,
    ended: EndReason | None = None,
    detail: str = "",
    at: datetime | None = None,
) -> Debate:
    halted = replace(debate, status=status, before_pause=None, paused_at=None)
    return replace(halted, ended=ended, ended_detail=detail, ended_at=at)


def _turn_started(debate: Debate, recorded: Recorded, event: TurnStarted) -> Debate:
    turn = Turn(
        number=event.turn,
        slot=event.slot,
        round=event.round,
        phase=event.phase,
        tone=event.tone,
        seat=event.seat,
        seq=recorded.seq,
        started_at=recorded.at,
    )
    return _set_status(replace(debate, live=(*debate.live, turn)), "debating")


def _turn_ended(
    debate: Debate, recorded: Recorded, event: TurnCompleted | TurnFailed | TurnInterrupted
) -> Debate:
    turn = next((turn for turn in debate.live if turn.number == event.turn), None)
    if turn is None:
        return debate
    turn = replace(turn, text=_last_text(turn, event), ended_at=recorded.at)
    match event:
        case TurnCompleted():
            turn = replace(
                turn,
                state="completed",
                words=event.words,
                truncated=event.truncated,
                refusal=event.refusal,
                degraded=event.degraded,
                over_length=event.over_length,
            )
        case TurnFailed():
            turn = replace(turn, state="failed", by=event.kind, message=event.message)
        case TurnInterrupted():
            turn = replace(turn, state="interrupted", by=event.by, words=len(turn.text.split()))
    live = tuple(other for other in debate.live if other.number != event.turn)
    return replace(debate, live=live, turns=(*debate.turns, turn))


def _last_text(turn: Turn, event: TurnCompleted | TurnFailed | TurnInterrupted) -> str:
    """What the provider gave as the whole text, where there is a whole; else the words as they came."""
    ordered = sorted(turn.segments, key=lambda segment: segment.index)
    whole = "".join(segment.text for segment in ordered if isinstance(segment, Text))
    broke_off = not isinstance(event, TurnCompleted) or event.truncated == "timeout"
    return turn.text if (broke_off and turn.text) or not whole else whole


def _call_started(debate: Debate, event: CallStarted) -> Debate:
    call = Call(
        number=event.call,
        model=event.model,
        attempt=event.attempt,
        max_tokens=event.max_tokens,
        input_bound=event.input_bound,
        reserved=event.reserved,
        turn=event.turn,
        judge=event.judge,
        order=event.order,
        repair=event.repair,
    )
    # A further attempt strikes the words of the one before.
    live = tuple(
        replace(
            turn,
            call=event.call,
            attempt=event.attempt,
            max_tokens=event.max_tokens,
            text="",
            reasoning="",
            segments=(),
        )
        if turn.number == event.turn
        else turn
        for turn in debate.live
    )
    return replace(debate, calls=(*debate.calls, call), calls_made=event.call, live=live)


def _call_ended(debate: Debate, event: CallCompleted | CallFailed) -> Debate:
    call = debate.call(event.call)
    if call is None:
        return debate
    tally = debate.tallies.get(call.model, Tally())
    tally = Tally(
        usage=tally.usage + event.usage,
        cost=tally.cost + (event.cost or NOTHING),
        calls=tally.calls + 1,
        unpriced=tally.unpriced + (event.cost is None),
    )
    live = tuple(_charged(turn, event) if turn.call == event.call else turn for turn in debate.live)
    turns = debate.turns
    if call.turn is not None and not any(turn.number == call.turn for turn in live):
        turns = tuple(_charged(turn, event) if turn.call == event.call else turn for turn in turns)
    judging = debate.judging
    if judging and call.judge and isinstance(event, CallFailed) and event.kind == "lost":
        judging = replace(judging, lost=(*judging.lost, (call.judge, call.order)))
    return replace(
        debate,
        judging=judging,
        calls=tuple(other for other in debate.calls if other.number != event.call),
        tallies={**debate.tallies, call.model: tally},
        counted=debate.counted + _counts(call, event),
        live=live,
        turns=turns,
    )


def _charged(turn: Turn, event: CallCompleted | CallFailed) -> Turn:
    cost = None if turn.cost is None or event.cost is None else turn.cost + event.cost
    turn = replace(turn, usage=turn.usage + event.usage, cost=cost, latency_ms=event.latency_ms)
    return replace(turn, response_id=event.response_id) if isinstance(event, CallCompleted) else turn


def _counts(call: Call, event: CallCompleted | CallFailed) -> Money:
    """A call of unknown cost may have been billed in full: its whole reservation stays counted."""
    cost = event.cost or NOTHING
    billed = isinstance(event, CallCompleted) or event.billed
    return max(cost, call.reserved or NOTHING) if billed and event.usage.estimated else cost


def _judged(
    debate: Debate, ballots: tuple[Ballot, ...] = (), spoiled: tuple[tuple[str, int], ...] = ()
) -> Debate:
    if debate.judging is None:
        return debate
    judging = replace(
        debate.judging,
        ballots=(*debate.judging.ballots, *ballots),
        spoiled=(*debate.judging.spoiled, *spoiled),
    )
    return replace(debate, judging=judging)
