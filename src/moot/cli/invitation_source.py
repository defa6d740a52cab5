"""Who is invited to a debate: kept beside the debates of this machine, or by a server."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from moot.cli.debate_source import Hall
from moot.cli.remote import Remote
from moot.cli.remote_shapes import in_our_words
from moot.client import Invitation
from moot.core.errors import Invalid
from moot.engine.arena import Arena
from moot.store.contract import Invitation as Kept
from moot.store.contract import InvitedAs, Store
from moot.store.token_digest import digest, new_secret

LONGEST_NAME = 60
MOST_DAYS = 365


class Guest(Struct, frozen=True):
    """As whom somebody is to come."""

    role: InvitedAs
    seat: str | None = None
    judge: str | None = None
    name: str = ""
    days: float | None = None
    many: bool = False


async def invite(hall: Hall, debate_id: str, guest: Guest) -> Invitation:
    _check(guest)
    if isinstance(hall, Remote):
        with in_our_words():
            return await hall.client.invite(
                debate_id,
                guest.role,
                seat=guest.seat or "",
                judge=guest.judge or "",
                name=guest.name,
                days=guest.days,
                many=guest.many,
            )
    token, now = new_secret(), datetime.now(UTC)
    kept = Kept(
        debate_id,
        guest.name or f"{guest.role}-{secrets.token_hex(4)}",
        digest(token),
        guest.role,
        now,
        guest.seat,
        guest.judge,
        guest.many,
        now + timedelta(days=guest.days) if guest.days is not None else None,
    )
    await _store(hall).invite(kept)
    link = f"/debate/{debate_id}#token={token}"
    return Invitation(name=kept.name, role=kept.role, token=token, seat=kept.seat, link=link)


async def invited(hall: Hall, debate_id: str) -> Sequence[Invitation]:
    if isinstance(hall, Remote):
        with in_our_words():
            return await hall.client.invitations(debate_id)
    return [
        Invitation(
            name=kept.name,
            role=kept.role,
            seat=kept.seat,
            judge=kept.judge,
            many=kept.many,
            expires_at=kept.expires_at,
        )
        for kept in await _store(hall).invitations(debate_id)
    ]


async def withdraw(hall: Hall, debate_id: str, name: str) -> None:
    if name not in [guest.name for guest in await invited(hall, debate_id)]:
        raise Invalid(f"Nobody is invited as {name!r}. `moot invite ID` shows who is.")
    if isinstance(hall, Remote):
        with in_our_words():
            await hall.client.uninvite(debate_id, name)
    else:
        await _store(hall).uninvite(debate_id, name)


def _check(guest: Guest) -> None:
    if guest.role == "participant" and guest.seat is None:
        raise Invalid("A participant needs a seat: --seat NAME.")
    if guest.role == "judge" and guest.judge is None:
        raise Invalid("A judge needs a place: --judge NAME.")
    if guest.many and guest.role != "audience":
        raise Invalid("Only an audience comes by one link: --many goes with audience.")
    if guest.days is not None and not 0 < guest.days <= MOST_DAYS:
        raise Invalid(f"--days must be above 0 and at most {MOST_DAYS}.")
    if len(guest.name) > LONGEST_NAME or not guest.name.isprintable() or guest.name != guest.name.strip():
        raise Invalid(f"A name has at most {LONGEST_NAME} printable characters, and no space around them.")


def _store(hall: Hall) -> Store:
    if not isinstance(hall, Arena):
        raise TypeError("a hall is an arena, or a server's")
    return hall.store
