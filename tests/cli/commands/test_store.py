"""`moot backup`: what it tells, and what it does not replace."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.conftest import Hold, Moot
from tests.cli.terminal import Terminal, environment


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
