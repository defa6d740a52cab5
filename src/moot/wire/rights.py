"""Who may do what in a debate. To watch, one only has to be let in; for all else, ask here.

Whoever conducts a debate may do everything in it, also speak for a seat or judge in the place of a person: on
a machine of one's own there is nobody else to do it.
"""

from __future__ import annotations

from moot.audience import Viewer
from moot.debate import Debate
from moot.errors import Refused
from moot.wire.auth import Identity
from moot.wire.problems import Problem

MOST_QUESTIONS = 5
"""Of one member of the audience."""


def steers(identity: Identity) -> None:
    if identity.role == "viewer":
        raise Problem("forbidden", "A viewer's token allows no changes")
    if not identity.conducts:
        raise Problem("forbidden", "Only those who conduct the debate may do that")


def opens(identity: Identity) -> None:
    steers(identity)
    if identity.debate is not None:
        raise Problem("forbidden", "An invitation is for one debate")


def operates(identity: Identity) -> None:
    """Of those who conduct debates, the one to whom all of them belong."""
    steers(identity)
    if identity.owner is not None:
        raise Problem("forbidden", "Only the operator of this server may do that")


def speaks_for(identity: Identity, seat: str) -> None:
    if not identity.conducts and not (identity.role == "participant" and identity.seat == seat):
        raise Problem("forbidden", "This is not your seat")


def judges_as(identity: Identity, judge: str | None) -> str | None:
    """The judge in whose name a ballot is cast; None where that is still to be found out."""
    if identity.conducts:
        return judge
    if identity.role != "judge" or judge not in (None, identity.judge):
        raise Problem("forbidden", "You do not judge here" if judge is None else "This is not your ballot")
    return identity.judge


def votes(identity: Identity) -> None:
    if identity.many:
        raise Problem("forbidden", "This link is for many: join first, and vote as yourself")
    if not identity.conducts and identity.role != "audience":
        raise Problem("forbidden", "Only the audience votes")


def asks(identity: Identity, debate: Debate) -> None:
    """Raises Refused where one has asked enough: nobody takes all the questions for themselves."""
    if identity.many:
        raise Problem("forbidden", "This link is for many: join first, and ask as yourself")
    if not identity.conducts and identity.role != "audience":
        raise Problem("forbidden", "Only the audience asks questions")
    asked = sum(remark.question and remark.by == identity.name for remark in debate.remarks)
    if not identity.conducts and asked >= MOST_QUESTIONS:
        raise Refused(f"You have asked {MOST_QUESTIONS} questions.", debate.status)


def joins(identity: Identity) -> None:
    if not identity.many:
        raise Problem("forbidden", "Only those join who came by a link for many")


def seen_as(identity: Identity, seat: str | None, debate: Debate) -> Viewer:
    """Who conducts a debate and plays in it may ask to see no more than the person of that seat."""
    if seat is None:
        return identity.viewer
    speaks_for(identity, seat)
    if all(other.id != seat for other in debate.seats):
        raise Problem("validation", errors={"as": ["Unknown seat"]})
    return Viewer("participant", seat)
