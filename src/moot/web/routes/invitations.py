"""Invitations: who may come to a debate and as what, and a hall that comes by one link.

They are kept beside the log, so what came of one is remembered here, for a request that is sent again: by
this process, for as long as it lives, and for the latest of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import Path
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from moot.api.problems import Problem
from moot.api.v1 import bodies, people_bodies, people_replies, query_params
from moot.core.state import Debate
from moot.store.contract import Invitation, InvitationRole, digest, new_secret
from moot.web.app_context import identity_of, query_string
from moot.web.responses import json_reply
from moot.web.routes.handlers import Body, DebateId, Route, RouteHandlers

GuestName = Annotated[str, Path(alias="name", examples=["zoe"])]

ROUTES: tuple[Route, ...] = (
    ("POST", "/debates/{debateId}/invitations", "invite", "invite"),
    ("GET", "/debates/{debateId}/invitations", "invitations", "invite"),
    ("DELETE", "/debates/{debateId}/invitations/{name}", "uninvite", "invite"),
    ("POST", "/debates/{debateId}/join", "join", "join"),
)


class InvitationRoutes(RouteHandlers):
    async def invite(self, request: Request, debate_id: DebateId) -> Response:
        debate = await self._arena.state(debate_id)

        def make_invitation(body: people_bodies.Invite) -> Invitation:
            _check_place(debate, body)
            until = datetime.now(UTC) + timedelta(days=body.days) if body.days else None
            return _new_invitation(
                debate_id, body.role, body.name, until, seat=body.seat, judge=body.judge, many=body.many
            )

        return await self._let_in(request, people_bodies.Invite, make_invitation)

    async def join(self, request: Request, debate_id: DebateId) -> Response:
        link = await self._arena.store.invitation(identity_of(request).key)
        if link is None:
            raise Problem("unauthorized", "This link was withdrawn")

        def make_invitation(body: people_bodies.Join) -> Invitation:
            return _new_invitation(debate_id, "audience", body.name, link.expires_at, via=link.digest)

        return await self._let_in(request, people_bodies.Join, make_invitation)

    async def invitations(self, request: Request, debate_id: DebateId) -> Response:
        query_params.no_params(query_string(request))
        listed = await self._arena.store.invitations(debate_id)
        return json_reply({"invitations": [people_replies.invitation_reply(guest) for guest in listed]})

    async def uninvite(self, request: Request, debate_id: DebateId, name: GuestName) -> Response:
        query_params.no_params(query_string(request))
        if not await self._arena.store.delete_invitation(debate_id, name):
            raise Problem("not-found", "There is no such invitation")
        self._context.stream_monitor.review_soon()
        return Response(status_code=204)

    async def _let_in(
        self, request: Request, form: type[Body], make_invitation: Callable[[Body], Invitation]
    ) -> Response:
        query_params.no_params(query_string(request))
        raw, repeats = await request.body(), self._context.idempotency
        async with repeats.in_flight(request, raw) as once:
            if saved := await repeats.saved_reply(request, once):
                return json_reply(saved, 201, {"Idempotent-Replayed": "true"})
            token = new_secret()
            invitation = replace(make_invitation(bodies.read_body(form, raw)), digest=digest(token))
            await self._arena.store.add_invitation(invitation)
            shape = people_replies.invitation_reply(invitation, token)
            await repeats.remember(request, once, shape)
        return json_reply(shape, 201)


def _new_invitation(
    debate_id: str, role: InvitationRole, name: str | None, until: datetime | None, **role_fields: Any
) -> Invitation:
    """Its token is still to be made."""
    name = name or f"{role}-{secrets.token_hex(4)}"
    return Invitation(debate_id, name, "", role, datetime.now(UTC), expires_at=until, **role_fields)


def _check_place(debate: Debate, body: people_bodies.Invite) -> None:
    """An invitation leads to a place that there is, and that a person can take."""
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
