"""How the events within a speech change a debate: its text, its costs, and the draft of a person.

Another attempt discards the text of the one before. A call that continues another, whose tools have answered,
adds to its text, and further attempts at it discard only its own. A finished segment counts more than the
deltas that were streamed for it. A call that was cut is still charged to its turn.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec.structs import replace

from moot.core import events as ev
from moot.core.events import Recorded
from moot.core.segments import Run, unfinished, with_run
from moot.core.state import (
    ZERO,
    Abandoned,
    BallotCharge,
    Call,
    Debate,
    EarlierCalls,
    Judging,
    ModelUsage,
    Turn,
)
from moot.core.terms import Money, Reasoning, Segment, Text
from moot.core.word_count import count_words


def turn_ended(
    debate: Debate, recorded: Recorded, event: ev.TurnCompleted | ev.TurnFailed | ev.TurnInterrupted
) -> Debate:
    turn = next((turn for turn in debate.live if turn.number == event.turn), None)
    if turn is None:
        return debate
    by_hand = debate.seat(turn.seat).model.human
    text, reasoning = _final_text(turn, event, by_hand=by_hand)
    continues = text.startswith(turn.text)
    since = turn.since if continues else recorded.seq - 1
    abandoned = turn.abandoned
    if not continues:
        abandoned = (*abandoned, Abandoned(recorded.seq, turn.text, turn.reasoning, turn.attempt))
    cut: tuple[Segment, ...] = ()
    if _broke_off(event, by_hand=by_hand):
        cut = unfinished(turn.runs, turn.text, turn.reasoning, turn.segments)
    turn = replace(turn, text=text, reasoning=reasoning, cut=cut, kept=EarlierCalls(), ended_at=recorded.at)
    turn = replace(turn, since=since, abandoned=abandoned)
    match event:
        case ev.TurnCompleted():
            turn = replace(
                turn,
                state="completed",
                words=event.words,
                truncated=event.truncated,
                refusal=event.refusal,
                refusal_category=event.refusal_category,
                degraded=event.degraded,
                over_length=event.over_length,
                clipped=event.clipped,
            )
        case ev.TurnFailed():
            turn = replace(turn, state="failed", by=event.kind, message=event.message)
        case ev.TurnInterrupted():
            turn = replace(turn, state="interrupted", by=event.by, words=count_words(turn.text))
    live = tuple(other for other in debate.live if other.number != event.turn)
    debate = replace(debate, live=live, turns=(*debate.turns, turn))
    if turn.used_slot:
        return without_draft(debate, turn.seat)
    if by_hand and turn.text and turn.seat not in debate.drafts:
        # A person whose speech was cut gets its text back as a draft.
        return replace(debate, drafts={**debate.drafts, turn.seat: turn.text})
    return debate


def without_draft(debate: Debate, seat: str) -> Debate:
    if seat not in debate.drafts:
        return debate
    return replace(debate, drafts={of: text for of, text in debate.drafts.items() if of != seat})


def segment_completed(turn: Turn, recorded: Recorded, event: ev.SegmentCompleted) -> Turn:
    """Segments are kept in order of their index; one that comes again replaces the earlier one."""
    key = (type(event.segment), event.segment.index)
    others = [other for other in turn.segments if (type(other), other.index) != key]
    ordered = sorted([*others, event.segment], key=lambda segment: segment.index)
    turn = replace(turn, segments=tuple(ordered))
    if event.taken_back:
        taken_back = _taken_back(turn, event.segment.index, recorded.at)
        return _abandoned(turn, taken_back, recorded.seq)
    if isinstance(event.segment, Reasoning) and not _has_run(turn, event.segment.index):
        # Its text was not streamed before.
        run = Run(event.segment.index, "reasoning", len(turn.reasoning), recorded.at)
        return replace(turn, runs=with_run(turn.runs, run))
    return turn


def _taken_back(turn: Turn, index: int, at: datetime) -> Turn:
    """The text of the present call becomes reasoning: nobody may hear it as speech, even if it is cut now."""
    text = turn.text[len(turn.kept.text) :]
    text_runs = [run for run in turn.runs if run.kind == "text" and run not in turn.kept.runs]
    run = Run(index, "reasoning", len(turn.reasoning), text_runs[0].at if text_runs else at)
    runs = (*(other for other in turn.runs if other not in text_runs), run)
    return replace(turn, text=turn.kept.text, reasoning=turn.reasoning + text, runs=runs)


def _has_run(turn: Turn, index: int) -> bool:
    return any(run.index == index and run.kind == "reasoning" for run in turn.runs)


def _final_text(
    turn: Turn, event: ev.TurnCompleted | ev.TurnFailed | ev.TurnInterrupted, *, by_hand: bool
) -> tuple[str, str]:
    """Text and reasoning of the finished segments; where the speech broke off, as they were streamed."""
    text = "".join(segment.text for segment in turn.segments if isinstance(segment, Text))
    thoughts = "".join(segment.text for segment in turn.segments if isinstance(segment, Reasoning))
    if _broke_off(event, by_hand=by_hand):
        return turn.text or text, turn.reasoning or thoughts
    return text or turn.text, thoughts or turn.reasoning


def _broke_off(event: ev.TurnCompleted | ev.TurnFailed | ev.TurnInterrupted, *, by_hand: bool) -> bool:
    """A person's text counts as complete when their time is up."""
    return not isinstance(event, ev.TurnCompleted) or (event.truncated == "timeout" and not by_hand)


