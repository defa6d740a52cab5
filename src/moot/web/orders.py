"""What may be sent over a WebSocket: each order by name, who may give it, and the command it becomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moot.commands import Command, Extend, Inject, Pause, Resume, SkipTurn, Stop
from moot.debate import Debate
from moot.floor import AnswerPoint, CastVote, KeepDraft, LeaveSeat, OfferPoint, Say, TakeSeat
from moot.providers.hush import redact
from moot.wire.auth import Identity
from moot.wire.rights import asks, speaks_for, steers, votes
from moot.wire.v1 import bodies, people

Data = dict[str, Any]
Order = Callable[[Data, Identity, Debate], Command]


def _pause(data: Data, who: Identity, debate: Debate) -> Command:
    steers(who)
    return Pause(now=bodies.check(bodies.Pause, data).now, by=who.name)


def _resume(data: Data, who: Identity, debate: Debate) -> Command:
    steers(who)
    return Resume(bodies.check(bodies.Resume, data).step)


def _skip(data: Data, who: Identity, debate: Debate) -> Command:
    steers(who)
    body = bodies.check(bodies.Skip, data)
    return SkipTurn(by=who.name, turn=body.turn, slot=body.slot)


def _stop(data: Data, who: Identity, debate: Debate) -> Command:
    steers(who)
    return Stop(bodies.check(bodies.Ending, data).reason)


def _inject(data: Data, who: Identity, debate: Debate) -> Command:
    steers(who)
    return Inject(redact(bodies.check(bodies.InjectContext, data).additional_context), by=who.name)


def _extend(data: Data, who: Identity, debate: Debate) -> Command:
    steers(who)
    body = bodies.check(people.Extend, data)
    return Extend(body.seconds or 0.0, body.rounds or 0, by=who.name)


def _take(data: Data, who: Identity, debate: Debate) -> Command:
    seat = bodies.check(people.AtSeat, data).seat
    speaks_for(who, seat)
    return TakeSeat(seat, by=who.name)


def _leave(data: Data, who: Identity, debate: Debate) -> Command:
    seat = bodies.check(people.AtSeat, data).seat
    speaks_for(who, seat)
    return LeaveSeat(seat, by=who.name)


def _draft(data: Data, who: Identity, debate: Debate) -> Command:
    body = bodies.check(people.DraftAt, data)
    speaks_for(who, body.seat)
    return KeepDraft(body.seat, redact(body.text), live=body.live)


def _say(data: Data, who: Identity, debate: Debate) -> Command:
    body = bodies.check(people.SayAt, data)
    speaks_for(who, body.seat)
    return Say(body.seat, None if body.text is None else redact(body.text))


def _point(data: Data, who: Identity, debate: Debate) -> Command:
    body = bodies.check(people.PointAt, data)
    speaks_for(who, body.seat)
    return OfferPoint(body.seat, redact(body.text))


def _answer(data: Data, who: Identity, debate: Debate) -> Command:
    body = bodies.check(people.AnswerAt, data)
    speaks_for(who, body.seat)
    return AnswerPoint(body.seat, body.accept)


def _vote(data: Data, who: Identity, debate: Debate) -> Command:
    votes(who)
    body = bodies.check(people.Vote, data)
    return CastVote(who.voter, body.choice, body.poll)


def _question(data: Data, who: Identity, debate: Debate) -> Command:
    asks(who, debate)
    body = bodies.check(people.Question, data)
    return Inject(redact(body.text), by=who.name, to=body.to, question=True)


ORDERS: dict[str, Order] = {
    "PAUSE": _pause,
    "RESUME": _resume,
    "SKIP": _skip,
    "STOP": _stop,
    "EXTEND": _extend,
    "INJECT_CONTEXT": _inject,
    "TAKE": _take,
    "LEAVE": _leave,
    "DRAFT": _draft,
    "SAY": _say,
    "POINT": _point,
    "ANSWER": _answer,
    "QUESTION": _question,
    "VOTE": _vote,
}
FORMS: dict[str, type[bodies.Body]] = {
    "PAUSE": bodies.Pause,
    "RESUME": bodies.Resume,
    "SKIP": bodies.Skip,
    "STOP": bodies.Ending,
    "EXTEND": people.Extend,
    "INJECT_CONTEXT": bodies.InjectContext,
    "TAKE": people.AtSeat,
    "LEAVE": people.AtSeat,
    "DRAFT": people.DraftAt,
    "SAY": people.SayAt,
    "POINT": people.PointAt,
    "ANSWER": people.AnswerAt,
    "QUESTION": people.Question,
    "VOTE": people.Vote,
}
"""What each takes, for the description."""
