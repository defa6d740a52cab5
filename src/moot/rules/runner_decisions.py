"""What a runner may record, decided on the head of the log, so that it cannot contradict a command.

`advance` performs the next step of the plan; `begin_call` reserves the money of a call; `finish_call` and
`fail_call` settle it; `recover` settles what a crash left open. Each returns events, or none where the debate
has moved on meanwhile: a turn that was cut is not completed, and no call is settled twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import assert_never

from msgspec.structs import asdict, replace

from moot.core import events as ev
from moot.core.errors import FAULT_MESSAGES, FaultKind
from moot.core.evolve import evolve
from moot.core.pricing import (
    Grant,
    grant,
    input_bound,
    non_text_bytes,
    sent_tokens,
)
from moot.core.state import ZERO, Aside, Call, Debate, Judging, Turn
from moot.core.terms import DebateVerdict, PollName, Request, Slot, ToolResult
from moot.judging import verdicts
from moot.judging.ballots import ORDERS
from moot.judging.judged_speeches import speeches
from moot.rules import budget
from moot.rules.budget import CallPurpose, lost_call
from moot.rules.commands import (
    close_polls,
    conclude_speeches,
    end_speeches,
    human_call_completed,
    interrupt,
)
from moot.rules.participation import complete_human_speech, draft, hand_to_stand_in, start_human_call
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
"""The `by` of a pause at the end of a step."""
NOBODY_SPOKE = "The time was up, and nothing had come."
NO_VERDICT = "The judge gave no readable verdict, even when asked again."
UNREADABLE: tuple[FaultKind | None, ...] = (None, "malformed", "empty")
"""Faults of a judge that was asked and replied; without a kind in older logs."""
TOO_LITTLE_MONEY = "The cost limit leaves no room for the first round and for judging it."
JUDGE_LOST = "The process died three times while the judge was asked."

ResultEvent = (
    ev.TurnCompleted | ev.TurnFailed | ev.BallotCast | ev.BallotSpoiled | ev.AsideAnswered | ev.AsideFailed
)
"""The end of a call, for its turn, its ballot or its aside."""


class EventBatch:
    """Events that were decided, and the state that they lead to."""

    def __init__(self, debate: Debate) -> None:
        self.debate = debate
        self.events: list[ev.Event] = []

    def add(self, *events: ev.Event) -> None:
        for event in events:
            debate = self.debate
            recorded = ev.Recorded(debate.id, debate.seq + 1, debate.updated_at, debate.epoch, event)
            self.debate = evolve(debate, recorded)
            self.events.append(event)


def advance(debate: Debate) -> tuple[ev.Event, ...]:
    """The next step of the debate as events; none if there is nothing to record, or judges are to be
    asked."""
    batch = EventBatch(debate)
    if debate.status == "initializing":
        batch.add(ev.DebateReady())
    _perform(batch, _next_step(batch))
    return tuple(batch.events)


def settle_and_advance(
    debate: Debate, settle: Callable[[Debate], Sequence[ev.Event]]
) -> tuple[ev.Event, ...]:
    """What settles a call (see `finish_call` and `fail_call`), and the step that follows; none while other
    speeches, asides or ballots are under way."""
    batch = EventBatch(debate)
    batch.add(*settle(debate))
    batch.add(*advance(batch.debate))
    return tuple(batch.events)


def wants_runner(debate: Debate) -> bool:
    """Whether a runner has something to do: the next step, or a call that a crash left open, even in a debate
    that is over."""
    if debate.live or debate.calls or debate.open_asides or advance(debate):
        return True
    step = plan(debate)
    return isinstance(step, AskJudges) or (isinstance(step, HoldPoll) and closes_on_time(debate, step.name))


def _next_step(batch: EventBatch) -> Plan:
    """The next step, after recording what follows from the state by itself."""
    while True:
        if _round_is_over(batch.debate):
            batch.add(ev.RoundCompleted(batch.debate.round))
            if batch.debate.step == "round" and batch.debate.setup.auto and batch.debate.remaining_slots():
                batch.add(ev.DebatePaused(PAUSED_BY_STEP))
        step = plan(batch.debate)
        if not isinstance(step, RecordFacts):
            return step
        batch.add(*step.events)


def _perform(batch: EventBatch, step: Plan) -> None:
    match step:
        case Speak(slots):
            _start_turns(batch, slots)
        case AskSideQuestions(questions):
            for question in questions:
                batch.add(_asked(batch.debate, question))
        case HoldPoll(name) if batch.debate.poll(name) is None:
            polls = batch.debate.setup.polls
            batch.add(ev.PollOpened(name, polls.seconds if polls else None))
        case Conclude(why, None):
            batch.add(*conclude_speeches(batch.debate, why))
        case Conclude(_, ev.StalemateFound() as finding) if _has_other_decider(batch.debate):
            batch.add(finding)
            _perform(batch, _next_step(batch))
        case Conclude(why, finding) if finding is not None:
            verdict = _verdict_of(batch.debate, finding)
            batch.add(finding, ev.VerdictReached(verdict), ev.DebateEnded(why))
        case FailDebate(reason):
            batch.add(ev.DebateFailed(reason, "Every speaker of the round failed."))
        case AskJudges(()):
            batch.add(*_close_judging(batch.debate))
        case Conclude() | AskJudges() | HoldPoll() | RecordFacts() | Idle():
            pass
        case _:
            assert_never(step)


def _has_other_decider(debate: Debate) -> bool:
    """Whether a judge or a person decides after a stalemate, so that it is not a draw by itself."""
    match debate.setup.winning:
        case "ai-judge":
            return is_judged(debate)
        case "user-decides":
            return True
        case "self-terminate" | "audience":
            return False


def _start_turns(batch: EventBatch, slots: Sequence[Slot]) -> None:
    round = slots[0].round
    if round > batch.debate.round:
        percent = budget.words_for_round(batch.debate, round)
        if percent is None:
            batch.add(*_exhausted(batch.debate))
            # A summary that is too dear is not tried again.
            batch.add(*_out_of_money(batch.debate, summed_up=slots[0].tone != "summary"))
            _perform(batch, _next_step(batch))
            return
        if percent != batch.debate.words_percent(round):
            batch.add(ev.BudgetShortened(round, percent))
        batch.add(ev.RoundStarted(round))
    for slot in slots:
        number = len(batch.debate.turns) + len(batch.debate.live) + 1
        phase = batch.debate.format.phases[slot.phase].key
        batch.add(ev.TurnStarted(number, slot.index, slot.round, phase, slot.tone, slot.seat))
        batch.add(*start_human_call(batch.debate, batch.debate.live[-1]))
    if batch.debate.step == "turn":
        # The running speech is finished: a pause only keeps the next one from starting.
        batch.add(ev.DebatePaused(PAUSED_BY_STEP))


def _asked(debate: Debate, question: SideQuestion) -> ev.AsideAsked:
    return ev.AsideAsked(aside=len(debate.asides) + 1, **asdict(question))


def begin_call(
    debate: Debate,
    purpose: CallPurpose,
    request: Request,
    digest: str,
    attempt: int,
    continues: int | None = None,
) -> tuple[ev.Event, ...]:
    """Reserve the worst case of a call, or end the speeches where the budget has no room for it.

    `continues` is the call that this one continues, after its tools have answered.
    """
    if not still_wanted(debate, purpose):
        return ()
    unsent = _unsent_tokens(debate, purpose, request)
    bound = input_bound(request) + unsent
    granted = _grant(debate, purpose, request, bound)
    batch = EventBatch(debate)
    if granted is not None:
        batch.add(
            ev.CallStarted(
                call=debate.calls_made + 1,
                model=request.model.label,
                request=digest,
                attempt=attempt,
                max_tokens=granted.max_tokens,
                input_bound=bound,
                reserved=granted.reserved,
                turn=purpose.turn,
                judge=purpose.judge,
                order=purpose.order,
                repair=purpose.repair,
                previous_response_id=request.previous_response_id,
                trimmed=request.trimmed,
                aside=purpose.aside,
                continues=continues,
                input_guess=sent_tokens(request) + unsent,
            )
        )
        return tuple(batch.events)
    if purpose.aside is not None:
        return (ev.AsideFailed(purpose.aside, FAULT_MESSAGES["budget"]),)
    if purpose.judge is not None:
        spoiled = _spoiled_ballot(debate, purpose, FAULT_MESSAGES["budget"], "budget")
        if _has_first_reading(debate, purpose):
            return (replace(spoiled, waived=True),)
        batch.add(*_exhausted(debate), spoiled)
        return tuple(batch.events)
    batch.add(*_exhausted(debate))
    batch.add(ev.TurnInterrupted(purpose.turn or 0, "budget"))
    if batch.debate.running and not batch.debate.live:
        batch.add(*_out_of_money(batch.debate))
    return tuple(batch.events)


def _grant(debate: Debate, purpose: CallPurpose, request: Request, bound: int) -> Grant | None:
    if debate.cost_limit is None:
        return grant(request.model.price, bound, request.max_tokens, 0, None)
    available = budget.available_money(debate, purpose)
    least = budget.fewest_tokens(debate, purpose, request)
    return grant(request.model.price, bound, request.max_tokens, least, available)


def _has_first_reading(debate: Debate, purpose: CallPurpose) -> bool:
    """Whether this judge has given a ballot already, so that it can do without the second."""
    cast = debate.judging.ballots if debate.judging else ()
    return any(ballot.judge == purpose.judge for ballot in cast)


def _exhausted(debate: Debate) -> tuple[ev.Event, ...]:
    """The limit is reached. A warning with the reason comes first, if none has come yet."""
    reached = ev.BudgetExhausted(
        debate.cost_limit or ZERO, debate.counted, debate.reserved, cut_round=_unfinished_round(debate)
    )
    return (*_limit_warning(debate), reached)


def _unfinished_round(debate: Debate) -> int:
    """The present round, if a debater has not spoken in it; else 0."""
    missing = (slot for slot in debate.remaining_slots() if slot.round <= debate.round)
    debaters = any(debate.seat(slot.seat).role == "debater" for slot in missing)
    return debate.round if debaters and not debate.being_judged else 0


def _out_of_money(debate: Debate, *, summed_up: bool = True) -> tuple[ev.Event, ...]:
    """End the speeches. Where no round is complete, the debate has failed."""
    if speeches(debate):
        return end_speeches(debate, "budget", summed_up=summed_up)
    return (*close_polls(debate, "budget"), ev.DebateFailed("budget", TOO_LITTLE_MONEY))


def _unsent_tokens(debate: Debate, purpose: CallPurpose, request: Request) -> int:
    """Tokens that a provider reads again although we do not send them: reasoning and tool exchanges of the
    earlier responses in the chain."""
    turn = debate.turn(purpose.turn) if purpose.turn is not None else None
    if turn is None or request.previous_response_id is None:
        return 0
    before = [other for other in debate.turns if other.seat == turn.seat]
    remembered = (*before, turn) if request.resumes else before
    reasoning = sum(other.usage.reasoning for other in remembered)
    return reasoning + sum(non_text_bytes(segment) for other in before for segment in other.segments)


def finish_call(
    debate: Debate,
    done: ev.CallCompleted,
    segments: Sequence[ev.SegmentCompleted],
    result: ResultEvent | None,
) -> tuple[ev.Event, ...]:
    """A call is complete, and with it its turn, ballot or aside, unless that was cut meanwhile."""
    call = debate.call(done.call)
    if call is None:
        return ()
    batch = EventBatch(debate)
    still_open = still_wanted(debate, purpose_of(call))
    if still_open:
        batch.add(*segments)
    batch.add(done)
    if result is not None and still_open:
        batch.add(result)
    batch.add(*_cost_warning(batch.debate))
    return tuple(batch.events)


def fail_call(debate: Debate, failed: ev.CallFailed, result: ResultEvent | None) -> tuple[ev.Event, ...]:
    """A call failed. A permanent fault of a speaker fails the debate; that of a judge spoils all its
    ballots."""
    call = debate.call(failed.call)
    if call is None:
        return ()
    batch = EventBatch(debate)
    still_open = still_wanted(debate, purpose_of(call))
    batch.add(failed)
    if result is not None and still_open:
        batch.add(result)
        if isinstance(result, ev.TurnFailed) and failed.severity == "permanent":
            batch.add(ev.DebateFailed("permanent_fault", failed.message))
        if isinstance(result, ev.BallotSpoiled) and failed.severity == "permanent":
            batch.add(*_other_ballots(batch.debate, result))
    batch.add(*_cost_warning(batch.debate))
    return tuple(batch.events)


def record_tool_result(
    debate: Debate, purpose: CallPurpose, call: int, result: ToolResult
) -> tuple[ev.Event, ...]:
    """The result of a tool, under the call that asked for it; nothing where the speech was cut."""
    return (ev.SegmentCompleted(call, result),) if still_wanted(debate, purpose) else ()


def end_between_calls(debate: Debate, purpose: CallPurpose, result: ResultEvent) -> tuple[ev.Event, ...]:
    """A speech ends between two calls, while its tools run."""
    return (result,) if still_wanted(debate, purpose) else ()


def purpose_of(call: Call) -> CallPurpose:
    return CallPurpose(call.turn, call.judge, call.order, aside=call.aside)


def time_is_up(debate: Debate, purpose: CallPurpose) -> tuple[ev.Event, ...]:
    """A person has not spoken, judged or answered in time."""
    if not still_wanted(debate, purpose):
        return ()
    if purpose.aside is not None:
        return (ev.AsideFailed(purpose.aside, NOBODY_SPOKE),)
    if purpose.turn is None:
        return (_spoiled_ballot(debate, purpose, NOBODY_SPOKE, "timeout"),)
    turn = debate.turn(purpose.turn)
    if turn is None:
        return ()
    call = debate.call(turn.call) if turn.call is not None else None
    if call is not None and (text := draft(debate, turn.seat).strip()):
        return complete_human_speech(debate, turn, text, "timeout")
    if debate.seat(turn.seat).stand_in is not None:
        return (*hand_to_stand_in(debate, turn.seat), ev.SeatLeft(turn.seat, "clock"))
    return (
        *((human_call_completed(call),) if call else ()),
        ev.TurnFailed(turn.number, "timeout", NOBODY_SPOKE),
    )


def close_poll(debate: Debate, name: PollName) -> tuple[ev.Event, ...]:
    poll = debate.poll(name)
    return () if poll is None or poll.closed_at is not None else (ev.PollClosed(name, "clock"),)


def _other_ballots(debate: Debate, spoiled: ev.BallotSpoiled) -> tuple[ev.BallotSpoiled, ...]:
    """The other ballots of this judge: asking for them would fail as well, and may cost money."""
    judging = debate.judging
    return tuple(
        replace(spoiled, order=order)
        for order in ORDERS
        if judging is not None and not judging.has_ballot(spoiled.judge, order)
    )


def recover(debate: Debate, now: datetime) -> tuple[ev.Event, ...]:
    """Settle what a dead runner left open: its calls are lost, its turns interrupted."""
    batch = EventBatch(debate)
    people = {turn.call for turn in debate.live if debate.seat(turn.seat).model.human}
    for call in debate.calls:
        if call.number not in people:
            batch.add(lost_call(debate, call, now))
    for aside in debate.open_asides:
        if not is_for_human(debate, aside):
            batch.add(ev.AsideFailed(aside.number, FAULT_MESSAGES["lost"], lost=True))
    for turn in debate.live:
        if debate.seat(turn.seat).model.human:
            # A person's text is in the log and their time is wall-clock time: they simply continue.
            continue
        if _crashes(debate, turn) + 1 >= MAX_CRASHES:
            batch.add(ev.TurnFailed(turn.number, "lost", FAULT_MESSAGES["lost"]))
        else:
            batch.add(ev.TurnInterrupted(turn.number, "crash"))
    judging = batch.debate.judging
    if judging and batch.debate.being_judged:
        for judge, order in sorted(set(judging.lost)):
            if _lost_too_often(judging, judge, order) and not judging.has_ballot(judge, order):
                batch.add(ev.BallotSpoiled(judging.number, judge, order, JUDGE_LOST, "lost", "transient"))
    return tuple(batch.events)


def fail_internally(debate: Debate, now: datetime) -> tuple[ev.Event, ...]:
    """The runner itself failed: close everything that would make the next runner fail at once."""
    batch = EventBatch(debate)
    batch.add(*recover(debate, now))
    batch.add(*interrupt(batch.debate, "crash"))
    if not (debate.final or debate.status == "error"):
        batch.add(ev.DebateFailed("internal", UNEXPECTED))
    elif debate.judging and debate.being_judged:
        batch.add(ev.JudgingFailed(debate.judging.number, UNEXPECTED))
    return tuple(batch.events)


def take_over(debate: Debate, missing_keys: Sequence[str], now: datetime) -> tuple[ev.Event, ...]:
    """A runner begins. Keys of the user may have been lost with the process that held them (`missing_keys`
    names their providers): they must be given again first."""
    batch = EventBatch(debate)
    batch.add(*recover(debate, now))
    if missing_keys and batch.debate.running:
        batch.add(ev.DebatePaused("server", f"Key needed for {', '.join(missing_keys)}."))
    return tuple(batch.events)


def interrupt_for_shutdown(debate: Debate) -> tuple[ev.Event, ...]:
    """The process is about to stop: the next runner gives the running turns again."""
    people = {seat.id for seat in debate.seats if seat.model.human}
    return (
        *(
            ev.AsideFailed(aside.number, "The program was stopped.", lost=True)
            for aside in debate.open_asides
            if not is_for_human(debate, aside)
        ),
        *(ev.TurnInterrupted(turn.number, "drain") for turn in debate.live if turn.seat not in people),
    )


def is_for_human(debate: Debate, aside: Aside) -> bool:
    return aside.judge is None and aside.seat is not None and debate.seat(aside.seat).model.human


def _round_is_over(debate: Debate) -> bool:
    if debate.live or debate.round <= debate.rounds_done or not (debate.running or debate.status == "paused"):
        return False
    return all(slot.round != debate.round for slot in debate.remaining_slots())


def still_wanted(debate: Debate, purpose: CallPurpose) -> bool:
    """Whether the turn, aside or ballot of a call is still open."""
    if purpose.turn is not None:
        return debate.is_live(purpose.turn)
    if purpose.aside is not None:
        aside = debate.aside(purpose.aside)
        return aside is not None and aside.state == "open"
    judging = debate.judging
    if judging is None or judging.closed or purpose.judge is None:
        return False
    return not judging.has_ballot(purpose.judge, purpose.order)


def _spoiled_ballot(debate: Debate, purpose: CallPurpose, message: str, kind: FaultKind) -> ev.BallotSpoiled:
    number = debate.judging.number if debate.judging else 0
    return ev.BallotSpoiled(number, purpose.judge or "", purpose.order, message, kind, "transient")


def _verdict_of(debate: Debate, finding: ev.StalemateFound | ev.ConcessionMade) -> DebateVerdict:
    if isinstance(finding, ev.StalemateFound):
        return DebateVerdict(
            outcome="draw", winner=None, by="stalemate", reasoning="The debate went in circles."
        )
    winner = winner_if_conceded(debate, finding.seat)
    reason = f"{debate.seat(finding.seat).name} conceded."
    outcome = "win" if winner else "draw"
    return DebateVerdict(outcome, winner.id if winner else None, by="concession", reasoning=reason)


def _close_judging(debate: Debate) -> tuple[ev.Event, ...]:
    judging = debate.judging
    if judging is None:
        return ()
    verdict = verdicts.reach_verdict(debate, judging)
    if verdict is None:
        why = _why_no_verdict(judging)
        return (
            ev.JudgingFailed(judging.number, why) if judging.again else ev.DebateFailed("judge_failed", why),
        )
    reached = ev.VerdictReached(verdict, judging.number)
    return (reached,) if judging.again else (reached, ev.DebateEnded(judging.why))


def _why_no_verdict(judging: Judging) -> str:
    """The cause by which each judge failed, said once where it is the same for all."""
    first = {cause.judge: cause for cause in reversed(judging.causes)}
    causes = {
        judge.name: first[judge.id].message if first[judge.id].kind not in UNREADABLE else NO_VERDICT
        for judge in judging.judges
        if judge.id in first
    }
    if len(set(causes.values())) <= 1:
        return next(iter(causes.values()), NO_VERDICT)
    return " ".join(f"{name}: {why}" for name, why in causes.items())


def _lost_too_often(judging: Judging, judge: str, order: int) -> bool:
    return judging.lost.count((judge, order)) >= MAX_CRASHES


def _crashes(debate: Debate, turn: Turn) -> int:
    return sum(
        other.slot == turn.slot and other.state == "interrupted" and other.by == "crash" and not other.struck
        for other in debate.turns
    )


def _cost_warning(debate: Debate) -> tuple[ev.Event, ...]:
    """Warn once, when the settled cost has passed the threshold."""
    threshold = debate.limits.warn_at
    if threshold is None or debate.warned or debate.cost_so_far < threshold:
        return ()
    return (ev.BudgetWarned(threshold, debate.cost_so_far),)


def _limit_warning(debate: Debate) -> tuple[ev.Event, ...]:
    """The limit stops the debate before its cost has passed the threshold."""
    threshold = debate.limits.warn_at
    if threshold is None or debate.warned:
        return ()
    reserved = debate.counted + debate.reserved - debate.cost_so_far
    return (ev.BudgetWarned(threshold, debate.cost_so_far, reserved, debate.cost_limit),)
