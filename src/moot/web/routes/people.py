"""Routes that read a person's seat, the polls and the verdicts of a debate.

The commands of people are in `command_routes.py`; `api/rights.py` decides who may use which seat.
"""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.shapes.records import VerdictsResponse
from moot.api.shapes.seats_and_polls import PollsResponse, SeatResponse
from moot.api.v1 import people_replies
from moot.core.state import Debate
from moot.web.app_context import identity_of
from moot.web.responses import json_reply
from moot.web.route_docs import READ, api_router, documented
from moot.web.routes.handlers import Context, DebateId, SeatId

router = api_router()

# --- seats ----------------------------------------------------------------------------------------


@router.get(
    "/debates/{debateId}/seats/{seat}",
    **documented(
        "speak",
        tag="People",
        summary="Look at one's seat",
        reply=SeatResponse,
        says="The state of the seat.",
        refusals=(403, 404, 422),
    ),
)
async def get_seat(debate_id: DebateId, seat: SeatId, context: Context) -> Response:
    """Returns the state of a seat to a person who may speak there: whether it is their turn and until when,
    their draft, and whether a point of information needs an answer.
    """
    debate = await context.arena.state(debate_id)
    _check_seat(debate, seat)
    return json_reply(people_replies.seat_reply(debate, seat, datetime.now(UTC)))


@router.get(
    "/debates/{debateId}/polls",
    **documented(
        "watch",
        tag="Judging and voting",
        summary="See what the votes come to",
        reply=PollsResponse,
        says="The polls.",
        refusals=READ,
    ),
)
async def list_polls(request: Request, debate_id: DebateId, context: Context) -> Response:
    """The polls and their totals. Until the last poll has closed, only the count of votes is shown."""
    debate = await context.arena.state(debate_id)
    if identity_of(request).role == "judge" and debate.being_judged:
        raise Problem("forbidden", "Judges see the votes when they have reached their verdict")
    return json_reply(people_replies.poll_totals(debate))


@router.get(
    "/debates/{debateId}/verdicts",
    **documented(
        "watch",
        tag="Judging and voting",
        summary="See every verdict",
        reply=VerdictsResponse,
        says="The verdicts.",
        refusals=READ,
    ),
)
async def list_verdicts(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Returns every verdict with its judges and ballots. The first decided the debate; later ones come from
    judging it again. An invited judge sees none.
    """
    debate = await context.arena.state(debate_id)
    return json_reply(people_replies.verdicts_reply(debate, identity_of(request).viewer))


def _check_seat(debate: Debate, seat: str) -> None:
    if all(other.id != seat for other in debate.seats):
        raise Problem("not-found", "There is no such seat")
