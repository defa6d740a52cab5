"""What a runner may do, decided on the head of the log, so that two runners or a command cannot disagree.

`advance` says what comes next; `begin` reserves the money of a call; `finish` and `fail` settle it; `recover`
takes up what a crash has left behind. Each returns events, and none where the head has moved on: a turn that
was cut is not completed, a call that was settled is not settled again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from moot.asides import Question
from moot.commands import conclude
from moot.debate import NOTHING, Aside, Call, Debate, Turn
from moot.errors import FAULT_MESSAGES, Refused
from moot.events import (
    AsideAnswered,
    AsideAsked,
    AsideFailed,
    BallotCast,
    BallotSpoiled,
    BudgetExhausted,
    BudgetWarned,
    CallCompleted,
    CallFailed,
    CallStarted,
    ConcessionMade,
    DebateEnded,
    DebateFailed,
    DebatePaused,
    DebateReady,
    Event,
    JudgingFailed,
    PollClosed,
    PollOpened,
    Recorded,
    RoundCompleted,
    RoundStarted,
    SeatLeft,
    SegmentCompleted,
    StalemateFound,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    VerdictReached,
)
from moot.evolve import evolve
from moot.floor import Say, give_way, heed, settled
from moot.floor import draft as draft_of
from moot.formats.plan import ORDERS, Ask, AskJudges, Conclude, Fail, Note, Poll, Rest, Speak, plan
from moot.judging import verdicts
from moot.judging.asking import BYTES_PER_TOKEN, judge_request, repair_room, speech_frame
from moot.pricing import cost, estimate, grant, input_bound, worst
from moot.schedule import benches
from moot.terms import Judge, Model, Money, PollName, Request, Verdict

MOST_CRASHES = 3
UNJUDGED = ("user-decides", "audience")
NO_VERDICT = "The judge gave no readable verdict, even when asked again."

Result = TurnCompleted | TurnFailed | BallotCast | BallotSpoiled | AsideAnswered | AsideFailed
"""What a call comes to in the end, for its turn, its ballot or its aside."""


class Draft:
    """Events decided so far, and the state they lead to."""

    def __init__(self, debate: Debate) -> None:
        self.debate = debate
        self.events: list[Event] = []

    def add(self, *events: Event) -> None:
        for event in events:
            at: datetime = self.debate.updated_at
            recorded = Recorded(self.debate.id, self.debate.seq + 1, at, self.debate.epoch, event)
            self.debate = evolve(self.debate, recorded)
            self.events.append(event)


def advance(debate: Debate) -> tuple[Event, ...]:
    """The next step of the debate as events; none if it rests or judges are to be asked."""
    draft = Draft(debate)
    if debate.status == "initializing":
        draft.add(DebateReady())
    if _round_is_over(debate):
        draft.add(RoundCompleted(debate.round))
    while isinstance(step := plan(draft.debate), Note):
        draft.add(*step.events)
    match step:
        case Speak(slots):
            if slots[0].round > draft.debate.round:
                draft.add(RoundStarted(slots[0].round))
            for slot in slots:
                number = len(draft.debate.turns) + len(draft.debate.live) + 1
                phase = debate.format.phases[slot.phase].key
                draft.add(TurnStarted(number, slot.index, slot.round, phase, slot.tone, slot.seat))
        case Conclude(why, None):
            draft.add(*conclude(draft.debate, why))
        case Conclude(why, found) if found is not None:
            verdict = _verdict_of(draft.debate, found)
            draft.add(found, VerdictReached(verdict), DebateEnded(why))
        case Fail(reason):
            draft.add(DebateFailed(reason, "Every speaker of the round failed."))
        case AskJudges(()):
            draft.add(*_close_judging(draft.debate))
        case Ask(questions):
            for question in questions:
                draft.add(_asked(draft.debate, question))
        case Poll(name):
            if draft.debate.poll(name) is None:
                polls = draft.debate.manner.polls
                draft.add(PollOpened(name, polls.seconds if polls else None))
        case AskJudges() | Rest() | _:
            pass
    return tuple(draft.events)


def _asked(debate: Debate, question: Question) -> AsideAsked:
    return AsideAsked(
        aside=len(debate.asides) + 1,
        kind=question.kind,
        slot=question.slot,
        seat=question.seat,
        judge=question.judge,
        turn=question.turn,
        about=question.about,
    )


class Purpose(Struct, frozen=True):
    """What a call is for: a turn, a judge with the seats in one order, or an aside."""

    turn: int | None = None
    judge: str | None = None
    order: int = 0
    repair: bool = False
    aside: int | None = None


def begin(debate: Debate, purpose: Purpose, request: Request, digest: str, attempt: int) -> tuple[Event, ...]:
    """Reserves the worst case of a call, or ends the speeches where the budget has no room for it."""
    if not still_wanted(debate, purpose):
        return ()
    bound = input_bound(request) + _remembered(debate, purpose, request)
    room, per_token = _room(debate, purpose)
    leave = grant(request.model.price, bound, request.max_tokens, room, per_token)
    if leave is not None:
        return (
            CallStarted(
                call=debate.calls_made + 1,
                model=request.model.label,
                request=digest,
                attempt=attempt,
                max_tokens=leave.max_tokens,
                input_bound=bound,
                reserved=leave.reserved,
                turn=purpose.turn,
                judge=purpose.judge,
                order=purpose.order,
                repair=purpose.repair,
                previous_response_id=request.previous_response_id,
                trimmed=request.trimmed,
                aside=purpose.aside,
            ),
        )
    if purpose.aside is not None:
        return (AsideFailed(purpose.aside, FAULT_MESSAGES["budget"]),)
    limit = debate.limits.cost or NOTHING
    exhausted = BudgetExhausted(limit, debate.counted, debate.reserved + _judging_worst(debate))
    if purpose.turn is None:
        message = FAULT_MESSAGES["budget"]
        return (exhausted, _spoil(debate, purpose, message))
    draft = Draft(debate)
    draft.add(exhausted, TurnInterrupted(purpose.turn, "budget"))
    if draft.debate.running and not draft.debate.live:
        draft.add(*conclude(draft.debate, "budget"))
    return tuple(draft.events)


def _remembered(debate: Debate, purpose: Purpose, request: Request) -> int:
    """Tokens that a provider may read again although we do not send them: the chain's own thoughts."""
    turn = debate.turn(purpose.turn) if purpose.turn is not None else None
    if turn is None or request.previous_response_id is None:
        return 0
    return sum(other.usage.reasoning for other in debate.turns if other.seat == turn.seat)


