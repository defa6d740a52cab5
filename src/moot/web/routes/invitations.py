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
from moot.store.contract import Invitation, InvitedAs
from moot.store.token_digest import digest, new_secret
from moot.web.app_context import query_of, who
from moot.web.responses import json_reply
from moot.web.routes.handlers import Body, DebateId, Desk, Route

GuestName = Annotated[str, Path(alias="name", examples=["zoe"])]

ROUTES: tuple[Route, ...] = (
    ("POST", "/debates/{debateId}/invitations", "invite", "invite"),
    ("GET", "/debates/{debateId}/invitations", "invitations", "invite"),
    ("DELETE", "/debates/{debateId}/invitations/{name}", "uninvite", "invite"),
    ("POST", "/debates/{debateId}/join", "join", "join"),
)


class Guests(Desk):
    async def invite(self, request: Request, debate_id: DebateId) -> Response:
        debate = await self._arena.state(debate_id)

        def guest(body: people_bodies.Invite) -> Invitation:
            _check_place(debate, body)
            until = datetime.now(UTC) + timedelta(days=body.days) if body.days else None
            return _guest(
                debate_id, body.role, body.name, until, seat=body.seat, judge=body.judge, many=body.many
            )

        return await self._let_in(request, people_bodies.Invite, guest)

    async def join(self, request: Request, debate_id: DebateId) -> Response:
        link = await self._arena.store.invitation(who(request).key)
        if link is None:
            raise Problem("unauthorized", "This link was withdrawn")

        def guest(body: people_bodies.Join) -> Invitation:
            return _guest(debate_id, "audience", body.name, link.expires_at, via=link.digest)

        return await self._let_in(request, people_bodies.Join, guest)

    async def invitations(self, request: Request, debate_id: DebateId) -> Response:
        query_params.nothing(query_of(request))
        found = await self._arena.store.invitations(debate_id)
        return json_reply({"invitations": [people_replies.invited(guest) for guest in found]})

    async def uninvite(self, request: Request, debate_id: DebateId, name: GuestName) -> Response:
        query_params.nothing(query_of(request))
        if not await self._arena.store.uninvite(debate_id, name):
            raise Problem("not-found", "There is no such invitation")
        self._rooms.clock.review_soon()
        return Response(status_code=204)

    async def _let_in(
        self, request: Request, form: type[Body], guest: Callable[[Body], Invitation]
    ) -> Response:
        query_params.nothing(query_of(request))
        raw, repeats = await request.body(), self._rooms.repeats
        async with repeats.doing(request, raw) as once:
            if said := await repeats.said(request, once):
                return json_reply(said, 201, {"Idempotent-Replayed": "true"})
            token = new_secret()
            invitation = replace(guest(bodies.read(form, raw)), digest=digest(token))
            await self._arena.store.invite(invitation)
            shape = people_replies.invited(invitation, token)
            await repeats.remember(request, once, shape)
        return json_reply(shape, 201)


def _guest(
    debate_id: str, role: InvitedAs, name: str | None, until: datetime | None, **place: Any
) -> Invitation:
    """Its token is still to be made."""
    name = name or f"{role}-{secrets.token_hex(4)}"
    return Invitation(debate_id, name, "", role, datetime.now(UTC), expires_at=until, **place)


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
