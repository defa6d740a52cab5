"""People in the room as the extended stream tells them: seats, clocks, points of information, remarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moot.api.frames import Frame, SeenEvent
from moot.api.v1.people_replies import ends_at
from moot.api.v1.speech_frames import v1_frame
from moot.core.events import PointRaised, RemarkInjected, SeatFilled, SeatLeft, SeatTaken
from moot.core.state import Debate
from moot.views.transcript_json import moment


def seat_frame(seen: SeenEvent, event: SeatTaken | SeatLeft | SeatFilled) -> Frame:
    """A person sits down, or a model takes over."""
    held = seen.after.seat(event.seat)
    who: dict[str, Any] = {"participantId": held.id, "participantName": held.name, "model": held.model.label}
    return v1_frame(seen, "seat", **who, person=isinstance(event, SeatTaken), by=event.by)


def point_frame(seen: SeenEvent, event: PointRaised) -> Frame:
    """A point that was not taken is sent without its text."""
    turn = seen.after.turn(event.turn)
    return v1_frame(
        seen,
        "point",
        participantId=event.seat,
        participantName=seen.after.seat(event.seat).name,
        to=turn.seat if turn else None,
        turn=event.turn,
        accepted=event.accepted,
        text=event.text,
    )


def remark_frame(seen: SeenEvent, event: RemarkInjected) -> Frame:
    asks = {"question": True} if event.question else {}
    return v1_frame(seen, "remark", remark=event.remark, text=event.text, by=event.by, to=event.to, **asks)


def clock_frames(seen: SeenEvent) -> Iterator[Frame]:
    """A person's time begins, stands still, goes on or grows."""
    known = _clock_ends(seen.before) if seen.before else {}
    for number, end in _clock_ends(seen.after).items():
        turn = seen.after.turn(number)
        if turn is not None and (number not in known or known[number] != end):
            yield v1_frame(seen, "clock", participantId=turn.seat, turn=number, endsAt=end)


def _clock_ends(debate: Debate) -> dict[int, str | None]:
    """When the time of each person who speaks is up; None where it stands still."""
    return {
        turn.number: moment(ends_at(debate, turn))
        for turn in debate.live
        if debate.seat(turn.seat).model.human
    }
