"""What may be sent over a WebSocket: each order by name, its action, its body, and the command it becomes.

Whether whoever sends it may do so is looked up as for a route, in `api/rights.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from moot.api.auth import Identity
from moot.api.rights import Action, check, require_questioner
from moot.api.v1 import bodies, people_bodies
from moot.core.state import Debate
from moot.providers.redaction import redact
from moot.rules.commands import Command, Extend, Inject, Pause, Resume, SkipTurn, Stop
from moot.rules.participation import AnswerPoint, CastVote, KeepDraft, LeaveSeat, OfferPoint, Say, TakeSeat


class CommandReader(Struct, frozen=True):
    action: Action
    form: type[bodies.Body]
    command: Callable[[Any, Identity], Command]
    """From the body and whoever sent it."""


def order(kind: str, data: dict[str, Any], who: Identity, debate: Debate) -> Command:
    """The command that it becomes. Raises Problem where they may not, or where the data are wrong."""
    given = COMMANDS[kind]
    check(who, given.action)
    body = bodies.check_body(given.form, data)
    check(who, given.action, seat=getattr(body, "seat", None))
    if given.action == "ask":
        require_questioner(who, debate)
    return given.command(body, who)


def _pause(body: bodies.Pause, who: Identity) -> Command:
    return Pause(now=body.now, by=who.name)


def _resume(body: bodies.Resume, who: Identity) -> Command:
    return Resume(body.step)


def _skip(body: bodies.Skip, who: Identity) -> Command:
    return SkipTurn(by=who.name, turn=body.turn, slot=body.slot)


def _stop(body: bodies.Ending, who: Identity) -> Command:
    return Stop(body.reason)


def _inject(body: bodies.InjectContext, who: Identity) -> Command:
    return Inject(redact(body.additional_context), by=who.name)


def _extend(body: people_bodies.Extend, who: Identity) -> Command:
    return Extend(body.seconds or 0.0, body.rounds or 0, by=who.name)


def _take(body: people_bodies.AtSeat, who: Identity) -> Command:
    return TakeSeat(body.seat, by=who.name)


def _leave(body: people_bodies.AtSeat, who: Identity) -> Command:
    return LeaveSeat(body.seat, by=who.name)


def _draft(body: people_bodies.DraftAt, who: Identity) -> Command:
    return KeepDraft(body.seat, redact(body.text), live=body.live)


def _say(body: people_bodies.SayAt, who: Identity) -> Command:
    return Say(body.seat, None if body.text is None else redact(body.text))


def _point(body: people_bodies.PointAt, who: Identity) -> Command:
    return OfferPoint(body.seat, redact(body.text))


def _answer(body: people_bodies.AnswerAt, who: Identity) -> Command:
    return AnswerPoint(body.seat, body.accept)


def _vote(body: people_bodies.Vote, who: Identity) -> Command:
    return CastVote(who.voter, body.choice, body.poll)


def _question(body: people_bodies.Question, who: Identity) -> Command:
    return Inject(redact(body.text), by=who.name, to=body.to, question=True)


COMMANDS: dict[str, CommandReader] = {
    "PAUSE": CommandReader("steer", bodies.Pause, _pause),
    "RESUME": CommandReader("steer", bodies.Resume, _resume),
    "SKIP": CommandReader("steer", bodies.Skip, _skip),
    "STOP": CommandReader("steer", bodies.Ending, _stop),
    "EXTEND": CommandReader("steer", people_bodies.Extend, _extend),
    "INJECT_CONTEXT": CommandReader("steer", bodies.InjectContext, _inject),
    "TAKE": CommandReader("speak", people_bodies.AtSeat, _take),
    "LEAVE": CommandReader("speak", people_bodies.AtSeat, _leave),
    "DRAFT": CommandReader("speak", people_bodies.DraftAt, _draft),
    "SAY": CommandReader("speak", people_bodies.SayAt, _say),
    "POINT": CommandReader("speak", people_bodies.PointAt, _point),
    "ANSWER": CommandReader("speak", people_bodies.AnswerAt, _answer),
    "QUESTION": CommandReader("ask", people_bodies.Question, _question),
    "VOTE": CommandReader("vote", people_bodies.Vote, _vote),
}
