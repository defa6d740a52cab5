"""How each event changes a debate: `state = fold(events)`.

`evolve` handles every event and is the only place where a debate changes; what happens within a speech is in
`evolve_speech.py`. A delta touches only its call and its live turn, so the cost of a token does not grow with
the debate.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar, assert_never

from msgspec.structs import replace

from moot.core import events as ev
from moot.core.audience import after_audience_event
from moot.core.events import Recorded
from moot.core.evolve_speech import call_ended, call_started, segment_completed, turn_ended, without_draft
from moot.core.extension_events import ExtensionEvent, after_extension_event
from moot.core.schedule import schedule, with_more_rounds
from moot.core.segments import Run, with_run
from moot.core.state import (
    Aside,
    Call,
    Debate,
    ImportOrigin,
    Judging,
    PointOfInformation,
    Remark,
    Turn,
)
from moot.core.statuses import EndReason, Status
from moot.core.terms import FREE, HUMAN, Ballot, Model, Seat

Timed = TypeVar("Timed", Turn, Aside)


def fold(records: Iterable[Recorded], debate: Debate | None = None) -> Debate | None:
    """The state of a debate after these records, or None for no records.

    `debate` is the state before them if they do not start at seq 1: `fold(a + b) == fold(b, fold(a))`.
    """
    for recorded in records:
        debate = evolve(debate, recorded)
    return debate


def evolve(debate: Debate | None, recorded: Recorded) -> Debate:
    event = recorded.event
    if debate is None:
        if not isinstance(event, ev.DebateOpened):
            raise ValueError("a debate begins with debate.opened")
        return _opened(event, recorded)
    if isinstance(event, ev.CallDelta):
        return _delta(debate, recorded, event)
    is_streamed = isinstance(event, ev.SegmentCompleted)
    return replace(
        _change(debate, recorded, event),
        seq=recorded.seq,
        unstreamed_seq=debate.unstreamed_seq if is_streamed else recorded.seq,
        epoch=recorded.epoch,
        updated_at=recorded.at,
    )


def _opened(event: ev.DebateOpened, recorded: Recorded) -> Debate:
    return Debate(
        id=recorded.debate,
        motion=event.motion,
        title=event.title,
        prompts=event.prompts,
        fence=event.fence,
        format=event.format,
        seats=event.seats,
        judges=event.judges,
        limits=event.limits,
        setup=event.setup,
        schedule=schedule(event.format, event.seats, event.limits),
        seq=recorded.seq,
        unstreamed_seq=recorded.seq,
        epoch=recorded.epoch,
        created_at=recorded.at,
        updated_at=recorded.at,
    )


def _delta(debate: Debate, recorded: Recorded, event: ev.CallDelta) -> Debate:
    """The hot path: one call, perhaps one live turn, and nothing else."""
    live, calls = debate.live, debate.calls
    for i, call in enumerate(calls):
        if call.number != event.call:
            continue
        if call.turn is None:
            calls = (*calls[:i], _call_delta(call, event, recorded.at), *calls[i + 1 :])
        for j, turn in enumerate(live):
            if turn.call == event.call:
                live = (*live[:j], _turn_delta(turn, event, recorded.at), *live[j + 1 :])
                if debate.drafts:
                    # Text that is shown is no longer a draft.
                    debate = without_draft(debate, turn.seat)
    return replace(
        debate, seq=recorded.seq, epoch=recorded.epoch, updated_at=recorded.at, live=live, calls=calls
    )


def _call_delta(call: Call, event: ev.CallDelta, at: datetime) -> Call:
    if event.kind == "text":
        return replace(call, text=call.text + event.text, heard_at=at)
    return replace(call, reasoning=call.reasoning + event.text, heard_at=at)


def _turn_delta(turn: Turn, event: ev.CallDelta, at: datetime) -> Turn:
    last = turn.runs[-1] if turn.runs else None
    # Nearly all text continues the last run: then there is no new run to note.
    if not (last and event.part is None and last.index == event.segment and last.kind == event.kind):
        start = len(turn.text if event.kind == "text" else turn.reasoning)
        run = Run(event.segment, event.kind, start, at, event.part)
        turn = replace(turn, runs=with_run(turn.runs, run))
    if event.kind == "text":
        return replace(turn, text=turn.text + event.text, heard_at=at)
    thinking = turn.thinking
    if event.segment not in thinking:
        thinking = (*thinking, event.segment)
    return replace(turn, reasoning=turn.reasoning + event.text, thinking=thinking, heard_at=at)


def _change(debate: Debate, recorded: Recorded, event: ev.Event) -> Debate:
    if isinstance(event, ev.AudienceEvent):
        return after_audience_event(debate, event, recorded.at)
    match event:
        case ev.DebateOpened() | ev.CallDelta():
            raise ValueError("a debate opens once")
        case ev.DebateStarted():
            return replace(debate, status="initializing", started_at=recorded.at, step=event.step)
        case ev.DebateImported():
            origin = ImportOrigin(recorded.seq, event.source, event.record)
            return replace(debate, origin=origin)
        case ev.DebateReady():
            return _set_status(debate, "awaiting_arguments")
        case ev.DebatePaused():
            paused = replace(debate, status="paused", before_pause=debate.status, paused_at=recorded.at)
            return replace(paused, paused_for=event.reason, step=None)
        case ev.DebateResumed():
            status = debate.before_pause or "debating"
            pause_seconds = (recorded.at - debate.paused_at).total_seconds() if debate.paused_at else 0.0
            resumed = replace(debate, status=status, before_pause=None, paused_at=None, paused_for="")
            if debate.status == "error":
                resumed = replace(resumed, failure=None, ended_detail="")
            intensity = event.intensity or debate.setup.intensity
            setup = replace(debate.setup, intensity=intensity)
            resumed = replace(resumed, step=event.step, setup=setup, quoted=event.quoted)
            return _extend_for_pause(resumed, pause_seconds)
        case ev.DebateStopped():
            return replace(debate, stopped_at=recorded.at, step=None)
        case ev.DebateEnded():
            status = "aborted" if event.reason == "aborted" else "completed"
            halted = _halt(debate, status, ended=event.reason, detail=event.detail, at=recorded.at)
            return _close(replace(halted, ended_seq=debate.ended_seq or recorded.seq))
        case ev.DebateFailed():
            failed = replace(_halt(debate, "error", detail=event.detail), failure=event.reason)
            return _close(replace(failed, failed_seq=debate.failed_seq or recorded.seq))
        case ev.RoundAsked():
            return replace(debate, rounds_asked=_following_round(debate))
        case ev.RoundStarted():
            return replace(debate, round=event.round)
        case ev.RoundCompleted():
            done = replace(debate, rounds_done=max(debate.rounds_done, event.round))
            waits = not debate.setup.auto or event.round >= debate.rounds_planned
            return _set_status(done, "awaiting_arguments") if waits else done
        case ev.TurnStarted():
            return _turn_started(debate, recorded, event)
        case ev.TurnCompleted() | ev.TurnFailed() | ev.TurnInterrupted():
            return turn_ended(debate, recorded, event)
        case ev.TurnSkipped():
            return replace(debate, skipped=(*debate.skipped, event.slot))
        case ev.TurnRetried():
            turns = tuple(
                replace(turn, struck=True, struck_at=recorded.seq) if turn.number == event.turn else turn
                for turn in debate.turns
            )
            status = debate.status if debate.status == "paused" else "debating"
            return replace(debate, turns=turns, status=status, failure=None, ended_detail="")
        case ev.CallStarted():
            return call_started(debate, recorded, event)
        case ev.SegmentCompleted():
            live = tuple(
                segment_completed(turn, recorded, event) if turn.call == event.call else turn
                for turn in debate.live
            )
            return replace(debate, live=live)
        case ev.CallCompleted() | ev.CallFailed():
            return call_ended(debate, recorded, event)
        case ev.RemarkInjected():
            remark = Remark(
                event.remark, recorded.seq, event.text, event.by, event.to, recorded.at, event.question
            )
            return replace(debate, remarks=(*debate.remarks, remark))
        case ev.BudgetWarned():
            return replace(debate, warned=True)
        case ev.BudgetShortened():
            return replace(debate, shortened=(*debate.shortened, (event.round, event.percent)))
        case ev.BudgetExhausted():
            return replace(debate, exhausted=True, cut_round=event.cut_round or debate.cut_round)
        case ev.StalemateFound():
            return replace(debate, stalemate_seq=recorded.seq)
        case ev.ConcessionMade():
            return debate
        case ev.JudgingStarted():
            return _judging_started(debate, recorded, event)
        case ev.BallotCast():
            return _ballot_received(debate, recorded.at, event.ballot.judge, ballots=(event.ballot,))
        case ev.BallotSpoiled():
            return _ballot_spoiled(debate, recorded.at, event)
        case ev.VerdictReached():
            return _verdict_reached(debate, event)
        case ev.JudgingFailed():
            return _close(debate, event.judging)
        case ev.TurnExtended():
            live = tuple(
                _extended(turn, event.seconds) if turn.number == event.turn else turn for turn in debate.live
            )
            return replace(debate, live=live)
        case ev.RoundsAdded():
            limits = with_more_rounds(debate.format, debate.seats, debate.limits, event.rounds)
            slots = schedule(debate.format, debate.seats, limits)
            return replace(debate, limits=limits, schedule=slots)
        case ev.SeatTaken() | ev.SeatLeft():
            return replace(debate, seats=tuple(_reseated(seat, event) for seat in debate.seats))
        case ev.SeatFilled():
            filled = tuple(_filled(seat, event) for seat in debate.seats)
            return replace(debate, seats=filled)
        case ev.DraftKept():
            return replace(debate, drafts={**debate.drafts, event.seat: event.text})
        case ev.AsideAsked():
            aside = Aside(
                number=event.aside,
                kind=event.kind,
                slot=event.slot,
                seat=event.seat,
                judge=event.judge,
                turn=event.turn,
                about=event.about,
                persona=event.persona,
                seq=recorded.seq,
                asked_at=recorded.at,
            )
            return replace(debate, asides=(*debate.asides, aside))
        case ev.AsideAnswered() | ev.AsideFailed():
            return replace(debate, asides=tuple(_answered(aside, event) for aside in debate.asides))
        case ev.PointRaised():
            point = PointOfInformation(
                event.point, event.turn, event.seat, event.accepted, event.text, recorded.seq
            )
            return replace(debate, points=(*debate.points, point))
        case ExtensionEvent():
            return after_extension_event(debate, event, recorded.at)
        case _:
            assert_never(event)


def _judging_started(debate: Debate, recorded: Recorded, event: ev.JudgingStarted) -> Debate:
    """A judging after the end does not change the status: the debate stays over."""
    judging = Judging(
        number=event.judging,
        why=event.why,
        judges=tuple(judge for judge in event.judges or debate.judges if not judge.recused),
        started_at=recorded.at,
        people_since=recorded.at,
        again=debate.final,
        allowance=event.allowance,
        labels=event.labels,
        counted=debate.counted,
    )
    judged = replace(debate, judgings=(*debate.judgings, judging))
    return judged if debate.final else replace(_halt(judged, "judging"), failure=None)


def _verdict_reached(debate: Debate, event: ev.VerdictReached) -> Debate:
    debate = replace(debate, verdicts=(*debate.verdicts, event.verdict))
    if event.judging is None:
        return debate
    judgings = tuple(
        replace(judging, verdict=event.verdict) if judging.number == event.judging else judging
        for judging in debate.judgings
    )
    return _close(replace(debate, judgings=judgings), event.judging)


def _close(debate: Debate, number: int | None = None) -> Debate:
    """Close this judging, or all of them."""
    judgings = tuple(
        judging if judging.closed or number not in (None, judging.number) else replace(judging, closed=True)
        for judging in debate.judgings
    )
    return replace(debate, judgings=judgings)


def _extend_for_pause(debate: Debate, seconds: float) -> Debate:
    """A pause stops the clocks of people: of speakers, of those who are asked, and of voters."""
    people = {seat.id for seat in debate.seats if seat.model.human}
    return replace(
        debate,
        live=tuple(_extended(turn, seconds) if turn.seat in people else turn for turn in debate.live),
        asides=tuple(
            _extended(aside, seconds) if aside.state == "open" else aside for aside in debate.asides
        ),
        polls=tuple(
            replace(poll, seconds=poll.seconds + seconds) if poll.seconds and not poll.closed_at else poll
            for poll in debate.polls
        ),
    )


def _extended(timed: Timed, seconds: float) -> Timed:
    return replace(timed, extended=timed.extended + seconds)


def _reseated(seat: Seat, event: ev.SeatTaken | ev.SeatLeft) -> Seat:
    if seat.id != event.seat:
        return seat
    if isinstance(event, ev.SeatLeft):
        return seat if seat.stand_in is None else replace(seat, model=seat.stand_in)
    if seat.model.human:
        return seat
    person = Model(HUMAN, event.by or HUMAN, price=FREE)
    return replace(seat, model=person, stand_in=seat.model)


def _filled(seat: Seat, event: ev.SeatFilled) -> Seat:
    return replace(seat, model=event.model) if seat.id == event.seat else seat


def _answered(aside: Aside, event: ev.AsideAnswered | ev.AsideFailed) -> Aside:
    if aside.number != event.aside:
        return aside
    if isinstance(event, ev.AsideFailed):
        return replace(aside, state="failed", lost=event.lost)
    return replace(aside, state="answered", yes=event.yes, text=event.text, chances=event.chances)


def _following_round(debate: Debate) -> int:
    """The round of the next speech; rounds whose speeches were all skipped are left out."""
    remaining = debate.remaining_slots()
    return max(debate.rounds_asked, remaining[0].round if remaining else debate.rounds_done)


def _set_status(debate: Debate, status: Status) -> Debate:
    """While the debate is paused, the new status is kept for the time after the pause."""
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
    halted = replace(debate, status=status, before_pause=None, paused_at=None, paused_for="", step=None)
    return replace(halted, ended=ended, ended_detail=detail, ended_at=at)


def _turn_started(debate: Debate, recorded: Recorded, event: ev.TurnStarted) -> Debate:
    turn = Turn(
        number=event.turn,
        slot=event.slot,
        round=event.round,
        phase=event.phase,
        tone=event.tone,
        seat=event.seat,
        seq=recorded.seq,
        since=recorded.seq - 1,
        quoted=debate.quoted,
        started_at=recorded.at,
    )
    return _set_status(replace(debate, live=(*debate.live, turn)), "debating")


def _ballot_spoiled(debate: Debate, at: datetime, event: ev.BallotSpoiled) -> Debate:
    if not event.waived:
        return _ballot_received(debate, at, event.judge, spoiled=(event,))
    return _ballot_received(debate, at, event.judge, waived=((event.judge, event.order),))


def _ballot_received(
    debate: Debate,
    at: datetime,
    by: str,
    ballots: tuple[Ballot, ...] = (),
    spoiled: tuple[ev.BallotSpoiled, ...] = (),
    waived: tuple[tuple[str, int], ...] = (),
) -> Debate:
    if not debate.judgings:
        return debate
    last = debate.judgings[-1]
    by_hand = any(judge.id == by and judge.model.human for judge in last.judges)
    last = replace(
        last,
        ballots=(*last.ballots, *ballots),
        spoiled=(*last.spoiled, *((cause.judge, cause.order) for cause in spoiled)),
        waived=(*last.waived, *waived),
        causes=(*last.causes, *spoiled),
        people_since=last.people_since if by_hand else at,
    )
    return replace(debate, judgings=(*debate.judgings[:-1], last))
