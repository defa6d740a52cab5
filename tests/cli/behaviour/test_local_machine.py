"""What is on this machine: models, formats, doctor."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from moot import formats

Moot = Callable[..., tuple[int, str, str]]


def test_models_says_what_is_missing_and_what_to_do(moot: Moot):
    code, out, _ = moot("models")
    assert code == 0
    assert "local/smollm2-135m" in out
    assert "moot models install smollm2-135m" in out
    assert "Without --model a debate uses" in out


def test_installing_without_leave_to_download_is_one_clear_line(moot: Moot):
    code, _, err = moot("models", "install", "smollm2-135m")
    assert code == 1
    assert "downloads are forbidden" in err
    assert moot("models", "install", "no-such-model")[0] == 2


def test_every_format_is_listed_and_can_be_shown(moot: Moot):
    _, out, _ = moot("formats")
    for name in formats.names():
        assert f"\n{name}\t" in out
        code, shown, _ = moot("formats", "show", name)
        assert code == 0
        assert formats.load(name).title in shown


def test_a_format_shows_its_rounds_and_speeches(moot: Moot):
    _, out, _ = moot("formats", "show", "lincoln-douglas")
    rows = [row.split("\t") for row in out.splitlines()]
    assert any(row[0] == "1" for row in rows)
    assert "Negative asks Affirmative" in out
    assert "2-4" in moot("formats", "show", "oxford")[1]


def test_a_file_of_ones_own_is_checked(moot: Moot, tmp_path: Path):
    good, bad = tmp_path / "mine.toml", tmp_path / "bad.toml"
    chairs = '[[chairs]]\nname = "A"\nside = "for"\n[[chairs]]\nname = "B"\nside = "against"\n'
    head = 'name = "mine"\ntitle = "Mine"\nsummary = "Short."\n'
    good.write_text(head + chairs + '[[phases]]\nkey = "a"\ntitle = "Say"\nwho = "each"\n')
    bad.write_text(head + "loud = true\n" + chairs)
    code, out, _ = moot("formats", "check", str(good))
    assert code == 0
    assert "The format is valid." in out
    code, _, err = moot("formats", "check", str(bad))
    assert code == 2
    assert "loud" in err
    assert moot("formats", "check", str(tmp_path / "none.toml"))[0] == 2


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
