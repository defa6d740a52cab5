"""What a server says to people in the room: their invitation, their seat, and how a debate was judged."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from moot.api.shapes.people import InvitationResponse as Invitation
from moot.api.shapes.people import InvitationsResponse as Invitations
from moot.api.shapes.people import SeatResponse as SeatState
from moot.api.shapes.records import JudgeBallot as Cast
from moot.api.shapes.records import ReachedVerdict as Judged
from moot.api.shapes.records import VerdictsResponse as Verdicts
from moot.core.terms import PollName

__all__ = [
    "Cast", "Interval", "Invitation", "Invitations", "Judged", "Moved", "PollCount", "SeatState", "Tallied",
    "Verdicts",
]  # fmt: skip


class Interval(Struct, frozen=True):
    low: float
    high: float


class PollCount(Struct, frozen=True, rename="camel", kw_only=True):
    """One poll; `by_choice` is empty while the votes are sealed."""

    poll: PollName
    open: bool
    votes: int
    late: int = 0
    single: int = 0
    by_choice: dict[str, int] = {}


class Moved(Struct, frozen=True, rename="camel", kw_only=True):
    """How one choice fared among those who voted twice, in votes and in points."""

    choice: str
    label: str
    before: int
    after: int
    points: float
    persuadable: int = 0
    won: int = 0
    interval: Interval | None = None


class Tallied(Struct, frozen=True, rename="camel", kw_only=True):
    """What the audience's votes came to. `rule` is None where the audience is not asked."""

    rule: Literal["swing", "majority"] | None = None
    sealed: bool = False
    choices: tuple[str, ...] = ()
    polls: tuple[PollCount, ...] = ()
    pairs: int = 0
    table: tuple[tuple[int, ...], ...] = ()
    changes: tuple[Moved, ...] = ()
    leader: str | None = None
    lead: float = 0.0
    interval: Interval | None = None
    account: tuple[str, ...] = ()
    """It in words, sentence by sentence."""
    doubts: tuple[str, ...] = ()
