"""The audience's part of a debate: what is kept of its polls and votes, and how its events change that.

`Debate` has these fields as its own. A new event of the audience needs a field and a case here, and nothing
else in `core` beside the event itself.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar, assert_never

from msgspec import Struct
from msgspec.structs import replace

from moot.core.events import AudienceEvent, PollClosed, PollOpened, VoteCast
from moot.core.terms import PollName


class Poll(Struct, frozen=True, gc=False):
    name: PollName
    seconds: float | None
    """How long it is open, pauses included."""
    opened_at: datetime
    closed_at: datetime | None = None


class AudienceState(Struct, frozen=True, gc=False, kw_only=True):
    polls: tuple[Poll, ...] = ()
    votes: tuple[VoteCast, ...] = ()

    def poll(self, name: PollName) -> Poll | None:
        return next((poll for poll in self.polls if poll.name == name), None)


D = TypeVar("D", bound=AudienceState)


def after_audience_event(debate: D, event: AudienceEvent, at: datetime) -> D:
    match event:
        case PollOpened():
            return replace(debate, polls=(*debate.polls, Poll(event.poll, event.seconds, at)))
        case VoteCast():
            return replace(debate, votes=(*debate.votes, event))
        case PollClosed():
            polls = (
                replace(poll, closed_at=at) if poll.name == event.poll else poll for poll in debate.polls
            )
            return replace(debate, polls=tuple(polls))
        case _:
            assert_never(event)
