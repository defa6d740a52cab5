"""What people in the room are told: invitations, seats, votes, and every verdict with its ballots."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.core.terms import PollName
from moot.web.reference.schemas.base_schemas import (
    LEFT_OUT,
    Count,
    DebateId,
    JudgeId,
    Nth,
    Reply,
    SeatId,
    Winner,
)
from moot.web.reference.schemas.reply_schemas import Judge, OpenPoll, Rubric, Score, Verdict


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


class Ballot(Reply):
    judge: JudgeId
    judge_name: str
    order: Count
    """In which order a model was shown the speakers; 0 for people."""
    winner: Winner
    scores: dict[str, Score]
    reasoning: str
    criteria: dict[str, str]
    cites: list[Nth] = LEFT_OUT
    """The turns on which it rests."""
    rubric: Rubric = LEFT_OUT
    ranking: list[SeatId] = LEFT_OUT


class ReachedVerdict(Verdict):
    judging: Nth | None
    """null where no judge was asked."""
    judges: list[Judge]
    ballots: list[Ballot]


class VerdictsResponse(Reply):
    debate_id: DebateId
    verdicts: Annotated[list[ReachedVerdict], Field(description="The first is what the debate came to.")]
    being_judged: bool
