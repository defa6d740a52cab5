"""Replies to people: invitations, the state of a seat, votes, and all verdicts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from msgspec import UNSET, structs

from moot.api.shapes.records import VerdictsResponse
from moot.api.shapes.rounds import Speaker
from moot.api.shapes.seats_and_polls import (
    InvitationResponse,
    OfferedPoint,
    OpenPoll,
    PollCount,
    PollsResponse,
    SeatResponse,
)
from moot.core.audience import Poll
from moot.core.json_types import Timestamp, choose
from moot.core.state import Debate, Turn
from moot.core.visibility import Viewer
from moot.core.word_count import count_words
from moot.engine.jobs import HumanJob
from moot.rules.budget import CallPurpose
from moot.rules.participation import draft
from moot.rules.turn_by_turn import is_unasked
from moot.store.contract import StoredInvitation
from moot.views import transcript_json
from moot.views.poll_results import poll_report
from moot.views.transcript_shapes import ReachedVerdict
from moot.views.verdict_views import verdict_views


def invitation_reply(invitation: StoredInvitation, token: str = "") -> InvitationResponse:
    """The token is sent only in the reply that creates it; in the link it is after the #."""
    return choose(
        InvitationResponse,
        invitation,
        debate_id=invitation.debate,
        token=token,
        link=f"/debate/{invitation.debate}#token={token}" if token else "",
    )


# --- a seat ---------------------------------------------------------------------------------------------


def seat_reply(debate: Debate, seat_id: str, now: datetime) -> SeatResponse:
    """The state of one seat with its draft, only for those who may speak for it."""
    seat, written = debate.seat(seat_id), draft(debate, seat_id)
    turn = next((turn for turn in debate.live if turn.seat == seat_id), None)
    slot = turn.slot if turn else next((s.index for s in debate.remaining_slots() if s.seat == seat_id), None)
    left = seconds_left(debate, turn, now) if turn else None
    return SeatResponse(
        debate_id=debate.id,
        seat=seat_id,
        name=seat.name,
        person=seat.model.human and not is_unasked(debate, seat),
        draft=written,
        turn=turn.number if turn else None,
        phase=debate.phase(slot).key if slot is not None else None,
        title=debate.phase(slot).title if slot is not None else None,
        ends_at=Timestamp.of(ends_at(debate, turn)) if turn else None,
        seconds_left=None if left is None else round(left, 1),
        words=count_words(written),
        budget=debate.word_budget(slot) if slot is not None else 0,
        point=_offered_point(debate, seat_id),
    )


def _offered_point(debate: Debate, seat_id: str) -> OfferedPoint | None:
    """The point of information that this speaker has to accept or refuse."""
    leave = next((a for a in debate.open_asides if a.kind == "leave" and a.seat == seat_id), None)
    point = debate.offered_point(leave.turn) if leave and leave.turn is not None else None
    return OfferedPoint(participant_id=point.seat, text=point.text) if point else None


def speakers(debate: Debate) -> tuple[Speaker, ...]:
    """The speaker of a turn; for a person, with the time at which it ends."""
    return tuple(_speaker(debate, turn) for turn in debate.live)


def _speaker(debate: Debate, turn: Turn) -> Speaker:
    person = debate.seat(turn.seat).model.human
    return Speaker(
        participant_id=turn.seat,
        turn=turn.number,
        speech=turn.slot + 1,
        person=person,
        ends_at=Timestamp.of(ends_at(debate, turn)) if person else UNSET,
    )


# --- votes and verdicts ---------------------------------------------------------------------------------


def poll_replies(debate: Debate) -> tuple[OpenPoll, ...]:
    """How many have voted in each poll, without what they chose."""
    return tuple(poll_reply(debate, poll.name) for poll in debate.polls)


def poll_reply(debate: Debate, name: str) -> OpenPoll:
    current = next(poll for poll in debate.polls if poll.name == name)
    in_time = sum(vote.poll == name and not vote.late for vote in debate.votes)
    return OpenPoll(
        poll=name,
        open=current.closed_at is None,
        votes=in_time,
        ends_at=Timestamp.of(closes_at(current)),
    )


def poll_totals(debate: Debate) -> PollsResponse:
    """The result of the votes. While they are sealed, only their number; empty where no poll is held."""
    report = poll_report(debate)
    if report is None:
        return PollsResponse(debate_id=debate.id, sealed=False, rule=None, choices=(), polls=())
    votes = transcript_json.votes(report)
    ends = {poll.name: Timestamp.of(closes_at(poll)) for poll in debate.polls}
    polls = tuple(PollCount(**structs.asdict(poll), ends_at=ends[poll.poll]) for poll in votes.polls)
    members: dict[str, Any] = {**structs.asdict(votes), "polls": polls}
    return PollsResponse(**members, debate_id=debate.id)


def verdicts_reply(debate: Debate, viewer: Viewer) -> VerdictsResponse:
    """All verdicts; the first is the result of the debate. A judge sees no ballots."""
    sealed = {"ballots": ()} if viewer.role == "judge" else {}
    verdicts = tuple(choose(ReachedVerdict, result, **sealed) for result in verdict_views(debate))
    return VerdictsResponse(debate_id=debate.id, verdicts=verdicts, being_judged=debate.being_judged)


def seconds_left(debate: Debate, turn: Turn, now: datetime) -> float | None:
    """None where no person speaks, or while the clock is stopped."""
    if not debate.seat(turn.seat).model.human or not debate.is_live(turn.number):
        return None
    left = HumanJob(CallPurpose(turn=turn.number), "").seconds_left(debate, now)
    return None if left is None else max(0.0, left)


def ends_at(debate: Debate, turn: Turn) -> datetime | None:
    left = seconds_left(debate, turn, turn.started_at)
    return None if left is None else turn.started_at + timedelta(seconds=left)


def closes_at(poll: Poll) -> datetime | None:
    """None where the poll is closed, or stays open until it is closed by hand."""
    if poll.seconds is None or poll.closed_at is not None:
        return None
    return poll.opened_at + timedelta(seconds=poll.seconds)
