"""The tokens and invitations in PostgreSQL. What takes more than one statement takes a connection."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from moot.core.errors import UnknownDebate
from moot.store.contract import Invitation, Token
from moot.store.invitation_limits import check_invitation
from moot.store.postgres.connect import Connection, fetch
from moot.store.postgres.queries import RunQuery

COLUMNS = "debate_id, name, digest, role, created_at, seat, judge, many, expires_at, via"
VALID = """
    (expires_at IS NULL OR expires_at > %s)
    AND (via IS NULL OR EXISTS (SELECT 1 FROM invitations AS link WHERE link.digest = invitations.via))
"""
"""Who joined by a link for many counts no longer than that link."""


async def add_invitation(connection: Connection, invitation: Invitation, at: datetime) -> None:
    debate = invitation.debate
    # Locked, so that two nodes do not both give the last place away.
    rows = await fetch(connection, "SELECT status FROM debates WHERE id = %s FOR NO KEY UPDATE", [debate])
    if not rows:
        raise UnknownDebate
    await fetch(
        connection,
        f"DELETE FROM invitations WHERE debate_id = %s AND NOT ({VALID})",  # noqa: S608 - our own condition
        [debate, at],
    )
    [[invited, taken]] = await fetch(
        connection,
        "SELECT count(*), count(*) FILTER (WHERE name = %s) FROM invitations WHERE debate_id = %s",
        [invitation.name, debate],
    )
    check_invitation(taken=taken > 0, invited=invited, status=rows[0][0])
    await fetch(
        connection,
        f"INSERT INTO invitations ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",  # noqa: S608 - our own columns
        [getattr(invitation, name) for name in Invitation.__struct_fields__],
    )


async def list_invitations(ask: RunQuery, debate_id: str, at: datetime) -> tuple[Invitation, ...]:
    rows = await ask(
        f"SELECT {COLUMNS} FROM invitations WHERE debate_id = %s AND {VALID} ORDER BY name",  # noqa: S608 - our own columns
        [debate_id, at],
    )
    return tuple(Invitation(*map(_value, row)) for row in rows)


async def find_invitation(ask: RunQuery, digest: str, at: datetime) -> Invitation | None:
    rows = await ask(
        f"SELECT {COLUMNS} FROM invitations WHERE digest = %s AND {VALID}",  # noqa: S608 - our own columns
        [digest, at],
    )
    return Invitation(*map(_value, rows[0])) if rows else None


async def among(ask: RunQuery, digests: Collection[str], at: datetime) -> tuple[Invitation, ...]:
    rows = await ask(
        f"SELECT {COLUMNS} FROM invitations WHERE digest = ANY(%s) AND {VALID}",  # noqa: S608 - our own columns
        [[*digests], at],
    )
    return tuple(Invitation(*map(_value, row)) for row in rows)


async def delete_invitation(ask: RunQuery, debate_id: str, name: str) -> bool:
    return bool(
        await ask(
            """
            DELETE FROM invitations WHERE debate_id = %s AND (name = %s OR via IN (
                SELECT digest FROM invitations WHERE debate_id = %s AND name = %s))
            RETURNING name
            """,
            [debate_id, name, debate_id, name],
        )
    )


async def list_tokens(ask: RunQuery) -> tuple[Token, ...]:
    rows = await ask(
        "SELECT name, digest, role, owner, created_at, expires_at FROM tokens ORDER BY name", None
    )
    return tuple(Token(*map(_value, row)) for row in rows)


async def save_token(ask: RunQuery, token: Token) -> None:
    await ask(
        """
        INSERT INTO tokens (name, digest, role, owner, created_at, expires_at)
        VALUES (%s, %s, %s, %s, %s, %s)
        ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, role = excluded.role,
            owner = excluded.owner, created_at = excluded.created_at, expires_at = excluded.expires_at
        """,
        [token.name, token.digest, token.role, token.owner, token.created_at, token.expires_at],
    )


async def delete_token(ask: RunQuery, name: str) -> bool:
    return bool(await ask("DELETE FROM tokens WHERE name = %s RETURNING name", [name]))


def _value(value: Any) -> Any:
    """Moments come in the server's time zone."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value
