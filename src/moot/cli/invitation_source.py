"""Who is invited to a debate: kept beside the debates of this machine, or by a server."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from moot.cli.debate_source import DebateSource
from moot.cli.remote import RemoteSource
from moot.cli.remote_shapes import translate_api_errors
from moot.client import Invitation
from moot.core.errors import Invalid
from moot.engine.arena import Arena
from moot.store.contract import Invitation as Kept
from moot.store.contract import InvitationRole, Store, digest, new_secret

LONGEST_NAME = 60
MOST_DAYS = 365


class InvitationRequest(Struct, frozen=True):
    """As whom somebody is to come."""

    role: InvitationRole
    seat: str | None = None
    judge: str | None = None
    name: str = ""
    days: float | None = None
    many: bool = False


async def invite(source: DebateSource, debate_id: str, request: InvitationRequest) -> Invitation:
    _check(request)
    if isinstance(source, RemoteSource):
        with translate_api_errors():
            return await source.client.invite(
                debate_id,
                request.role,
                seat=request.seat or "",
                judge=request.judge or "",
                name=request.name,
                days=request.days,
                many=request.many,
            )
    token, now = new_secret(), datetime.now(UTC)
    kept = Kept(
        debate_id,
        request.name or f"{request.role}-{secrets.token_hex(4)}",
        digest(token),
        request.role,
        now,
        request.seat,
        request.judge,
        request.many,
        now + timedelta(days=request.days) if request.days is not None else None,
    )
    await _store(source).add_invitation(kept)
    link = f"/debate/{debate_id}#token={token}"
    return Invitation(name=kept.name, role=kept.role, token=token, seat=kept.seat, link=link)


async def list_invitations(source: DebateSource, debate_id: str) -> Sequence[Invitation]:
    if isinstance(source, RemoteSource):
        with translate_api_errors():
            return await source.client.invitations(debate_id)
    return [
        Invitation(
            name=kept.name,
            role=kept.role,
            seat=kept.seat,
            judge=kept.judge,
            many=kept.many,
            expires_at=kept.expires_at,
        )
        for kept in await _store(source).invitations(debate_id)
    ]


async def withdraw(source: DebateSource, debate_id: str, name: str) -> None:
    if name not in [invitation.name for invitation in await list_invitations(source, debate_id)]:
        raise Invalid(f"Nobody is invited as {name!r}. `moot invite ID` shows who is.")
    if isinstance(source, RemoteSource):
        with translate_api_errors():
            await source.client.uninvite(debate_id, name)
    else:
        await _store(source).delete_invitation(debate_id, name)


def _check(request: InvitationRequest) -> None:
    if request.role == "participant" and request.seat is None:
        raise Invalid("A participant needs a seat: --seat NAME.")
    if request.role == "judge" and request.judge is None:
        raise Invalid("A judge needs a place: --judge NAME.")
    if request.many and request.role != "audience":
        raise Invalid("Only an audience comes by one link: --many goes with audience.")
    if request.days is not None and not 0 < request.days <= MOST_DAYS:
        raise Invalid(f"--days must be above 0 and at most {MOST_DAYS}.")
    if (
        len(request.name) > LONGEST_NAME
        or not request.name.isprintable()
        or request.name != request.name.strip()
    ):
        raise Invalid(f"A name has at most {LONGEST_NAME} printable characters, and no space around them.")


def _store(source: DebateSource) -> Store:
    if not isinstance(source, Arena):
        raise TypeError("a hall is an arena, or a server's")
    return source.store