def finish(
    debate: Debate,
    done: CallCompleted,
    segments: Sequence[SegmentCompleted],
    result: Result | None,
) -> tuple[Event, ...]:
    """A call came to its end; so does its turn or ballot, unless it was cut meanwhile."""
    call = debate.call(done.call)
    if call is None:
        return ()
    draft = Draft(debate)
    wanted = still_wanted(debate, purpose_of(call))
    if wanted:
        draft.add(*segments)
    draft.add(done)
    if result is not None and wanted:
        draft.add(result)
    draft.add(*_warning(draft.debate))
    return tuple(draft.events)


def fail(debate: Debate, failed: CallFailed, result: Result | None) -> tuple[Event, ...]:
    """A call came to nothing. A permanent fault stops the debate; that of a judge, all its ballots."""
    call = debate.call(failed.call)
    if call is None:
        return ()
    draft = Draft(debate)
    wanted = still_wanted(debate, purpose_of(call))
    draft.add(failed)
    if result is not None and wanted:
        draft.add(result)
        if isinstance(result, TurnFailed) and failed.severity == "permanent":
            draft.add(DebateFailed("permanent_fault", failed.message))
        if isinstance(result, BallotSpoiled) and failed.severity == "permanent":
            draft.add(*_other_ballots(draft.debate, result))
    draft.add(*_warning(draft.debate))
    return tuple(draft.events)


def purpose_of(call: Call) -> Purpose:
    return Purpose(call.turn, call.judge, call.order, aside=call.aside)


def await_person(debate: Debate, number: int) -> tuple[Event, ...]:
    """The floor is a person's: their words come by their own hand, as those of a call that costs nothing."""
    turn = debate.turn(number)
    if turn is None or not debate.is_live(number) or turn.call is not None:
        return ()
    model = debate.seat(turn.seat).model.label
    return (CallStarted(debate.calls_made + 1, model, "", 1, 0, 0, NOTHING, turn=number),)


def time_is_up(debate: Debate, purpose: Purpose) -> tuple[Event, ...]:
    """A person has not spoken, judged or answered in time."""
    if not still_wanted(debate, purpose):
        return ()
    if purpose.aside is not None:
        return (AsideFailed(purpose.aside, FAULT_MESSAGES["timeout"]),)
    if purpose.turn is None:
        return (_spoil(debate, purpose, FAULT_MESSAGES["timeout"]),)
    turn = debate.turn(purpose.turn)
    if turn is None:
        return ()
    written = draft_of(debate, turn.seat).strip()
    if written:
        return _said_in_time(debate, turn, written)
    if debate.seat(turn.seat).stand_in is not None:
        return (*give_way(debate, turn.seat), SeatLeft(turn.seat, "clock"))
    call = debate.call(turn.call) if turn.call is not None else None
    failed = TurnFailed(turn.number, "timeout", FAULT_MESSAGES["timeout"])
    return (*((settled(call),) if call else ()), failed)


