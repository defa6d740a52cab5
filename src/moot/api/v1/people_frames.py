"""People in the room as the extended stream tells them: seats, clocks, points of information, remarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moot.api.frames import Frame, Seen
from moot.api.v1.deadlines import ends_at
from moot.api.v1.event_frame import tell
from moot.core.events import PointRaised, RemarkInjected, SeatFilled, SeatLeft, SeatTaken
from moot.core.state import Debate
from moot.views.transcript_json import moment


def seat(seen: Seen, event: SeatTaken | SeatLeft | SeatFilled) -> Frame:
    """A person sits down, or a model takes over."""
    held = seen.after.seat(event.seat)
    who: dict[str, Any] = {"participantId": held.id, "participantName": held.name, "model": held.model.label}
    return tell(seen, "seat", **who, person=isinstance(event, SeatTaken), by=event.by)


def point(seen: Seen, event: PointRaised) -> Frame:
    """The words of one that was not taken are heard by nobody."""
    turn = seen.after.turn(event.turn)
    return tell(
        seen,
        "point",
        participantId=event.seat,
        participantName=seen.after.seat(event.seat).name,
        to=turn.seat if turn else None,
        turn=event.turn,
        accepted=event.accepted,
        text=event.text,
    )


def remark(seen: Seen, event: RemarkInjected) -> Frame:
    asks = {"question": True} if event.question else {}
    return tell(seen, "remark", remark=event.remark, text=event.text, by=event.by, to=event.to, **asks)


def clocks(seen: Seen) -> Iterator[Frame]:
    """A person's time begins, stands still, goes on or grows."""
    known = _clocks(seen.before) if seen.before else {}
    for number, end in _clocks(seen.after).items():
        turn = seen.after.turn(number)
        if turn is not None and (number not in known or known[number] != end):
            yield tell(seen, "clock", participantId=turn.seat, turn=number, endsAt=end)


def _clocks(debate: Debate) -> dict[int, str | None]:
    """When the time of each person who speaks is up; None where it stands still."""
    return {
        turn.number: moment(ends_at(debate, turn))
        for turn in debate.live
        if debate.seat(turn.seat).model.human
    }
