"""Replies for people who take part: invitations, seats and polls of the audience."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from moot.core.json_types import Count, DebateId, JudgeId, Nth, SeatId, Seconds, Timestamp, one_of
from moot.core.terms import InvitationRole, PollName
from moot.views.transcript_shapes import PollTotals, Votes


class InvitationResponse(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """Access to one debate in one role. The token and the link are only in the reply that made it."""

    debate_id: DebateId
    name: str
    role: Annotated[str, one_of(InvitationRole)]
    seat: SeatId | None = None
    judge: JudgeId | None = None
    many: Annotated[bool, Meta(description="Whether it is a shared link: each visitor joins with it first.")]
    created_at: Timestamp
    expires_at: Timestamp | None = None
    token: Annotated[str, Meta(description="To be sent as a bearer token.")] = ""
    link: Annotated[
        str,
        Meta(description="The page for the invited person. Browsers do not send what is behind the #."),
    ] = ""


class OfferedPoint(Struct, frozen=True, rename="camel", kw_only=True):
    """A point of information."""

    participant_id: SeatId | None
    text: str


class SeatResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """The state of one seat."""

    debate_id: DebateId
    seat: SeatId
    name: str
    person: Annotated[bool, Meta(description="Whether a person has the seat; else a model.")]
    draft: str
    turn: Annotated[Nth | None, Meta(description="The number of its speech under way.")]
    phase: Annotated[str | None, Meta(description="Of that speech, or of its next one.")]
    title: str | None
    ends_at: Annotated[
        Timestamp | None,
        Meta(description="When a person's time is up; null where no time is running."),
    ]
    seconds_left: Seconds | None
    words: Annotated[Count, Meta(description="The words of the draft.")]
    budget: Annotated[Count, Meta(description="How many words count.")]
    point: Annotated[
        OfferedPoint | None,
        Meta(description="A point of information that waits for this speaker's answer."),
    ]


class InvitationsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    invitations: tuple[InvitationResponse, ...]


# --- polls ----------------------------------------------------------------------------------------------

PollEnd = Annotated[
    Timestamp | None, Meta(description="null where it is closed, or open until it is closed by hand.")
]


class OpenPoll(Struct, frozen=True, rename="camel", kw_only=True):
    """How many have voted in a poll, without what they chose."""

    poll: Annotated[str, one_of(PollName)]
    open: bool
    votes: Annotated[Count, Meta(description="Those that came in time.")]
    ends_at: PollEnd


class PollCount(PollTotals, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """The votes of one poll, and when it closes."""

    ends_at: PollEnd


class PollsResponse(Votes, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    debate_id: DebateId
    polls: tuple[PollCount, ...]