def _said_in_time(debate: Debate, turn: Turn, text: str) -> tuple[Event, ...]:
    """What stands in the draft when the time is up is said."""
    decision = heed(debate, Say(turn.seat, text))
    if isinstance(decision, Refused):
        return ()
    return tuple(
        replace(event, truncated="timeout") if isinstance(event, TurnCompleted) else event
        for event in decision
    )


def close_poll(debate: Debate, name: PollName) -> tuple[Event, ...]:
    poll = debate.poll(name)
    return () if poll is None or poll.closed_at is not None else (PollClosed(name, "clock"),)


def _other_ballots(debate: Debate, spoiled: BallotSpoiled) -> tuple[BallotSpoiled, ...]:
    """What this judge would still be asked, to no avail and perhaps for money."""
    judging = debate.judging
    return tuple(
        replace(spoiled, order=order)
        for order in ORDERS
        if judging is not None and not judging.has(spoiled.judge, order)
    )


def recover(debate: Debate) -> tuple[Event, ...]:
    """What a runner that died has left open: its calls are lost, its turns interrupted."""
    draft = Draft(debate)
    people = {turn.call for turn in debate.live if debate.seat(turn.seat).model.human}
    for call in debate.calls:
        if call.number not in people:
            draft.add(lost(debate, call))
    for aside in debate.open_asides:
        if not is_for_a_person(debate, aside):
            draft.add(AsideFailed(aside.number, FAULT_MESSAGES["lost"]))
    for turn in debate.live:
        if debate.seat(turn.seat).model.human:
            # What they have written is in the log, and their clock goes by the wall: they just go on.
            continue
        if _crashes(debate, turn) + 1 >= MOST_CRASHES:
            draft.add(TurnFailed(turn.number, "lost", FAULT_MESSAGES["lost"]))
        else:
            draft.add(TurnInterrupted(turn.number, "crash"))
    judging = draft.debate.judging
    if judging and draft.debate.being_judged:
        for judge, order in sorted(set(judging.lost)):
            if judging.lost.count((judge, order)) >= MOST_CRASHES and not judging.has(judge, order):
                draft.add(BallotSpoiled(judging.number, judge, order, FAULT_MESSAGES["lost"]))
    return tuple(draft.events)


def wait_for_keys(debate: Debate, providers: Sequence[str]) -> tuple[Event, ...]:
    """Keys that were lent are gone with the process that held them: somebody must lend them again."""
    if not debate.running:
        return ()
    return (DebatePaused("server", f"Key needed for {', '.join(providers)}."),)


def park(debate: Debate) -> tuple[Event, ...]:
    """The process is about to stop: the running turns are given again elsewhere."""
    people = {seat.id for seat in debate.seats if seat.model.human}
    return (
        *(
            AsideFailed(aside.number, "The program was stopped.")
            for aside in debate.open_asides
            if not is_for_a_person(debate, aside)
        ),
        *(TurnInterrupted(turn.number, "drain") for turn in debate.live if turn.seat not in people),
    )


def is_for_a_person(debate: Debate, aside: Aside) -> bool:
    return aside.judge is None and aside.seat is not None and debate.seat(aside.seat).model.human


def lost(debate: Debate, call: Call) -> CallFailed:
    """An open call that nobody will hear the end of."""
    turn = debate.turn(call.turn) if call.turn is not None else None
    said = turn if turn and turn.call == call.number else call
    usage = estimate(call.input_bound, len(said.text), len(said.reasoning))
    return CallFailed(
        call=call.number,
        kind="lost",
        severity="transient",
        message=FAULT_MESSAGES["lost"],
        usage=usage,
        cost=cost(model_of(debate, call).price, usage),
    )


def model_of(debate: Debate, call: Call) -> Model:
    if call.judge is not None:
        return debate.judge(call.judge).model
    if call.aside is not None and (aside := debate.aside(call.aside)):
        return aside_model(debate, aside)
    turn = debate.turn(call.turn or 0)
    return debate.seat(turn.seat).model if turn else debate.seats[0].model


