"""The nine events of v1, made from the log; with `extended`, more of them.

`status` comes whenever state or round changes, `cost_update` after every call that used something (after the
last `participant` of a speech, where the call ends it), `complete` once. Nothing is sent after the first end
of a debate: for v1 it is over. The stream of a failed debate ends too, because no `complete` would follow;
after a retry clients can open it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from moot.api.frames import Frame, SeenEvent
from moot.api.shapes.stream_events import AckData
from moot.api.v1 import judge_frames, people_replies, rounds, speech_frames
from moot.api.v1.speech_frames import v1_frame
from moot.api.v1.states import STATES
from moot.core import events as ev
from moot.core.errors import FaultKind
from moot.core.json_types import Timestamp, to_members
from moot.core.state import Debate
from moot.core.statuses import STOPPED
from moot.rules.retry import AMENDABLE_FAULTS
from moot.rules.runner_decisions import wants_runner
from moot.views import outcome
from moot.views.costs import cost_warning, costs, limit_reached
from moot.views.transcript import seconds_taken
from moot.views.transcript_json import cost_summary, moment
from moot.views.verdict_views import first_verdict

# v1 has always reported `too_long`, which is followed by another request as well; clients may rely on it.
UNREPORTED_FAULTS: tuple[FaultKind, ...] = tuple(kind for kind in AMENDABLE_FAULTS if kind != "too_long")
"""Faults that are followed at once by a different request: they are not sent."""


class V1Frames(Struct, frozen=True):
    extended: bool = False

    @property
    def name(self) -> str:
        return "v1-extended" if self.extended else "v1"

    def ends(self, seen: SeenEvent) -> bool:
        return seen.after.ended_seq == seen.seq

    def rests(self, debate: Debate) -> bool:
        """A failed debate continues only after a retry, a judging or a stop."""
        return debate.status == "error" and not wants_runner(debate)

    def frames(self, seen: SeenEvent) -> Sequence[Frame]:
        event = seen.event
        if event is None or 0 < seen.after.ended_seq < seen.seq:
            return ()
        if isinstance(event, ev.CallDelta):
            return self._delta_frames(seen, event)
        more = speech_frames.clock_frames(seen) if self.extended else ()
        return (*_closing_frames(seen, event), *_status(seen), *self._event_frames(seen, event), *more)

    def _delta_frames(self, seen: SeenEvent, event: ev.CallDelta) -> Sequence[Frame]:
        if event.kind == "text":
            delta = speech_frames.speech_delta if self.extended else speech_frames.plain_speech_delta
            return delta(seen, event) or tuple(judge_frames.reasoning_delta(seen, event, every=self.extended))
        if not self.extended:
            return ()
        return speech_frames.reasoning_delta(seen, event) or tuple(
            judge_frames.private_reasoning(seen, event)
        )

    def _event_frames(self, seen: SeenEvent, event: ev.Event) -> Iterator[Frame]:
        match event:
            case ev.TurnCompleted() | ev.TurnInterrupted():
                ended = speech_frames.speech_ended if self.extended else speech_frames.plain_speech_ended
                yield from ended(seen, event)
                yield from _cost_of_turn(seen, event.turn)
                yield from speech_frames.speeches_unveiled(seen, event.turn, plain=not self.extended)
            case ev.TurnFailed():
                failed = speech_frames.speech_failed if self.extended else speech_frames.plain_speech_failed
                yield from failed(seen, event)
                yield from _cost_of_turn(seen, event.turn)
                yield from speech_frames.speeches_unveiled(seen, event.turn, plain=not self.extended)
            case ev.SegmentCompleted():
                yield from self._segment(seen, event)
            case ev.CallStarted():
                if self.extended:
                    yield from speech_frames.speech_restarted(seen, event)
            case ev.CallCompleted():
                if not _ends_turn(seen, event):
                    yield from _cost_update(seen, event)
            case ev.CallFailed():
                yield from self._call_failed(seen, event)
            case ev.BudgetWarned():
                yield _cost_warning(seen, event)
            case ev.BudgetExhausted():
                yield _cost_limit(seen, event)
            case ev.VerdictReached():
                yield from judge_frames.verdict_reached(seen)
            case ev.DebateFailed():
                yield _failure(seen, event)
            case ev.DebateEnded():
                yield _complete(seen, event)
            case _:
                # The others are told by `status`, by `extended` frames, or not at all.
                if self.extended:
                    yield from _extended_frames(seen, event)

    def _segment(self, seen: SeenEvent, event: ev.SegmentCompleted) -> Iterator[Frame]:
        if event.taken_back and self.extended:
            yield from speech_frames.speech_retracted(seen, event.call)
            yield from speech_frames.retracted_reasoning(seen, event)
        yield from judge_frames.reasoning_complete(seen, event, every=self.extended)

    def _call_failed(self, seen: SeenEvent, event: ev.CallFailed) -> Iterator[Frame]:
        if self.extended:
            yield from judge_frames.call_failed(seen, event.call)
        if event.retry_in_ms is not None:
            if self.extended:
                yield from speech_frames.speech_retracted(seen, event.call)
            if event.kind not in UNREPORTED_FAULTS and not _is_aside(seen, event.call):
                yield _retry(seen, event, event.retry_in_ms)
        if not _ends_turn(seen, event):
            yield from _cost_update(seen, event)


def _is_aside(seen: SeenEvent, number: int) -> bool:
    """Side questions are not sent to viewers."""
    call = seen.before and seen.before.call(number)
    return call is not None and call.aside is not None


def _closing_frames(seen: SeenEvent, event: ev.Event) -> Iterator[Frame]:
    """Frames that come before the change of state."""
    if isinstance(event, ev.RoundCompleted):
        tokens, cost = rounds.round_totals(seen.after, event.round)
        yield v1_frame(
            seen,
            "round_complete",
            roundNumber=event.round,
            responses=rounds.responses(seen.after, event.round),
            totalTokens=tokens,
            roundCost=cost,
        )
    yield from judge_frames.judging_over(seen)


def _status(seen: SeenEvent) -> Iterator[Frame]:
    state = _state(seen.after)
    if state is None or (seen.before is not None and _state(seen.before) == state):
        return
    why = {"reason": seen.after.paused_for} if seen.after.paused_for else {}
    yield v1_frame(seen, "status", debateId=seen.after.id, state=state[0], currentRound=state[1], **why)


def _state(debate: Debate) -> tuple[str, int] | None:
    """None until the debate is started: the first frame says that it begins."""
    if debate.status == "created":
        return None
    return STATES[debate.status], rounds.round_number(debate)


def _ends_turn(seen: SeenEvent, event: ev.CallCompleted | ev.CallFailed) -> bool:
    """Whether the turn ends with this call: then its cost is sent after the speech."""
    if not any(turn.call == event.call for turn in seen.after.live):
        return False
    return event.finish != "tool" if isinstance(event, ev.CallCompleted) else event.retry_in_ms is None


def _cost_of_turn(seen: SeenEvent, number: int) -> Iterator[Frame]:
    """The cost of the last call of the turn; that of an open call is sent when the call ends."""
    turn = seen.after.turn(number)
    is_open = turn is not None and turn.call is not None and seen.after.call(turn.call) is not None
    if turn is not None and not is_open and (turn.usage.total or turn.cost):
        yield _costs(seen)


def _cost_update(seen: SeenEvent, event: ev.CallCompleted | ev.CallFailed) -> Iterator[Frame]:
    if event.usage.total or event.cost:
        yield _costs(seen)


def _costs(seen: SeenEvent) -> Frame:
    known = cost_summary(costs(seen.after))
    return v1_frame(
        seen,
        "cost_update",
        totalCost=known.total_cost,
        costByModel=known.cost_by_model,
        tokensUsed={"total": known.total_tokens, "byModel": known.tokens_by_model},
        estimated=known.estimated,
        unpriced=known.unpriced,
    )


def _cost_warning(seen: SeenEvent, event: ev.BudgetWarned) -> Frame:
    limit = seen.after.limits.cost_limit
    share = {"percentOfLimit": round(float(event.spent / limit * 100), 1)} if limit else {}
    message = cost_warning(event)
    return v1_frame(
        seen,
        "cost_warning",
        threshold=float(event.threshold),
        currentCost=float(event.spent),
        **share,
        message=message,
    )


def _cost_limit(seen: SeenEvent, event: ev.BudgetExhausted) -> Frame:
    return v1_frame(seen, "error", type="cost_limit", message=limit_reached(event), retryable=False)


def _retry(seen: SeenEvent, event: ev.CallFailed, wait: int) -> Frame:
    call = seen.before and seen.before.call(event.call)
    turn = seen.after.turn(call.turn) if call and call.turn is not None else None
    who: dict[str, Any] = {"participantId": turn.seat} if turn else {}
    if call and call.judge is not None:
        who = {"judgeId": call.judge, "order": call.order}
    nth = speech_frames.attempt(seen.after, turn) if turn else call.attempt if call else 1
    return speech_frames.error_frame(
        seen, event.kind, event.message, retryable=True, **who, attempt=nth, retryInMs=wait
    )


def _failure(seen: SeenEvent, event: ev.DebateFailed) -> Frame:
    """Judges may be asked again, unless that would fail for the same reason."""
    judging = seen.after.judging
    return v1_frame(
        seen,
        "error",
        type="cost_limit" if event.reason == "budget" else "model_error",
        message=outcome.ending(seen.after),
        retryable=event.reason == "judge_failed" and (judging is None or judging.may_be_repeated),
        reason=event.reason,
    )


def _complete(seen: SeenEvent, event: ev.DebateEnded) -> Frame:
    return v1_frame(
        seen,
        "complete",
        debateId=seen.after.id,
        totalRounds=rounds.rounds_held(seen.after),
        finalCost=float(seen.after.cost_so_far),
        duration=round(seconds_taken(seen.after), 3),
        verdict=first_verdict(seen.after),
        stopped=event.reason in STOPPED,
        reason=event.reason,
    )


def _extended_frames(seen: SeenEvent, event: ev.Event) -> Iterator[Frame]:
    match event:
        case ev.TurnStarted():
            yield from speech_frames.turn_started(seen, event.turn)
        case ev.RemarkInjected():
            yield speech_frames.remark_frame(seen, event)
        case ev.BallotCast():
            yield judge_frames.ballot_cast(seen, event)
        case ev.BallotSpoiled():
            yield judge_frames.ballot_spoiled(seen, event)
        case ev.SeatTaken() | ev.SeatLeft() | ev.SeatFilled():
            yield speech_frames.seat_frame(seen, event)
        case ev.PointRaised():
            yield speech_frames.point_frame(seen, event)
        case ev.PollOpened() | ev.VoteCast() | ev.PollClosed():
            yield v1_frame(seen, "poll", **to_members(people_replies.poll_reply(seen.after, event.poll)))
        case _:
            return


def deleted() -> Frame:
    """The last frame for viewers of a debate that was deleted."""
    return _error(message="The debate was deleted.")


def rejected(code: str, message: str, members: Mapping[str, Any]) -> Frame:
    """Why a command over a WebSocket was not carried out."""
    return _error(code=code, message=message, **members)


def acknowledged(kind: str, debate: Debate, *, replayed: bool = False) -> Frame:
    """A command over a WebSocket was recorded. A remark waits for the current speech to end."""
    return Frame(
        "ack",
        AckData(
            type=kind,
            status="queued" if kind == "INJECT_CONTEXT" else "done",
            debate_id=debate.id,
            current_status=STATES[debate.status],
            seq=debate.seq,
            timestamp=Timestamp.of(debate.updated_at),
            replayed=replayed,
        ),
    )


def _error(**members: Any) -> Frame:
    now = moment(datetime.now(UTC))
    return Frame("error", {"type": "validation", **members, "retryable": False, "timestamp": now})
