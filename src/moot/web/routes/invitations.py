"""Routes for invitations: a token for one debate and one role, or one link for a whole audience.

Invitations are stored outside the event log, so the reply to a repeated request is remembered by
`IdempotencyKeys`.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any

from limits import RateLimitItemPerDay
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.rate_limits import RateLimiter
from moot.api.shapes.seats_and_polls import InvitationResponse, InvitationsResponse
from moot.api.v1 import bodies, people_bodies, people_replies
from moot.core.state import Debate
from moot.core.terms import InvitationRole
from moot.store.contract import StoredInvitation, digest, new_secret
from moot.web.app_context import AppContext, address_of, identity_of
from moot.web.responses import json_reply
from moot.web.route_docs import COMMANDED, api_router, documented
from moot.web.routes.handlers import Body, Context, DebateId, path_parameter

InvitationName = Annotated[
    str,
    path_parameter(
        "name",
        "^[0-9A-Za-z_-]+$",
        "The name of the invitation.",
        minLength=1,
        maxLength=people_bodies.MAX_NAME_LENGTH,
    ),
]

JOINED_COOKIE = "moot_joined"
JOINED_SECONDS = 30 * 24 * 3600

router = api_router()


class JoinLimit:
    """The people who may join by one link from one address in a day. More cannot be known of a client that
    keeps no cookies."""

    def __init__(self, context: AppContext) -> None:
        self._limiter = RateLimiter(
            context.arena.settings.service.joins_per_address,
            context.arena.ephemeral.storage,
            window=RateLimitItemPerDay,
        )

    async def count(self, link: StoredInvitation, address: str) -> None:
        """Raises Problem where too many have joined."""
        status = await self._limiter.hit(f"join {link.digest[:16]}@{address}")
        if status is not None and not status.allowed:
            detail = "Too many have joined by this link from your network; the operator can allow more"
            raise Problem("rate-limit", detail, headers={"Retry-After": str(status.retry_after)})


@router.post(
    "/debates/{debateId}/invitations",
    **documented(
        "invite",
        tag="People",
        summary="Invite somebody",
        status=201,
        reply=InvitationResponse,
        says="The invitation, with its token.",
        links={
            "uninvite": {
                "operationId": "revoke_invitation",
                "parameters": {"debateId": "$request.path.debateId", "name": "$response.body#/name"},
            }
        },
        body=people_bodies.Invite,
        once=True,
        refusals=COMMANDED,
    ),
)
async def create_invitation(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Creates a token for this debate in one role: `observer`, `moderator`, `participant` with a seat,
    `judge` with a ballot, or `audience`. The reply shows the token this once; `link` contains it after the #.
    With `many` the link can be shared with a whole audience. Only owners and moderators may do this.
    """
    debate = await context.arena.state(debate_id)

    def make_invitation(body: people_bodies.Invite) -> StoredInvitation:
        _check_place(debate, body)
        until = datetime.now(UTC) + timedelta(days=body.days) if body.days else None
        return _new_invitation(
            debate_id, body.role, body.name, until, seat=body.seat, judge=body.judge, many=body.many
        )

    reply, _ = await _let_in(context, request, people_bodies.Invite, make_invitation)
    return reply


