"""What a runner may do, decided on the head of the log, so that two runners or a command cannot disagree.

`advance` says what comes next; `begin_call` reserves the money of a call; `finish_call` and `fail_call`
settle it; `recover` takes up what a crash has left behind. Each returns events, and none where the head has
moved on: a turn that was cut is not completed, a call that was settled is not settled again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import FAULT_MESSAGES
from moot.core.events import (
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
from moot.core.evolve import evolve
from moot.core.pricing import (
    grant,
    input_bound,
    non_text_bytes,
    sent_tokens,
    speech_tokens,
)
from moot.core.state import ZERO, Aside, Call, Debate, Judging, Turn
from moot.core.terms import Model, Money, PollName, Request, Slot, ToolResult, Verdict
from moot.judging import verdicts
from moot.judging.ballots import ORDERS
from moot.rules import budget
from moot.rules.budget import lost_call
from moot.rules.commands import (
    close_polls,
    conclude_speeches,
    end_speeches,
    human_call_completed,
    interrupt,
)
from moot.rules.participation import (
    complete_human_speech,
    hand_to_stand_in,
    start_human_call,
)
from moot.rules.participation import draft as draft_of
from moot.rules.plan import (
    AskJudges,
    AskSideQuestions,
    Conclude,
    FailDebate,
    HoldPoll,
    Idle,
    Plan,
    RecordFacts,
    Speak,
    closes_on_time,
    is_judged,
    plan,
)
from moot.rules.side_questions import SideQuestion, winner_if_conceded

MAX_CRASHES = 3
UNEXPECTED = "Something unexpected went wrong; see the server's log."
PAUSED_BY_STEP = "step"
"""Paused by itself, since somebody goes through the debate step by step."""
NOBODY_SPOKE = "The time was up, and nothing had come."
NO_VERDICT = "The judge gave no readable verdict, even when asked again."
TOO_LITTLE_MONEY = "The cost limit leaves no room for the first speech and for judging it. Nothing was said."
JUDGE_LOST = "The process died three times while the judge was asked."

ResultEvent = TurnCompleted | TurnFailed | BallotCast | BallotSpoiled | AsideAnswered | AsideFailed
"""What a call comes to in the end, for its turn, its ballot or its aside."""


class EventBatch:
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
    draft = EventBatch(debate)
    if debate.status == "initializing":
        draft.add(DebateReady())
    _perform(draft, _next_step(draft))
    return tuple(draft.events)


def wants_runner(debate: Debate) -> bool:
    """Whether a runner has something to do: the next step, or a call that a crash left open, even in a debate
    that is over."""
    if debate.live or debate.calls or debate.open_asides or advance(debate):
        return True
    step = plan(debate)
    return isinstance(step, AskJudges) or (isinstance(step, HoldPoll) and closes_on_time(debate, step.name))


def _next_step(draft: EventBatch) -> Plan:
    """What is to be done once all that is known is written down."""
    while True:
        if _round_is_over(draft.debate):
            draft.add(RoundCompleted(draft.debate.round))
            if draft.debate.step == "round" and draft.debate.manner.auto and draft.debate.remaining_slots():
                draft.add(DebatePaused(PAUSED_BY_STEP))
        step = plan(draft.debate)
        if not isinstance(step, RecordFacts):
            return step
        draft.add(*step.events)


def _perform(draft: EventBatch, step: Plan) -> None:
    match step:
        case Speak(slots) if budget.cannot_afford(draft.debate, slots):
            draft.add(*_exhausted(draft.debate))
            draft.add(*_out_of_money(draft.debate))
            _perform(draft, _next_step(draft))
        case Speak(slots):
            _start_turns(draft, slots)
        case AskSideQuestions(questions):
            for question in questions:
                draft.add(_asked(draft.debate, question))
        case HoldPoll(name) if draft.debate.poll(name) is None:
            polls = draft.debate.manner.polls
            draft.add(PollOpened(name, polls.seconds if polls else None))
        case Conclude(why, None):
            draft.add(*conclude_speeches(draft.debate, why))
        case Conclude(_, StalemateFound() as found) if _is_decided_by_somebody(draft.debate):
            draft.add(found)
            _perform(draft, _next_step(draft))
        case Conclude(why, found) if found is not None:
            verdict = _verdict_of(draft.debate, found)
            draft.add(found, VerdictReached(verdict), DebateEnded(why))
        case FailDebate(reason):
            draft.add(DebateFailed(reason, "Every speaker of the round failed."))
        case AskJudges(()):
            draft.add(*_close_judging(draft.debate))
        case Conclude() | AskJudges() | HoldPoll() | RecordFacts() | Idle():
            pass
        case _:
            assert_never(step)


def _is_decided_by_somebody(debate: Debate) -> bool:
    """A judge or a person, so that it is no draw by itself when the speeches go in circles."""
    match debate.manner.winning:
        case "ai-judge":
            return is_judged(debate)
        case "user-decides":
            return True
        case "self-terminate" | "audience":
            return False


def _start_turns(draft: EventBatch, slots: Sequence[Slot]) -> None:
    if slots[0].round > draft.debate.round:
        draft.add(RoundStarted(slots[0].round))
    for slot in slots:
        number = len(draft.debate.turns) + len(draft.debate.live) + 1
        phase = draft.debate.format.phases[slot.phase].key
        draft.add(TurnStarted(number, slot.index, slot.round, phase, slot.tone, slot.seat))
        draft.add(*start_human_call(draft.debate, draft.debate.live[-1]))
    if draft.debate.step == "turn":
        # What is being said is still said: a pause holds back what would follow.
        draft.add(DebatePaused(PAUSED_BY_STEP))


def _asked(debate: Debate, question: SideQuestion) -> AsideAsked:
    return AsideAsked(
        aside=len(debate.asides) + 1,
        kind=question.kind,
        slot=question.slot,
        seat=question.seat,
        judge=question.judge,
        turn=question.turn,
        about=question.about,
    )


class CallPurpose(Struct, frozen=True):
    """What a call is for: a turn, a judge with the seats in one order, or an aside."""

    turn: int | None = None
    judge: str | None = None
    order: int = 0
    repair: bool = False
    aside: int | None = None


def begin_call(
    debate: Debate,
    purpose: CallPurpose,
    request: Request,
    digest: str,
    attempt: int,
    continues: int | None = None,
) -> tuple[Event, ...]:
    """Reserves the worst case of a call, or ends the speeches where the budget has no room for it.

    `continues` is the call that this one goes on from, its tools having answered.
    """
    if not still_wanted(debate, purpose):
        return ()
    remembered = _unsent_tokens(debate, purpose, request)
    bound = input_bound(request) + remembered
    room, per_token = _available_money(debate, purpose)
    leave = grant(request.model.price, bound, request.max_tokens, room, per_token, _read(debate, purpose))
    draft = EventBatch(debate)
    if leave is not None:
        draft.add(
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
                continues=continues,
                input_guess=sent_tokens(request) + remembered,
            )
        )
        draft.add(*_warning(draft.debate))
        return tuple(draft.events)
    if purpose.aside is not None:
        return (AsideFailed(purpose.aside, FAULT_MESSAGES["budget"]),)
    draft.add(*_exhausted(debate))
    if purpose.turn is None:
        draft.add(_spoiled_ballot(debate, purpose, FAULT_MESSAGES["budget"]))
        return tuple(draft.events)
    draft.add(TurnInterrupted(purpose.turn, "budget"))
    if draft.debate.running and not draft.debate.live:
        draft.add(*_out_of_money(draft.debate))
    return tuple(draft.events)


def _available_money(debate: Debate, purpose: CallPurpose) -> tuple[Money | None, Money]:
    """What the call may cost at most, and what each of its tokens adds to what must be held back."""
    turn = debate.turn(purpose.turn) if purpose.turn is not None else None
    if turn is not None:
        return budget.available_for_speech(debate, turn.round)
    if purpose.repair and purpose.judge is not None:
        return budget.for_repair(debate, purpose.judge, purpose.order), ZERO
    return (budget.available_for_ballot if purpose.aside is None else budget.available_for_aside)(
        debate
    ), ZERO


def _read(debate: Debate, purpose: CallPurpose) -> int | None:
    """How many tokens of this call a judge reads at most; None: whatever it says."""
    turn = debate.turn(purpose.turn) if purpose.turn is not None else None
    return speech_tokens(debate, turn.slot) if turn else None


def _exhausted(debate: Debate) -> tuple[Event, ...]:
    """The limit is reached, and nobody hears of that before the warning."""
    held = debate.reserved + budget.worst_judging_cost(debate)
    reached = BudgetExhausted(debate.cost_limit or ZERO, debate.counted, held)
    return (*_warning(debate, reached=True), reached)


def _out_of_money(debate: Debate) -> tuple[Event, ...]:
    """The speeches end here. Where there was none, the debate has failed: nothing has been held."""
    if debate.has_speeches:
        return end_speeches(debate, "budget")
    return (*close_polls(debate, "budget"), DebateFailed("budget", TOO_LITTLE_MONEY))


def _unsent_tokens(debate: Debate, purpose: CallPurpose, request: Request) -> int:
    """Tokens that a provider may read again although we do not send them: the chain's own thoughts, and what
    came of its tools."""
    turn = debate.turn(purpose.turn) if purpose.turn is not None else None
    if turn is None or request.previous_response_id is None:
        return 0
    before = [other for other in debate.turns if other.seat == turn.seat]
    thinking = (*before, turn) if request.resumes else before
    thoughts = sum(other.usage.reasoning for other in thinking)
    return thoughts + sum(non_text_bytes(segment) for other in before for segment in other.segments)


def finish_call(
    debate: Debate,
    done: CallCompleted,
    segments: Sequence[SegmentCompleted],
    result: ResultEvent | None,
) -> tuple[Event, ...]:
    """A call came to its end; so does its turn or ballot, unless it was cut meanwhile."""
    call = debate.call(done.call)
    if call is None:
        return ()
    draft = EventBatch(debate)
    still_open = still_wanted(debate, purpose_of(call))
    if still_open:
        draft.add(*segments)
    draft.add(done)
    if result is not None and still_open:
        draft.add(result)
    draft.add(*_warning(draft.debate))
    return tuple(draft.events)


def fail_call(debate: Debate, failed: CallFailed, result: ResultEvent | None) -> tuple[Event, ...]:
    """A call came to nothing. A permanent fault stops the debate; that of a judge, all its ballots."""
    call = debate.call(failed.call)
    if call is None:
        return ()
    draft = EventBatch(debate)
    still_open = still_wanted(debate, purpose_of(call))
    draft.add(failed)
    if result is not None and still_open:
        draft.add(result)
        if isinstance(result, TurnFailed) and failed.severity == "permanent":
            draft.add(DebateFailed("permanent_fault", failed.message))
        if isinstance(result, BallotSpoiled) and failed.severity == "permanent":
            draft.add(*_other_ballots(draft.debate, result))
    draft.add(*_warning(draft.debate))
    return tuple(draft.events)


def record_tool_result(
    debate: Debate, purpose: CallPurpose, call: int, result: ToolResult
) -> tuple[Event, ...]:
    """What a tool gave, under the call that asked for it; nothing where nobody wants it any more."""
    return (SegmentCompleted(call, result),) if still_wanted(debate, purpose) else ()


def end_between_calls(debate: Debate, purpose: CallPurpose, result: ResultEvent) -> tuple[Event, ...]:
    """A speech ends between two calls, while its tools were at work."""
    return (result,) if still_wanted(debate, purpose) else ()


def purpose_of(call: Call) -> CallPurpose:
    return CallPurpose(call.turn, call.judge, call.order, aside=call.aside)


def time_is_up(debate: Debate, purpose: CallPurpose) -> tuple[Event, ...]:
    """A person has not spoken, judged or answered in time."""
    if not still_wanted(debate, purpose):
        return ()
    if purpose.aside is not None:
        return (AsideFailed(purpose.aside, NOBODY_SPOKE),)
    if purpose.turn is None:
        return (_spoiled_ballot(debate, purpose, NOBODY_SPOKE),)
    turn = debate.turn(purpose.turn)
    if turn is None:
        return ()
    call = debate.call(turn.call) if turn.call is not None else None
    if call is not None and (written := draft_of(debate, turn.seat).strip()):
        return complete_human_speech(debate, turn, written, "timeout")
    if debate.seat(turn.seat).stand_in is not None:
        return (*hand_to_stand_in(debate, turn.seat), SeatLeft(turn.seat, "clock"))
    return (
        *((human_call_completed(call),) if call else ()),
        TurnFailed(turn.number, "timeout", NOBODY_SPOKE),
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
        if judging is not None and not judging.has_ballot(spoiled.judge, order)
    )


def recover(debate: Debate) -> tuple[Event, ...]:
    """What a runner that died has left open: its calls are lost, its turns interrupted."""
    draft = EventBatch(debate)
    people = {turn.call for turn in debate.live if debate.seat(turn.seat).model.human}
    for call in debate.calls:
        if call.number not in people:
            draft.add(lost_call(debate, call))
    for aside in debate.open_asides:
        if not is_for_human(debate, aside):
            draft.add(AsideFailed(aside.number, FAULT_MESSAGES["lost"]))
    for turn in debate.live:
        if debate.seat(turn.seat).model.human:
            # What they have written is in the log, and their clock goes by the wall: they just go on.
            continue
        if _crashes(debate, turn) + 1 >= MAX_CRASHES:
            draft.add(TurnFailed(turn.number, "lost", FAULT_MESSAGES["lost"]))
        else:
            draft.add(TurnInterrupted(turn.number, "crash"))
    judging = draft.debate.judging
    if judging and draft.debate.being_judged:
        for judge, order in sorted(set(judging.lost)):
            if _lost_too_often(judging, judge, order) and not judging.has_ballot(judge, order):
                draft.add(BallotSpoiled(judging.number, judge, order, JUDGE_LOST))
    return tuple(draft.events)


def fail_internally(debate: Debate) -> tuple[Event, ...]:
    """The runner itself has failed: nothing may stay open that would lead to the same at once."""
    draft = EventBatch(debate)
    draft.add(*recover(debate))
    draft.add(*interrupt(draft.debate, "crash"))
    if not (debate.final or debate.status == "error"):
        draft.add(DebateFailed("internal", UNEXPECTED))
    elif debate.judging and debate.being_judged:
        draft.add(JudgingFailed(debate.judging.number, UNEXPECTED))
    return tuple(draft.events)


def pause_for_keys(debate: Debate, providers: Sequence[str]) -> tuple[Event, ...]:
    """Keys that were lent are gone with the process that held them: somebody must lend them again."""
    if not debate.running:
        return ()
    return (DebatePaused("server", f"Key needed for {', '.join(providers)}."),)


def interrupt_for_shutdown(debate: Debate) -> tuple[Event, ...]:
    """The process is about to stop: the running turns are given again elsewhere."""
    people = {seat.id for seat in debate.seats if seat.model.human}
    return (
        *(
            AsideFailed(aside.number, "The program was stopped.")
            for aside in debate.open_asides
            if not is_for_human(debate, aside)
        ),
        *(TurnInterrupted(turn.number, "drain") for turn in debate.live if turn.seat not in people),
    )


def is_for_human(debate: Debate, aside: Aside) -> bool:
    return aside.judge is None and aside.seat is not None and debate.seat(aside.seat).model.human


def aside_model(debate: Debate, aside: Aside) -> Model:
    """Who is asked: the seat, or the judge who is referee."""
    if aside.judge is not None:
        return debate.judge(aside.judge).model
    return debate.seat(aside.seat or "").model


def _round_is_over(debate: Debate) -> bool:
    if debate.live or debate.round <= debate.rounds_done or not (debate.running or debate.status == "paused"):
        return False
    return all(slot.round != debate.round for slot in debate.remaining_slots())


def still_wanted(debate: Debate, purpose: CallPurpose) -> bool:
    if purpose.turn is not None:
        return debate.is_live(purpose.turn)
    if purpose.aside is not None:
        aside = debate.aside(purpose.aside)
        return aside is not None and aside.state == "open"
    judging = debate.judging
    if judging is None or judging.closed or purpose.judge is None:
        return False
    return not judging.has_ballot(purpose.judge, purpose.order)


def _spoiled_ballot(debate: Debate, purpose: CallPurpose, message: str) -> BallotSpoiled:
    number = debate.judging.number if debate.judging else 0
    return BallotSpoiled(number, purpose.judge or "", purpose.order, message)


def _verdict_of(debate: Debate, found: StalemateFound | ConcessionMade) -> Verdict:
    if isinstance(found, StalemateFound):
        return Verdict(outcome="draw", winner=None, by="stalemate", reasoning="The debate went in circles.")
    winner, reason = winner_if_conceded(debate, found.seat), f"{debate.seat(found.seat).name} conceded."
    outcome = "win" if winner else "draw"
    return Verdict(outcome, winner.id if winner else None, by="concession", reasoning=reason)


def _close_judging(debate: Debate) -> tuple[Event, ...]:
    judging = debate.judging
    if judging is None:
        return ()
    verdict = verdicts.reach_verdict(debate, judging)
    if verdict is None:
        died = any(_lost_too_often(judging, judge, order) for judge, order in judging.spoiled)
        why = JUDGE_LOST if died else NO_VERDICT
        return (JudgingFailed(judging.number, why) if judging.again else DebateFailed("judge_failed", why),)
    reached = VerdictReached(verdict, judging.number)
    return (reached,) if judging.again else (reached, DebateEnded(judging.why))


def _lost_too_often(judging: Judging, judge: str, order: int) -> bool:
    return judging.lost.count((judge, order)) >= MAX_CRASHES


def _crashes(debate: Debate, turn: Turn) -> int:
    return sum(
        other.slot == turn.slot and other.state == "interrupted" and other.by == "crash" and not other.struck
        for other in debate.turns
    )


def _warning(debate: Debate, *, reached: bool = False) -> tuple[Event, ...]:
    """Once, when what is counted and what is reserved come to the threshold, and at the latest when the limit
    is reached."""
    threshold = debate.limits.warn_at
    if threshold is None or debate.warned:
        return ()
    if not reached and debate.counted + debate.reserved < threshold:
        return ()
    return (
        BudgetWarned(threshold, debate.cost_so_far, debate.counted + debate.reserved - debate.cost_so_far),
    )
