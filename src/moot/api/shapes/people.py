"""Replies for people who take part: invitations, seats, votes and verdicts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from moot.api.shapes.base import DebateId, JudgeId, SeatId, Timestamp, one_of
from moot.core.terms import InvitationRole


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


class InvitationsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    invitations: tuple[InvitationResponse, ...]