def aside_model(debate: Debate, aside: Aside) -> Model:
    """Who is asked: the seat, or the judge who is referee."""
    if aside.judge is not None:
        return debate.judge(aside.judge).model
    return debate.seat(aside.seat or "").model


def _round_is_over(debate: Debate) -> bool:
    if debate.live or debate.round <= debate.rounds_done or not (debate.running or debate.status == "paused"):
        return False
    return all(slot.round != debate.round for slot in debate.unspent())


def still_wanted(debate: Debate, purpose: Purpose) -> bool:
    if purpose.turn is not None:
        return debate.is_live(purpose.turn)
    if purpose.aside is not None:
        aside = debate.aside(purpose.aside)
        return aside is not None and aside.state == "open"
    judging = debate.judging
    if judging is None or judging.closed or purpose.judge is None:
        return False
    return not judging.has(purpose.judge, purpose.order)


def _spoil(debate: Debate, purpose: Purpose, message: str) -> BallotSpoiled:
    number = debate.judging.number if debate.judging else 0
    return BallotSpoiled(number, purpose.judge or "", purpose.order, message)


def _verdict_of(debate: Debate, found: StalemateFound | ConcessionMade) -> Verdict:
    if isinstance(found, StalemateFound):
        return Verdict(outcome="draw", winner=None, by="stalemate", reasoning="The debate went in circles.")
    for bench in benches(debate.seats):
        if all(seat.id != found.seat for seat in bench):
            reason = f"{debate.seat(found.seat).name} conceded."
            return Verdict(outcome="win", winner=bench[0].id, by="concession", reasoning=reason)
    return Verdict(outcome="draw", winner=None, by="concession")


def _close_judging(debate: Debate) -> tuple[Event, ...]:
    judging = debate.judging
    if judging is None:
        return ()
    verdict = verdicts.reach(debate, judging)
    if verdict is None and judging.again:
        return (JudgingFailed(judging.number, NO_VERDICT),)
    if verdict is None:
        return (DebateFailed("judge_failed", NO_VERDICT),)
    reached = VerdictReached(verdict, judging.number)
    return (reached,) if judging.again else (reached, DebateEnded(judging.why))


def _crashes(debate: Debate, turn: Turn) -> int:
    return sum(
        other.slot == turn.slot and other.state == "interrupted" and other.by == "crash" and not other.struck
        for other in debate.turns
    )


def _warning(debate: Debate) -> tuple[Event, ...]:
    threshold = debate.limits.warn_at
    if threshold is None or debate.warned or debate.spent < threshold:
        return ()
    return (BudgetWarned(threshold, debate.spent),)


# --- the room that the cost limit leaves --------------------------------------------------------------


def _room(debate: Debate, purpose: Purpose) -> tuple[Money | None, Money]:
    """What this call may cost at most, and what each of its tokens adds to the judging's worst case."""
    if debate.limits.cost is None:
        return None, NOTHING
    room = debate.limits.cost - debate.counted - debate.reserved
    if purpose.aside is not None:
        return room - _judging_worst(debate), NOTHING
    if purpose.turn is None:
        return room, NOTHING
    return room - _judging_worst(debate, starting=1), _judging_per_token(debate)


def _judging_worst(debate: Debate, starting: int = 0) -> Money:
    """All judges, both orders, one repair each, on what was said, is being said, and is about to start."""
    if debate.manner.winning in UNJUDGED:
        return NOTHING
    speaking = [call.max_tokens for call in debate.calls if call.turn is not None]
    frames = (len(speaking) + starting) * speech_frame(debate)
    saying = sum(speaking) * BYTES_PER_TOKEN + frames
    total = NOTHING
    for judge in models(debate.panel):
        for order in ORDERS:
            request = judge_request(debate, judge, order)
            bound = input_bound(request) + saying
            total += worst(judge.model.price, bound, request.max_tokens) or NOTHING
            bound += repair_room(request)
            total += worst(judge.model.price, bound, request.max_tokens) or NOTHING
    return total


def models(judges: Sequence[Judge]) -> tuple[Judge, ...]:
    """Those who have to be paid."""
    return tuple(judge for judge in judges if not judge.model.human)


def _judging_per_token(debate: Debate) -> Money:
    """One more token in a speech is read again by every judge, in both orders, and in every repair."""
    if debate.manner.winning in UNJUDGED:
        return NOTHING
    per_byte = sum(
        ((worst(judge.model.price, 1_000_000, 0) or NOTHING) / 1_000_000 for judge in models(debate.panel)),
        NOTHING,
    )
    return per_byte * BYTES_PER_TOKEN * len(ORDERS) * 2
