"""`moot token`: shown once, listed, revoked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from moot.store.contract import AccessToken, digest
from moot.store.sqlite.store import SqliteStore
from tests.cli.conftest import Moot


def tokens(data: Path, *keep: AccessToken) -> dict[str, AccessToken]:
    """Those in the store, after adding some."""

    async def look() -> tuple[AccessToken, ...]:
        store = SqliteStore.open(data / "moot.db")
        for token in keep:
            await store.save_token(token)
        try:
            return await store.tokens()
        finally:
            await store.close()

    return {token.name: token for token in asyncio.run(look())}


def test_a_token_is_shown_once_and_kept_as_a_digest(moot: Moot, data: Path):
    code, out, err = moot("token", "new", "ann")
    secret = out.strip()
    assert code == 0
    assert secret.startswith("moot_")
    assert len(secret) == len("moot_") + 43
    assert secret not in err
    ann = tokens(data)["ann"]
    assert (ann.digest, ann.role, ann.owner, ann.expires_at) == (digest(secret), "owner", "ann", None)
    assert all(secret.encode() not in file.read_bytes() for file in data.iterdir() if file.is_file())
    assert secret not in moot("token", "list")[1]


def test_a_token_may_be_for_less_and_for_a_while(moot: Moot, data: Path):
    assert moot("token", "new", "bob", "--role", "viewer", "--owner", "ann", "--days", "2")[0] == 0
    bob = tokens(data)["bob"]
    assert (bob.role, bob.owner) == ("viewer", "ann")
    assert bob.expires_at == bob.created_at + timedelta(days=2)


def test_the_list_tells_which_tokens_are_over(moot: Moot, data: Path):
    assert moot("token", "list") == (0, "No tokens yet. Make one with: moot token new NAME\n", "")
    now = datetime.now(UTC)
    tokens(
        data,
        AccessToken("old", digest("x"), "viewer", "ann", now - timedelta(days=9), now - timedelta(days=1)),
    )
    moot("token", "new", "ann")
    rows = moot("token", "list")[1].splitlines()[1:]
    assert [row.split()[:3] for row in rows] == [["ann", "owner", "ann"], ["old", "viewer", "ann"]]
    assert ["over" in row for row in rows] == [False, True]


def test_a_token_is_revoked_by_its_name(moot: Moot, data: Path):
    moot("token", "new", "ann")
    assert moot("token", "revoke", "ann") == (0, "Revoked ann.\n", "")
    assert tokens(data) == {}
    code, out, err = moot("token", "revoke", "ann")
    assert (code, out) == (2, "")
    assert "There is no token called 'ann'." in err


def test_a_name_is_taken_only_once(moot: Moot, data: Path):
    moot("token", "new", "ann")
    before = tokens(data)
    code, out, err = moot("token", "new", "ann", "--role", "viewer")
    assert (code, out) == (2, "")
    assert "There is a token called 'ann'" in err
    assert tokens(data) == before


@pytest.mark.parametrize(
    "arguments",
    [
        [""],
        ["a" * 65],
        ["an\x00n"],
        ["ann", "--owner", "\x00"],
        ["ann", "--owner", " ann"],
        ["ann", "--days", "0"],
        ["ann", "--days", "-1"],
        ["ann", "--days", "nan"],
        ["ann", "--days", "1e9"],
        ["ann", "--role", "king"],
    ],
)
def test_a_token_that_makes_no_sense_is_not_made(moot: Moot, data: Path, arguments: list[str]):
    code, out, err = moot("token", "new", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("moot: ")
    assert tokens(data) == {}