def call_started(debate: Debate, recorded: Recorded, event: ev.CallStarted) -> Debate:
    call = Call(
        number=event.call,
        model=event.model,
        attempt=event.attempt,
        max_tokens=event.max_tokens,
        input_bound=event.input_bound,
        reserved=event.reserved,
        input_guess=event.input_guess,
        turn=event.turn,
        judge=event.judge,
        order=event.order,
        repair=event.repair,
        aside=event.aside,
        started_at=recorded.at,
    )
    live = tuple(
        _abandoned(turn, _with_call(turn, event), recorded.seq) if turn.number == event.turn else turn
        for turn in debate.live
    )
    return replace(debate, calls=(*debate.calls, call), calls_made=event.call, live=live)


def _with_call(turn: Turn, event: ev.CallStarted) -> Turn:
    """Another attempt discards the text of the one before, but keeps that of the calls it continues."""
    earlier, attempt = EarlierCalls(), event.attempt
    if event.continues is not None:
        # The speech itself does not begin again.
        attempt = turn.attempt
        if event.continues == turn.call:
            earlier = EarlierCalls(turn.text, turn.reasoning, turn.segments, turn.max_tokens, turn.runs)
        else:
            earlier = turn.kept
    max_tokens = earlier.max_tokens + event.max_tokens
    return _without_present_call(
        replace(turn, kept=earlier, call=event.call, attempt=attempt, max_tokens=max_tokens, heard_at=None)
    )


def _without_present_call(turn: Turn) -> Turn:
    """Without the text of the present call."""
    earlier = turn.kept
    return replace(
        turn,
        text=earlier.text,
        reasoning=earlier.reasoning,
        segments=earlier.segments,
        thinking=tuple(i for i in turn.thinking if any(part.index == i for part in earlier.segments)),
        runs=earlier.runs,
    )


def _abandoned(before: Turn, turn: Turn, seq: int) -> Turn:
    """The changed turn, with a note of its earlier text where that was discarded."""
    if turn.text.startswith(before.text) and turn.reasoning.startswith(before.reasoning):
        return turn
    discarded = Abandoned(seq, before.text, before.reasoning, before.attempt)
    return replace(turn, since=seq, abandoned=(*before.abandoned, discarded))


def call_ended(debate: Debate, recorded: Recorded, event: ev.CallCompleted | ev.CallFailed) -> Debate:
    call = debate.call(event.call)
    if call is None:
        return debate
    tally = debate.tallies.get(call.model, ModelUsage())
    tally = ModelUsage(
        usage=tally.usage + event.usage,
        cost=tally.cost + (event.cost or ZERO),
        calls=tally.calls + 1,
        unpriced=tally.unpriced + (event.cost is None),
    )
    live = tuple(
        _abandoned(turn, _charged(turn, event, recorded.at), recorded.seq)
        if turn.call == event.call
        else turn
        for turn in debate.live
    )
    turns = debate.turns
    if call.turn is not None and not any(turn.number == call.turn for turn in live):
        turns = tuple(
            _charged(turn, event, recorded.at) if turn.call == event.call else turn for turn in turns
        )
    judgings = debate.judgings
    if judgings and call.judge:
        last = replace(
            judgings[-1],
            usage=judgings[-1].usage + event.usage,
            charges=_charges(judgings[-1], call.judge, call.order, event),
        )
        if call.text or (isinstance(event, ev.CallFailed) and event.kind == "malformed"):
            last = replace(last, written=(*last.written, (call.judge, call.order)))
        if isinstance(event, ev.CallFailed) and event.kind == "lost":
            last = replace(last, lost=(*last.lost, (call.judge, call.order)))
        judgings = (*judgings[:-1], last)
    return replace(
        debate,
        judgings=judgings,
        calls=tuple(other for other in debate.calls if other.number != event.call),
        tallies={**debate.tallies, call.model: tally},
        counted=debate.counted + _counted_cost(call, event),
        live=live,
        turns=turns,
    )


def _charges(
    judging: Judging, judge: str, order: int, event: ev.CallCompleted | ev.CallFailed
) -> tuple[BallotCharge, ...]:
    before = judging.charge(judge, order) or BallotCharge(judge, order)
    cost = None if before.cost is None or event.cost is None else before.cost + event.cost
    added = BallotCharge(judge, order, cost, before.latency_ms + event.latency_ms)
    return (*(one for one in judging.charges if (one.judge, one.order) != (judge, order)), added)


def _charged(turn: Turn, event: ev.CallCompleted | ev.CallFailed, at: datetime) -> Turn:
    cost = None if turn.cost is None or event.cost is None else turn.cost + event.cost
    turn = replace(turn, usage=turn.usage + event.usage, cost=cost, latency_ms=event.latency_ms)
    if isinstance(event, ev.CallCompleted):
        return replace(turn, response_id=event.response_id, stored=event.stored)
    if event.retry_in_ms is not None:
        failed = replace(
            turn,
            fault=event.kind,
            message=event.message,
            failures=turn.failures + 1,
            retry_at=at + timedelta(milliseconds=event.retry_in_ms),
        )
        return _without_present_call(failed)
    return turn


def _counted_cost(call: Call, event: ev.CallCompleted | ev.CallFailed) -> Money:
    """A call of unknown cost may have been billed in full: its reservation stays counted, unless its end says
    what it can have come to."""
    if isinstance(event, ev.CallFailed) and event.counted is not None:
        return event.counted
    cost = event.cost or ZERO
    billed = isinstance(event, ev.CallCompleted) or event.billed
    return max(cost, call.reserved or ZERO) if billed and event.usage.estimated else cost
