"""Replies for people who take part, under the names that the client gives them."""

from __future__ import annotations

from moot.api.shapes.records import JudgeBallot as Cast
from moot.api.shapes.records import ReachedVerdict as Judged
from moot.api.shapes.records import VerdictsResponse as Verdicts
from moot.api.shapes.seats_and_polls import InvitationResponse as Invitation
from moot.api.shapes.seats_and_polls import InvitationsResponse as Invitations
from moot.api.shapes.seats_and_polls import PollsResponse as Tallied
from moot.api.shapes.seats_and_polls import SeatResponse as SeatState

__all__ = ["Cast", "Invitation", "Invitations", "Judged", "SeatState", "Tallied", "Verdicts"]
