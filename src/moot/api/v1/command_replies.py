"""The replies to commands: short, since their effect is sent on the stream."""

from __future__ import annotations

from collections.abc import Callable

from moot.api.shapes.command_replies import (
    ActionResponse,
    InjectResponse,
    PauseDebateResponse,
    ResumeDebateResponse,
    StopDebateResponse,
    SubmitRoundResponse,
    TriggerJudgeResponse,
)
from moot.api.v1 import rounds
from moot.api.v1.states import STATES
from moot.core.json_types import Timestamp
from moot.core.state import Debate
from moot.views.outcome import ending

BEING_JUDGED = "The judge evaluates what was said."


def action_reply(message: str) -> Callable[[Debate], ActionResponse]:
    """Makes short replies to commands: the effect is sent on the stream."""

    def reply(debate: Debate) -> ActionResponse:
        return ActionResponse(
            debate_id=debate.id,
            current_round=rounds.round_number(debate),
            status=STATES[debate.status],
            message=message,
        )

    return reply


def remark_reply(debate: Debate) -> InjectResponse:
    """A remark waits until the current speech has ended; the reply says who hears it then."""
    return InjectResponse(
        debate_id=debate.id,
        current_round=rounds.round_number(debate),
        status="queued",
        message=_heard_by(debate),
        current_status=STATES[debate.status],
    )


def _heard_by(debate: Debate) -> str:
    """Who hears the last remark. A person who is speaking reads it at once; a model begins without it."""
    remark = debate.remarks[-1]
    live = {turn.slot for turn in debate.live}
    later = {slot.seat for slot in debate.remaining_slots() if slot.index not in live}
    name = debate.seat(remark.to).name if remark.to else ""
    sentences = [
        f"{seat.name}, who is speaking, reads it now."
        for seat in (debate.seat(turn.seat) for turn in debate.live)
        if seat.model.human and remark.to in (None, seat.id)
    ]
    if later and (not name or remark.question):
        sentences.append("It is heard by every speech that starts from now on.")
    elif remark.to in later:
        sentences.append(f"Only {name} hears it, in every speech of theirs that starts from now on.")
    if name and remark.question:
        sentences.append(f"{name} is to answer it.")
    return " ".join(sentences)


def round_reply(debate: Debate) -> SubmitRoundResponse:
    judging = debate.status == "judging"
    number = rounds.round_number(debate) if judging else max(1, debate.rounds_asked)
    return SubmitRoundResponse(
        debate_id=debate.id,
        current_round=number,
        status=STATES[debate.status],
        message=BEING_JUDGED if judging else f"Round {number} is about to begin.",
    )


def judge_reply(debate: Debate) -> TriggerJudgeResponse:
    return TriggerJudgeResponse(debate_id=debate.id, status=STATES[debate.status], message=BEING_JUDGED)


def paused_reply(debate: Debate) -> PauseDebateResponse:
    return PauseDebateResponse(
        debate_id=debate.id,
        status=STATES[debate.status],
        paused_at=Timestamp.of(debate.paused_at or debate.updated_at),
        pausing=is_pausing(debate),
    )


def resumed_reply(debate: Debate) -> ResumeDebateResponse:
    return ResumeDebateResponse(
        debate_id=debate.id,
        status=STATES[debate.status],
        resumed_at=Timestamp.of(debate.updated_at),
    )


def stopped_reply(debate: Debate) -> StopDebateResponse:
    judged = debate.status == "judging"
    return StopDebateResponse(
        debate_id=debate.id,
        status=STATES[debate.status],
        stopped_at=Timestamp.of(debate.stopped_at or debate.ended_at or debate.updated_at),
        message="The debate was stopped; the judge evaluates what was said." if judged else ending(debate),
        stopped=True,
    )


def is_pausing(debate: Debate) -> bool:
    """Whether a pause was requested and a speech is still under way."""
    return debate.status == "paused" and bool(debate.live)
