"""Who may do what: one table for all routes and for all commands over a WebSocket.

Each of them names the action it needs; `check` is the only place where that is looked up. Ownership is
checked before, in `web/app_context.py`: a debate that a client may not see does not exist for it. Operators,
owners and moderators may do everything in a debate, also speak for a seat or judge in place of a person; only
moderators may not delete it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from moot.api.auth import NOBODY, Identity
from moot.api.problems import Problem
from moot.core.errors import Refused
from moot.core.state import Debate
from moot.core.visibility import Viewer
from moot.extension import loaded

MAX_QUESTIONS = 5
"""The most questions of one member of the audience."""

Action = Literal[
    "public", "look", "estimate", "watch", "inspect", "open", "steer", "invite", "delete",
    "speak", "ballot", "vote", "ask", "join", "operate", "measure",
]  # fmt: skip
Role = Literal[
    "nobody", "operator", "owner", "moderator", "viewer", "monitor", "invited moderator", "participant",
    "judge", "audience", "hall link", "observer",
]  # fmt: skip
"""`nobody` has no token, or a wrong one; operator, owner, moderator, viewer and monitor have a token of the
server, the others an invitation to one debate. With `hall link` many join, each as `audience`. A `monitor`
reads the metrics and nothing else."""

_OWNERS: tuple[Role, ...] = ("operator", "owner")
_OPENING: tuple[Role, ...] = (*_OWNERS, "moderator")
STEERING: tuple[Role, ...] = (*_OPENING, "invited moderator")
ESTIMATING: tuple[Role, ...] = (*_OPENING, "viewer")
_WATCHING: tuple[Role, ...] = (
    *STEERING, "viewer", "participant", "judge", "audience", "hall link", "observer",
)  # fmt: skip


class Right(NamedTuple):
    """A right that only the routes of an extension need; they name it where others name an action."""

    name: str
    roles: tuple[Role, ...]
    """Who has it."""
    refusal: str
    """What the others are told."""


RIGHTS: dict[Action, tuple[Role, ...]] = {
    "public": ("nobody", "monitor", *_WATCHING),
    "look": _WATCHING,
    "estimate": ESTIMATING,
    "watch": _WATCHING,
    "inspect": STEERING,
    "open": _OPENING,
    "steer": STEERING,
    "invite": STEERING,
    "delete": _OWNERS,
    "speak": (*STEERING, "participant"),
    "ballot": (*STEERING, "judge"),
    "vote": (*STEERING, "audience"),
    "ask": (*STEERING, "audience"),
    "join": ("hall link",),
    "operate": ("operator",),
    "measure": ("operator", "monitor"),
}
OWN: dict[tuple[Role, Action], str] = {("participant", "speak"): "seat", ("judge", "ballot"): "ballot"}
"""Actions that a role may do only for its own seat or judge."""

_REFUSALS: dict[Action, str] = {
    "estimate": "An invitation is for one debate",
    "inspect": "What a model was sent, and how a debate was set up, is shown to owners and moderators",
    "open": "An invitation is for one debate",
    "steer": "Only those who conduct the debate may do that",
    "invite": "Only those who conduct the debate may do that",
    "delete": "Only the owner of a debate may delete it",
    "speak": "This is not your seat",
    "ballot": "You do not judge here",
    "vote": "Only the audience votes",
    "ask": "Only the audience asks questions",
    "join": "Only those join who came by a link for many",
    "operate": "Only the operator of this server may do that",
    "measure": "Metrics are for the operator of this server, and for tokens with the role monitor",
}
_LINK: dict[Action, str] = {
    "vote": "This link is for many: join first, and vote as yourself",
    "ask": "This link is for many: join first, and ask as yourself",
}
_CHANGES: frozenset[Action] = frozenset(
    {"open", "steer", "invite", "delete", "speak", "ballot", "vote", "ask"}
)


def all_rights() -> Mapping[str, tuple[Role, ...]]:
    """Who has each right, with those of the extensions that are loaded."""
    added = (right for _, rights in loaded().of(lambda extension: extension.rights) for right in rights)
    return {**RIGHTS, **{right.name: right.roles for right in added}}


def role_of(identity: Identity) -> Role:
    if identity == NOBODY:
        return "nobody"
    if identity.many:
        return "hall link"
    match identity.role:
        case "owner":
            return "operator" if identity.owner is None else "owner"
        case "moderator":
            return "moderator" if identity.debate is None else "invited moderator"
        case role:
            return role


def may(
    identity: Identity, action: Action | Right, *, seat: str | None = None, judge: str | None = None
) -> bool:
    """Whether the client may do this, for this seat or judge where one is given."""
    role = role_of(identity)
    if isinstance(action, Right):
        return role in action.roles
    if role not in RIGHTS[action]:
        return False
    match OWN.get((role, action)):
        case "seat":
            return seat in (None, identity.seat)
        case "ballot":
            return judge in (None, identity.judge)
        case _:
            return True


def check(
    identity: Identity, action: Action | Right, *, seat: str | None = None, judge: str | None = None
) -> None:
    """Raises Problem (403) if the client may not do this."""
    if may(identity, action, seat=seat, judge=judge):
        return
    role = role_of(identity)
    if role == "monitor":
        raise Problem("forbidden", "A monitor's token reads the metrics and nothing else")
    if isinstance(action, Right):
        raise Problem("forbidden", action.refusal)
    if role == "viewer" and action in _CHANGES:
        raise Problem("forbidden", "A viewer's token allows no changes")
    if role == "hall link" and action in _LINK:
        raise Problem("forbidden", _LINK[action])
    if OWN.get((role, action)) == "ballot":
        raise Problem("forbidden", "This is not your ballot")
    raise Problem("forbidden", _REFUSALS.get(action, ""))


def require_judge(identity: Identity, judge: str | None) -> str | None:
    """The judge for whom a ballot is cast; None if the request names none."""
    check(identity, "ballot", judge=judge)
    return judge if identity.conducts else identity.judge


def require_questioner(identity: Identity, debate: Debate) -> None:
    """Raises Refused where this member of the audience has asked `MAX_QUESTIONS` questions already."""
    check(identity, "ask")
    count = sum(remark.question and remark.by == identity.name for remark in debate.remarks)
    if not identity.conducts and count >= MAX_QUESTIONS:
        raise Refused(f"You have asked {MAX_QUESTIONS} questions.", debate.status)


def viewer_as(identity: Identity, seat: str | None, debate: Debate) -> Viewer:
    """The viewer of a request. With `seat`, a moderator who also speaks sees only what that person sees."""
    if seat is None:
        return identity.viewer
    check(identity, "speak", seat=seat)
    if all(other.id != seat for other in debate.seats):
        raise Problem("validation", errors={"as": ["Unknown seat"]})
    return Viewer("participant", seat)
