"""What people do in a debate: sit down and leave, write and speak, rise on a point, ask, judge and vote.

Everything becomes a command like any other. Whose seat, ballot or vote it is, `api/rights.py` tells.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.rights import require_judge, require_questioner
from moot.api.v1 import ballot_body, bodies, people_bodies, people_replies, query_params
from moot.api.v1.setup_body import judge_from_body
from moot.core.state import Debate
from moot.providers.redaction import redact
from moot.rules.commands import Command, Extend, Inject
from moot.rules.participation import (
    AnswerPoint,
    CastBallot,
    CastVote,
    ClosePoll,
    KeepDraft,
    LeaveSeat,
    OfferPoint,
    Say,
    TakeSeat,
)
from moot.web.app_context import identity_of, query_string
from moot.web.capabilities import ServerCapabilities
from moot.web.responses import json_reply
from moot.web.routes.handlers import Body, DebateId, Route, RouteHandlers, message_reply, replayed_header

SeatId = Annotated[str, Path(alias="seat", examples=["part_01HZ9X8K7N1QR5TNVWXYZ12345"])]

ROUTES: tuple[Route, ...] = (
    ("GET", "/debates/{debateId}/seats/{seat}", "look_at_seat", "speak"),
    ("POST", "/debates/{debateId}/seats/{seat}/take", "take_seat", "speak"),
    ("POST", "/debates/{debateId}/seats/{seat}/leave", "leave_seat", "speak"),
    ("PUT", "/debates/{debateId}/seats/{seat}/draft", "keep_draft", "speak"),
    ("POST", "/debates/{debateId}/seats/{seat}/speech", "say", "speak"),
    ("POST", "/debates/{debateId}/seats/{seat}/points", "offer_point", "speak"),
    ("POST", "/debates/{debateId}/seats/{seat}/answer", "answer_point", "speak"),
    ("POST", "/debates/{debateId}/questions", "ask", "ask"),
    ("POST", "/debates/{debateId}/votes", "vote", "vote"),
    ("GET", "/debates/{debateId}/polls", "polls", "watch"),
    ("POST", "/debates/{debateId}/polls/close", "close_poll", "steer"),
    ("POST", "/debates/{debateId}/ballots", "cast_ballot", "ballot"),
    ("POST", "/debates/{debateId}/extend", "extend", "steer"),
    ("POST", "/debates/{debateId}/rejudge", "rejudge", "steer"),
    ("GET", "/debates/{debateId}/verdicts", "verdicts", "watch"),
)


class PeopleRoutes(RouteHandlers):
    # --- seats ----------------------------------------------------------------------------------------

    async def look_at_seat(self, request: Request, debate_id: DebateId, seat: SeatId) -> Response:
        query_params.no_params(query_string(request))
        debate = await self._arena.state(debate_id)
        _check_seat(debate, seat)
        return json_reply(people_replies.seat_reply(debate, seat, datetime.now(UTC)))

    async def take_seat(self, request: Request, debate_id: DebateId, seat: SeatId) -> Response:
        def command(_body: bodies.Nothing) -> Command:
            return TakeSeat(seat, by=identity_of(request).name)

        return await self._at_seat(request, debate_id, seat, bodies.Nothing, command, "The seat is yours.")

    async def leave_seat(self, request: Request, debate_id: DebateId, seat: SeatId) -> Response:
        def command(_body: bodies.Nothing) -> Command:
            return LeaveSeat(seat, by=identity_of(request).name)

        return await self._at_seat(
            request, debate_id, seat, bodies.Nothing, command, "From now on the stand-in speaks."
        )

    async def keep_draft(self, request: Request, debate_id: DebateId, seat: SeatId) -> Response:
        def command(body: people_bodies.Draft) -> Command:
            return KeepDraft(seat, redact(body.text), live=body.live)

        return await self._at_seat(
            request, debate_id, seat, people_bodies.Draft, command, "The draft is kept."
        )

    async def say(self, request: Request, debate_id: DebateId, seat: SeatId) -> Response:
        def command(body: people_bodies.Say) -> Command:
            return Say(seat, None if body.text is None else redact(body.text))

        return await self._at_seat(
            request, debate_id, seat, people_bodies.Say, command, "The speech is given."
        )

    async def offer_point(self, request: Request, debate_id: DebateId, seat: SeatId) -> Response:
        def command(body: people_bodies.Point) -> Command:
            return OfferPoint(seat, redact(body.text))

        return await self._at_seat(
            request,
            debate_id,
            seat,
            people_bodies.Point,
            command,
            "The point is put to the speaker at the break.",
        )

    async def answer_point(self, request: Request, debate_id: DebateId, seat: SeatId) -> Response:
        def command(body: people_bodies.Answer) -> Command:
            return AnswerPoint(seat, body.accept)

        return await self._at_seat(
            request, debate_id, seat, people_bodies.Answer, command, "The point is answered."
        )

    async def _at_seat(
        self,
        request: Request,
        debate_id: str,
        seat: str,
        form: type[Body],
        command: Callable[[Body], Command],
        message: str,
    ) -> Response:
        _check_seat(await self._arena.state(debate_id), seat)
        return await self._run_command(request, debate_id, form, command, message_reply(message))

    # --- the audience ---------------------------------------------------------------------------------

    async def ask(self, request: Request, debate_id: DebateId) -> Response:
        require_questioner(identity_of(request), await self._arena.state(debate_id))

        def command(body: people_bodies.Question) -> Command:
            return Inject(redact(body.text), by=identity_of(request).name, to=body.to, question=True)

        return await self._run_command(
            request,
            debate_id,
            people_bodies.Question,
            command,
            message_reply(
                "It is answered in the next speech of the one it is put to, or when the floor is heard."
            ),
            status=202,
        )

    async def vote(self, request: Request, debate_id: DebateId) -> Response:
        def command(body: people_bodies.Vote) -> Command:
            return CastVote(identity_of(request).voter, body.choice, body.poll)

        return await self._run_command(
            request,
            debate_id,
            people_bodies.Vote,
            command,
            message_reply("Your vote is counted."),
            status=201,
        )

    async def polls(self, request: Request, debate_id: DebateId) -> Response:
        query_params.no_params(query_string(request))
        debate = await self._arena.state(debate_id)
        if identity_of(request).role == "judge" and debate.being_judged:
            raise Problem("forbidden", "Judges see the votes when they have reached their verdict")
        return json_reply(people_replies.poll_totals(debate))

    async def close_poll(self, request: Request, debate_id: DebateId) -> Response:
        def command(_body: bodies.Nothing) -> Command:
            return ClosePoll(by=identity_of(request).name)

        return await self._run_command(
            request, debate_id, bodies.Nothing, command, message_reply("The vote is closed.")
        )

    # --- judging --------------------------------------------------------------------------------------

    async def cast_ballot(self, request: Request, debate_id: DebateId) -> Response:
        debate = await self._arena.state(debate_id)

        def command(body: people_bodies.CastBallot) -> Command:
            return CastBallot(
                ballot_body.ballot_of(body, debate, require_judge(identity_of(request), body.judge))
            )

        return await self._run_command(
            request,
            debate_id,
            people_bodies.CastBallot,
            command,
            message_reply("The ballot is cast."),
            status=201,
        )

    async def rejudge(self, request: Request, debate_id: DebateId) -> Response:
        query_params.no_params(query_string(request))
        raw = await request.body()
        async with self._context.idempotency.in_flight(request, raw) as once:
            capabilities = ServerCapabilities(self._arena)
            body = bodies.read_body(people_bodies.Rejudge, raw, capabilities)
            outcome = await self._arena.rejudge(
                debate_id,
                tuple(judge_from_body(given, capabilities) for given in body.judges),
                reason=body.reason,
                allowance=body.cost_limit,
                once=once,
            )
        reply = message_reply("It is judged again; the first verdict stays what it was.")
        return json_reply(reply(outcome.debate), 202, replayed_header(outcome))

    async def verdicts(self, request: Request, debate_id: DebateId) -> Response:
        query_params.no_params(query_string(request))
        debate = await self._arena.state(debate_id)
        return json_reply(people_replies.verdicts_reply(debate, identity_of(request).viewer))

    async def extend(self, request: Request, debate_id: DebateId) -> Response:
        def command(body: people_bodies.Extend) -> Command:
            return Extend(body.seconds or 0.0, body.rounds or 0, by=identity_of(request).name)

        return await self._run_command(
            request, debate_id, people_bodies.Extend, command, message_reply("There is more time.")
        )


def _check_seat(debate: Debate, seat: str) -> None:
    if all(other.id != seat for other in debate.seats):
        raise Problem("not-found", "There is no such seat")