@router.post(
    "/debates/{debateId}/join",
    **documented(
        "join",
        tag="People",
        summary="Join the audience",
        status=201,
        reply=InvitationResponse,
        says="The invitation, with its token.",
        body=people_bodies.Join,
        once=True,
        refusals=COMMANDED,
    ),
)
async def join_audience(request: Request, debate_id: DebateId, context: Context) -> Response:
    """Exchanges a shared audience link for an invitation of one's own, in the role `audience`, since each
    voter has one vote. A browser that joins again gets the same invitation again, by a cookie. The joins of
    an address are limited.
    """
    link = await context.arena.store.invitation(identity_of(request).key)
    if link is None:
        raise Problem("unauthorized", "This link was withdrawn")
    earlier = request.cookies.get(JOINED_COOKIE, "")
    joined = await context.arena.store.invitation(digest(earlier)) if earlier else None
    if joined is not None and joined.debate == debate_id and joined.via is not None:
        bodies.read_body(people_bodies.Join, await request.body())
        return json_reply(people_replies.invitation_reply(joined, earlier), 201)

    def make_invitation(body: people_bodies.Join) -> StoredInvitation:
        return _new_invitation(debate_id, "audience", body.name, link.expires_at, via=link.digest)

    limit = partial(context.service(JoinLimit).count, link, address_of(request))
    reply, token = await _let_in(context, request, people_bodies.Join, make_invitation, limit)
    # Only this route reads it: it says who joined, and gives nobody access.
    reply.set_cookie(
        JOINED_COOKIE,
        token,
        JOINED_SECONDS,
        path=request.url.path,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return reply


@router.get(
    "/debates/{debateId}/invitations",
    **documented(
        "invite",
        tag="People",
        summary="List invitations",
        reply=InvitationsResponse,
        says="The invitations.",
        refusals=(403, 404, 422),
    ),
)
async def list_invitations(debate_id: DebateId, context: Context) -> Response:
    """Lists the valid invitations without their tokens. Only owners and moderators may do this."""
    listed = await context.arena.store.invitations(debate_id)
    rows = tuple(people_replies.invitation_reply(invitation) for invitation in listed)
    return json_reply(InvitationsResponse(invitations=rows))


@router.delete(
    "/debates/{debateId}/invitations/{name}",
    **documented(
        "invite",
        tag="People",
        summary="Withdraw an invitation",
        status=204,
        says="The invitation is withdrawn.",
        refusals=(403, 404, 422),
    ),
)
async def revoke_invitation(debate_id: DebateId, name: InvitationName, context: Context) -> Response:
    """Withdraws an invitation: its token is invalid at once, and streams opened with it are closed within a
    second. Withdrawing a shared link withdraws the invitations of all who joined by it.
    """
    if not await context.arena.store.delete_invitation(debate_id, name):
        raise Problem("not-found", "There is no such invitation")
    context.stream_monitor.review_soon()
    return Response(status_code=204)


async def _let_in(
    context: AppContext,
    request: Request,
    form: type[Body],
    make_invitation: Callable[[Body], StoredInvitation],
    allow: Callable[[], Awaitable[None]] | None = None,
) -> tuple[Response, str]:
    """The reply and the token in it. `allow` raises Problem where no further invitation may be made; a
    repeated request is not counted."""
    raw, repeats = await request.body(), context.idempotency
    async with repeats.in_flight(request, raw) as once:
        if saved := await repeats.saved_reply(request, once):
            return json_reply(saved, 201, {"Idempotent-Replayed": "true"}), saved["token"]
        token = new_secret()
        invitation = replace(make_invitation(bodies.read_body(form, raw)), digest=digest(token))
        if allow is not None:
            await allow()
        await context.arena.store.add_invitation(invitation)
        shape = people_replies.invitation_reply(invitation, token)
        await repeats.remember(request, once, shape)
    return json_reply(shape, 201), token


def _new_invitation(
    debate_id: str, role: InvitationRole, name: str | None, until: datetime | None, **role_fields: Any
) -> StoredInvitation:
    """An invitation whose token has still to be created."""
    name = name or f"{role}-{secrets.token_hex(4)}"
    return StoredInvitation(debate_id, name, "", role, datetime.now(UTC), expires_at=until, **role_fields)


def _check_place(debate: Debate, body: people_bodies.Invite) -> None:
    """Raises Problem where the seat or the judge does not exist or cannot be a person."""
    if body.seat is not None and all(seat.id != body.seat for seat in debate.seats):
        raise Problem("validation", errors={"seat": ["Unknown seat"]})
    if body.judge is None:
        return
    sitting = (*debate.judges, *(judge for judging in debate.judgings for judge in judging.judges))
    judge = next((judge for judge in sitting if judge.id == body.judge), None)
    if judge is None:
        raise Problem("validation", errors={"judge": ["Unknown judge"]})
    if not judge.model.human:
        raise Problem("validation", errors={"judge": ["Must be a judge whose provider is human"]})
