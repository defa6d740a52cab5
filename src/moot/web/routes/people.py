"""What people do in a debate: sit down and leave, write and speak, rise on a point, ask, judge and vote.

Everything becomes a command like any other. Whose seat, ballot or vote it is, `api/rights.py` tells.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.v1 import people_replies, query_params
from moot.core.state import Debate
from moot.web.app_context import identity_of, query_string
from moot.web.responses import json_reply
from moot.web.routes.handlers import DebateId, Route, RouteHandlers

SeatId = Annotated[str, Path(alias="seat", examples=["part_01HZ9X8K7N1QR5TNVWXYZ12345"])]

ROUTES: tuple[Route, ...] = (
    ("GET", "/debates/{debateId}/seats/{seat}", "look_at_seat", "speak"),
    ("GET", "/debates/{debateId}/polls", "polls", "watch"),
    ("GET", "/debates/{debateId}/verdicts", "verdicts", "watch"),
)


class PeopleRoutes(RouteHandlers):
    # --- seats ----------------------------------------------------------------------------------------

    async def look_at_seat(self, request: Request, debate_id: DebateId, seat: SeatId) -> Response:
        query_params.no_params(query_string(request))
        debate = await self._arena.state(debate_id)
        _check_seat(debate, seat)
        return json_reply(people_replies.seat_reply(debate, seat, datetime.now(UTC)))

    async def polls(self, request: Request, debate_id: DebateId) -> Response:
        query_params.no_params(query_string(request))
        debate = await self._arena.state(debate_id)
        if identity_of(request).role == "judge" and debate.being_judged:
            raise Problem("forbidden", "Judges see the votes when they have reached their verdict")
        return json_reply(people_replies.poll_totals(debate))

    async def verdicts(self, request: Request, debate_id: DebateId) -> Response:
        query_params.no_params(query_string(request))
        debate = await self._arena.state(debate_id)
        return json_reply(people_replies.verdicts_reply(debate, identity_of(request).viewer))


def _check_seat(debate: Debate, seat: str) -> None:
    if all(other.id != seat for other in debate.seats):
        raise Problem("not-found", "There is no such seat")
