"""`moot doctor`: it looks at everything, and tells no key."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Moot


def test_doctor_looks_at_everything_and_tells_no_key(moot: Moot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    moot("A motion to try", "--model", "scripted/demo", "--rounds", "1")
    code, out, _ = moot("doctor")
    for what in (
        "Python",
        "data folder",
        "database",
        "local engine",
        "local models",
        "model servers",
        "keys",
        "network",
    ):
        assert what in out
    assert "1 debate," in out
    assert "OPENAI_API_KEY" in out
    assert "secret" not in out
    assert code in (0, 1)


def test_doctor_finds_a_damaged_database(moot: Moot, data: Path):
    data.mkdir(parents=True)
    (data / "moot.db").write_bytes(b"this is not a database at all" * 100)
    code, out, _ = moot("doctor")
    assert code == 1
    assert "✗" in out
    code, _, err = moot("list")
    assert code == 1
    assert "`moot doctor` looks at what is wrong." in err


def test_doctor_says_when_the_database_is_too_new(moot: Moot, data: Path):
    moot("list")
    with closing(sqlite3.connect(data / "moot.db")) as connection:
        connection.execute("PRAGMA user_version = 9999")
    code, out, _ = moot("doctor")
    assert code == 1
    assert "Upgrade Moot" in out
    assert moot("list")[0] == 1


def test_doctor_names_a_setting_that_is_wrong(moot: Moot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MOOT_TICK_MS", "soon")
    code, out, _ = moot("doctor")
    assert code == 1
    assert "MOOT_TICK_MS" in out
