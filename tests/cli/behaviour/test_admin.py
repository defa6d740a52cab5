"""Commands for operators: statistics, tokens, backups."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from moot.store.contract import AccessToken, digest
from moot.store.sqlite.store import SqliteStore
from tests.cli.conftest import Hold
from tests.cli.terminal import Terminal, environment

Moot = Callable[..., tuple[int, str, str]]


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


# --- statistics ---------------------------------------------------------------------------------------


def test_statistics_of_nothing_say_how_to_begin(moot: Moot):
    assert moot("stats") == (0, 'No debates here yet. Begin with: moot "This house would ban homework"\n', "")
    assert json.loads(moot("stats", "--json")[1])["totals"]["debates"] == 0


def test_statistics_tell_who_wins_and_what_is_debated(hold: Hold, moot: Moot):
    hold(rounds=1)
    hold(rounds=1, motion="cats  are better than DOGS")
    hold(rounds=1, motion="Tea is better than coffee", judge="none")
    code, out, _ = moot("stats")
    assert code == 0
    assert out.startswith("3 debates (3 completed) · 6 speeches · $0.00\n")
    assert "cats are better than DOGS\t2" in out
    found = json.loads(moot("stats", "--json")[1])
    assert [(model["name"], model["debates"], model["wins"]) for model in found["models"]] == [
        ("scripted/demo", 2, 0)
    ]
    assert sum(side["wins"] + side["draws"] for side in found["sides"]) >= 2
    assert found["formats"][0]["format"] == "oxford"


def test_without_a_verdict_nobody_has_won(hold: Hold, moot: Moot):
    hold(rounds=1, judge="none")
    out = moot("stats")[1]
    assert "No debate has been judged yet" in out
    assert "won" not in out.splitlines()[0]


# --- tokens -------------------------------------------------------------------------------------------


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


# --- backups ------------------------------------------------------------------------------------------


def test_a_backup_tells_its_size_and_how_to_restore_it(hold: Hold, moot: Moot, data: Path, tmp_path: Path):
    debate_id = hold(rounds=1)
    file = tmp_path / "my backup.db"
    code, out, err = moot("backup", str(file))
    assert (code, err) == (0, "")
    assert re.search(r"0\.[1-9] MB written to", out)
    assert shlex.join(["cp", str(file), str(data / "moot.db")]) in out
    moot("delete", debate_id, "--yes")
    (data / "moot.db").write_bytes(file.read_bytes())
    assert debate_id in moot("list")[1]


def test_a_backup_replaces_nothing_unless_told_to(hold: Hold, moot: Moot, tmp_path: Path):
    hold(rounds=1)
    file = tmp_path / "backup.db"
    file.write_text("precious")
    code, _, err = moot("backup", str(file))
    assert code == 2
    assert "--force replaces it" in err
    assert file.read_text() == "precious"
    assert moot("backup", str(file), "--force")[0] == 0
    assert file.read_bytes().startswith(b"SQLite format 3")


def test_a_backup_that_cannot_be_made_says_why(moot: Moot, data: Path, hold: Hold, tmp_path: Path):
    code, _, err = moot("backup", str(tmp_path / "backup.db"))
    assert code == 1
    assert "There is nothing to back up" in err
    assert not (data / "moot.db").exists()
    hold(rounds=1)
    for file, words in {
        data / "moot.db": "That is the store itself",
        tmp_path: "is a folder",
        tmp_path / "nowhere" / "backup.db": "There is no folder",
    }.items():
        code, _, err = moot("backup", str(file), "--force")
        assert code == 2
        assert words in " ".join(err.split())


def test_on_a_terminal_a_backup_shows_that_it_moves(hold: Hold, data: Path, tmp_path: Path):
    hold(rounds=1)
    with Terminal(environment(data), "backup", str(tmp_path / "backup.db")) as terminal:
        assert terminal.ended() == 0
        assert "copying" in terminal.output
        assert "written to" in terminal.output
