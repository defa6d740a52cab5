"""What people in the room are told: invitations, seats, votes, and every verdict with its ballots."""

from __future__ import annotations

from typing import Literal

from moot.core.terms import PollName
from moot.web.reference.schemas.base_schemas import (
    LEFT_OUT,
    Count,
    DebateId,
    Moment,
    Reply,
)


class OpenPoll(Reply):
    poll: PollName
    open: bool
    votes: Count
    """Those that came in time."""
    ends_at: Moment | None
    """null where it is closed, or open until somebody closes it."""


class Counted(Reply):
    poll: PollName
    open: bool
    votes: Count
    """Those that came in time."""
    late: Count
    single: Count = LEFT_OUT
    """Of those who did not vote in both polls."""
    by_choice: dict[str, Count] = LEFT_OUT
    """Not there while the votes are sealed."""


class PollCount(Counted, OpenPoll):
    """With when it closes."""


class Interval(Reply):
    low: float
    high: float


class Change(Reply):
    choice: str
    label: str
    before: Count
    after: Count
    points: float
    interval: Interval | None
    persuadable: Count
    """Who had not chosen it at first ..."""
    won: Count
    """... and how many of them did in the end."""


class Outcome(Reply):
    sealed: bool
    """Until the last poll has closed, only the number of votes is told."""
    rule: Literal["swing", "majority"] | None
    """null where the audience is not asked."""
    choices: list[str]
    headline: str = LEFT_OUT
    pairs: Count = LEFT_OUT
    """Voters who voted twice, in time."""
    table: list[list[Count]] = LEFT_OUT
    """Who moved from what (row) to what (column), in the order of `choices`."""
    changes: list[Change] = LEFT_OUT
    leader: str | None = LEFT_OUT
    lead: float = LEFT_OUT
    """Points between the first and the next."""
    interval: Interval | None = LEFT_OUT
    account: list[str] = LEFT_OUT
    """The result in sentences."""
    doubts: list[str] = LEFT_OUT


class Votes(Outcome):
    """What the audience's votes come to."""

    polls: list[Counted]


class PollsResponse(Outcome):
    debate_id: DebateId
    polls: list[PollCount]
