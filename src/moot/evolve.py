"""How each event changes a debate: `state = fold(events)`.

`evolve` is total over all events and the only place where a debate changes. Deltas touch only the call and
the live turn they belong to, so the cost of a token does not grow with the debate.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar, assert_never

from msgspec.structs import replace

from moot import events as ev
from moot.debate import NOTHING, Call, Debate, Judging, Remark, Tally, Turn
from moot.events import EndReason, Recorded
from moot.schedule import schedule
from moot.terms import Ballot, Money, Reasoning, Status, Text

Speaking = TypeVar("Speaking", Turn, Call)


def fold(records: Iterable[Recorded], debate: Debate | None = None) -> Debate | None:
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
    changed = _change(debate, recorded, event)
    narrated = isinstance(event, ev.SegmentCompleted)
    return replace(
        changed,
        seq=recorded.seq,
        turning=debate.turning if narrated else recorded.seq,
        epoch=recorded.epoch,
        updated_at=recorded.at,
    )


def _opened(event: ev.DebateOpened, recorded: Recorded) -> Debate:
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


def _delta(debate: Debate, recorded: Recorded, event: ev.CallDelta) -> Debate:
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


def _heard(speaker: Speaking, event: ev.CallDelta) -> Speaking:
    if event.kind == "text":
        return replace(speaker, text=speaker.text + event.text)
    return replace(speaker, reasoning=speaker.reasoning + event.text)


def _change(debate: Debate, recorded: Recorded, event: ev.Event) -> Debate:
    match event:
        case ev.DebateOpened() | ev.CallDelta():
            raise ValueError("a debate opens once")
        case ev.DebateStarted():
            return replace(debate, status="initializing", started_at=recorded.at)
        case ev.DebateReady():
            return _set_status(debate, "awaiting_arguments")
        case ev.DebatePaused():
            paused = replace(debate, status="paused", before_pause=debate.status, paused_at=recorded.at)
            return replace(paused, paused_for=event.reason)
        case ev.DebateResumed():
            status = debate.before_pause or "debating"
            return replace(debate, status=status, before_pause=None, paused_at=None, paused_for="")
        case ev.DebateStopped():
            return replace(debate, stopped_at=recorded.at)
        case ev.DebateEnded():
            status = "aborted" if event.reason == "aborted" else "completed"
            halted = _halt(debate, status, ended=event.reason, detail=event.detail, at=recorded.at)
            return replace(halted, ended_seq=debate.ended_seq or recorded.seq)
        case ev.DebateFailed():
            return replace(_halt(debate, "error", detail=event.detail), failure=event.reason)
        case ev.RoundAsked():
            return replace(debate, rounds_asked=_following_round(debate))
        case ev.RoundStarted():
            return replace(debate, round=event.round)
        case ev.RoundCompleted():
            done = replace(debate, rounds_done=max(debate.rounds_done, event.round))
            waits = not debate.manner.auto or event.round >= debate.rounds_planned
            return _set_status(done, "awaiting_arguments") if waits else done
        case ev.TurnStarted():
            return _turn_started(debate, recorded, event)
        case ev.TurnCompleted() | ev.TurnFailed() | ev.TurnInterrupted():
            return _turn_ended(debate, recorded, event)
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
            return _call_started(debate, event)
        case ev.SegmentCompleted():
            live = tuple(_completed(turn, event) if turn.call == event.call else turn for turn in debate.live)
            return replace(debate, live=live)
        case ev.CallCompleted() | ev.CallFailed():
            return _call_ended(debate, event)
        case ev.RemarkInjected():
            remark = Remark(event.remark, recorded.seq, event.text, event.by, event.to, recorded.at)
            return replace(debate, remarks=(*debate.remarks, remark))
        case ev.BudgetWarned():
            return replace(debate, warned=True)
        case ev.BudgetExhausted() | ev.StalemateFound() | ev.ConcessionMade():
            return debate
        case ev.JudgingStarted():
            judging = Judging(event.judging, event.why)
            halted = _halt(debate, "judging")
            return replace(halted, judging=judging, failure=None)
        case ev.BallotCast():
            return _judged(debate, ballots=(event.ballot,))
        case ev.BallotSpoiled():
            return _judged(debate, spoiled=((event.judge, event.order),))
        case ev.VerdictReached():
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
    halted = replace(debate, status=status, before_pause=None, paused_at=None, paused_for="")
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
        started_at=recorded.at,
    )
    return _set_status(replace(debate, live=(*debate.live, turn)), "debating")


def _turn_ended(
    debate: Debate, recorded: Recorded, event: ev.TurnCompleted | ev.TurnFailed | ev.TurnInterrupted
) -> Debate:
    turn = next((turn for turn in debate.live if turn.number == event.turn), None)
    if turn is None:
        return debate
    text, reasoning = _last_words(turn, event)
    turn = replace(turn, text=text, reasoning=reasoning, ended_at=recorded.at)
    match event:
        case ev.TurnCompleted():
            turn = replace(
                turn,
                state="completed",
                words=event.words,
                truncated=event.truncated,
                refusal=event.refusal,
                degraded=event.degraded,
                over_length=event.over_length,
            )
        case ev.TurnFailed():
            turn = replace(turn, state="failed", by=event.kind, message=event.message)
        case ev.TurnInterrupted():
            turn = replace(turn, state="interrupted", by=event.by, words=len(turn.text.split()))
    live = tuple(other for other in debate.live if other.number != event.turn)
    return replace(debate, live=live, turns=(*debate.turns, turn))


def _completed(turn: Turn, event: ev.SegmentCompleted) -> Turn:
    """A segment that is told again takes its own place: the last telling is right."""
    place = (type(event.segment), event.segment.index)
    others = (other for other in turn.segments if (type(other), other.index) != place)
    turn = replace(turn, segments=(*others, event.segment))
    if event.taken_back:
        # Nobody may hear them as speech, even if it is cut now.
        return replace(turn, text="", reasoning=turn.reasoning + turn.text)
    return turn


def _last_words(turn: Turn, event: ev.TurnCompleted | ev.TurnFailed | ev.TurnInterrupted) -> tuple[str, str]:
    """What the provider gave as the whole, where there is a whole; else the words as they came."""
    broke_off = not isinstance(event, ev.TurnCompleted) or event.truncated == "timeout"
    if (broke_off and turn.text) or not turn.segments:
        return turn.text, turn.reasoning
    ordered = sorted(turn.segments, key=lambda segment: segment.index)
    text = "".join(segment.text for segment in ordered if isinstance(segment, Text))
    thoughts = "".join(segment.text for segment in ordered if isinstance(segment, Reasoning))
    return text or turn.text, thoughts or turn.reasoning


def _call_started(debate: Debate, event: ev.CallStarted) -> Debate:
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


def _call_ended(debate: Debate, event: ev.CallCompleted | ev.CallFailed) -> Debate:
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
    if judging and call.judge and isinstance(event, ev.CallFailed) and event.kind == "lost":
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


def _charged(turn: Turn, event: ev.CallCompleted | ev.CallFailed) -> Turn:
    cost = None if turn.cost is None or event.cost is None else turn.cost + event.cost
    turn = replace(turn, usage=turn.usage + event.usage, cost=cost, latency_ms=event.latency_ms)
    if isinstance(event, ev.CallCompleted):
        return replace(turn, response_id=event.response_id, stored=event.stored)
    if event.retry_in_ms is not None:
        return replace(turn, text="", reasoning="", segments=())
    return turn


def _counts(call: Call, event: ev.CallCompleted | ev.CallFailed) -> Money:
    """A call of unknown cost may have been billed in full: its whole reservation stays counted."""
    cost = event.cost or NOTHING
    billed = isinstance(event, ev.CallCompleted) or event.billed
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
