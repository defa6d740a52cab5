"""The invitations in the file. Each function takes a connection; those that write need a transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from datetime import datetime
from typing import Any

import msgspec

from moot.core.errors import UnknownDebate
from moot.store.contract import Invitation
from moot.store.invitation_limits import check_invitation

COLUMNS = "debate_id, name, digest, role, created_at, seat, judge, many, expires_at, via"
VALID = """
    (expires_at IS NULL OR julianday(expires_at) > julianday(?))
    AND (via IS NULL OR EXISTS (SELECT 1 FROM invitations AS link WHERE link.digest = invitations.via))
"""
"""Who joined by a link for many counts no longer than that link."""


def add_invitation(connection: sqlite3.Connection, invitation: Invitation, at: datetime) -> None:
    debate, now = invitation.debate, at.isoformat()
    row = connection.execute("SELECT status FROM debates WHERE id = ?", (debate,)).fetchone()
    if row is None:
        raise UnknownDebate
    connection.execute(
        f"DELETE FROM invitations WHERE debate_id = ? AND NOT ({VALID})",  # noqa: S608 - our own condition
        (debate, now),
    )
    invited, taken = connection.execute(
        "SELECT count(*), coalesce(sum(name = ?), 0) FROM invitations WHERE debate_id = ?",
        (invitation.name, debate),
    ).fetchone()
    check_invitation(taken=taken > 0, invited=invited, status=row[0])
    connection.execute(
        """
        INSERT INTO invitations
            (debate_id, name, digest, role, created_at, seat, judge, many, expires_at, via)
        VALUES (:debate, :name, :digest, :role, :created_at, :seat, :judge, :many, :expires_at, :via)
        """,
        msgspec.to_builtins(invitation),
    )


def list_invitations(connection: sqlite3.Connection, debate_id: str, at: datetime) -> tuple[Invitation, ...]:
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM invitations WHERE debate_id = ? AND {VALID} ORDER BY name",  # noqa: S608 - ours
        (debate_id, at.isoformat()),
    ).fetchall()
    return tuple(_invitation(row) for row in rows)


def find_invitation(connection: sqlite3.Connection, digest: str, at: datetime) -> Invitation | None:
    row = connection.execute(
        f"SELECT {COLUMNS} FROM invitations WHERE digest = ? AND {VALID}",  # noqa: S608 - our own columns
        (digest, at.isoformat()),
    ).fetchone()
    return _invitation(row) if row else None


def among(connection: sqlite3.Connection, digests: Collection[str], at: datetime) -> tuple[Invitation, ...]:
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM invitations WHERE digest IN (SELECT value FROM json_each(?)) AND {VALID}",  # noqa: S608 - ours
        (json.dumps([*digests]), at.isoformat()),
    ).fetchall()
    return tuple(_invitation(row) for row in rows)


def delete_invitation(connection: sqlite3.Connection, debate_id: str, name: str) -> bool:
    done = connection.execute(
        """
        DELETE FROM invitations WHERE debate_id = ?1 AND (name = ?2 OR via IN (
            SELECT digest FROM invitations WHERE debate_id = ?1 AND name = ?2))
        """,
        (debate_id, name),
    )
    return done.rowcount > 0


def _invitation(row: tuple[Any, ...]) -> Invitation:
    shape = dict(zip(Invitation.__struct_fields__, row, strict=True))
    return msgspec.convert({**shape, "many": bool(shape["many"])}, Invitation)
