"""The tokens in the file. Each function takes a connection; those that write are called in a transaction."""

from __future__ import annotations

import sqlite3

import msgspec

from moot.store.contract import Token


def list_tokens(connection: sqlite3.Connection) -> tuple[Token, ...]:
    rows = connection.execute(
        "SELECT name, digest, role, owner, created_at, expires_at FROM tokens ORDER BY name"
    ).fetchall()
    return tuple(msgspec.convert(dict(zip(Token.__struct_fields__, row, strict=True)), Token) for row in rows)


def save_token(connection: sqlite3.Connection, token: Token) -> None:
    connection.execute(
        """
        INSERT OR REPLACE INTO tokens (name, digest, role, owner, created_at, expires_at)
        VALUES (:name, :digest, :role, :owner, :created_at, :expires_at)
        """,
        msgspec.to_builtins(token),
    )


def delete_token(connection: sqlite3.Connection, name: str) -> bool:
    return connection.execute("DELETE FROM tokens WHERE name = ?", (name,)).rowcount > 0
