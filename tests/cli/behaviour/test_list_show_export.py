"""Looking at debates: list, show, watch, replay, export, delete."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.cli.commands.export import _print
from moot.cli.commands.show import seconds_between
from moot.core.errors import Invalid
from moot.core.events import DebatePaused, DebateResumed, Recorded, decode_recorded
from moot.views.exports import EXPORTS, ExportFormat
from tests.cli.conftest import Hold
from tests.cli.terminal import MOOT, environment
from tests.views.logs import BEGAN

Moot = Callable[..., tuple[int, str, str]]


def test_an_empty_shelf_says_how_to_begin(moot: Moot):
    assert moot("list") == (0, 'No debates here yet. Begin with: moot "This house would ban homework"\n', "")
    code, _, err = moot("show")
    assert code == 2
    assert "There are no debates here yet." in err


def test_the_list_has_a_line_for_each_debate_newest_first(hold: Hold, moot: Moot):
    first, second = hold(), hold(motion="Tea is better than coffee", rounds=1)
    _, out, _ = moot("list")
    rows = out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [second, first]
    assert "Tea is better than coffee" in rows[0]
    assert "completed" in rows[0]
    assert moot("list", "--search", "coffee")[1].count("deb_") == 1
    assert moot("list", "--status", "paused")[1] == "No debate fits that.\n"
    assert "1 of 2; the next ones: --offset 1" in moot("list", "--limit", "1")[2]
    listed = [json.loads(line)["id"] for line in moot("list", "--json")[1].splitlines()]
    assert listed == [second, first]


def test_a_debate_is_found_by_any_unique_piece_of_its_id(hold: Hold, moot: Moot):
    first, second = hold(rounds=1), hold(rounds=1, motion="Tea is better than coffee")
    assert "Tea is better" in moot("show", second[-8:])[1]
    assert "Tea is better" in moot("show", second.lower())[1]
    assert "Cats are better" in moot("show", first)[1]
    assert moot("show", "last")[1] == moot("show")[1]
    code, _, err = moot("show", "deb_0")
    assert code == 2
    assert "fits 2 debates" in err


def test_the_log_shown_as_json_is_the_log(hold: Hold, moot: Moot):
    debate_id = hold(rounds=1)
    records = [decode_recorded(line) for line in moot("show", "--json")[1].splitlines()]
    assert {recorded.debate for recorded in records} == {debate_id}
    assert [recorded.seq for recorded in records] == list(range(1, len(records) + 1))


def test_a_replay_shows_what_was_shown(hold: Hold, moot: Moot):
    hold()
    assert moot("replay", "--speed", "max") == moot("show")
    assert moot("replay", "--speed", "1000", "--json") == moot("show", "--json")


def test_a_replay_leaves_out_the_time_when_nobody_debated():
    def at(second: int, event: object, epoch: int = 1) -> Recorded:
        return Recorded("deb_1", second + 1, BEGAN.replace(second=second), epoch, event)  # type: ignore[arg-type]

    paused, resumed = at(1, DebatePaused()), at(50, DebateResumed())
    assert seconds_between(at(0, DebatePaused()), paused) == 1
    assert seconds_between(paused, resumed) == 0
    assert seconds_between(paused, at(50, DebatePaused(), epoch=2)) == 0


@pytest.mark.parametrize(
    ("kind", "begins"),
    [("markdown", "# Debate: Cats"), ("html", "<!doctype html>"), ("json", '{\n  "debate"')],
)
def test_an_export_goes_to_a_pipe_or_a_file(hold: Hold, moot: Moot, tmp_path: Path, kind: str, begins: str):
    hold(rounds=1)
    code, out, _ = moot("export", "last", "--format", kind)
    assert code == 0
    assert out.startswith(begins)
    assert "strongest point" not in out
    file = tmp_path / f"debate.{kind[:4]}"
    code, nothing, err = moot("export", "last", "--format", kind, "-o", str(file))
    assert (code, nothing) == (0, "")
    assert str(file) in err.replace("\n", "")
    assert file.read_text("utf-8") == out


def test_the_suffix_of_a_file_says_what_to_write(hold: Hold, moot: Moot, tmp_path: Path):
    hold(rounds=1)
    moot("export", "-o", str(tmp_path / "debate.md"))
    assert (tmp_path / "debate.md").read_text("utf-8").startswith("# Debate")
    code, _, err = moot("export", "-o", str(tmp_path / "nowhere" / "debate.md"))
    assert code == 1
    assert "cannot be written" in err.replace("\n", " ")


def test_a_debate_is_deleted_only_when_someone_agrees(hold: Hold, moot: Moot):
    debate_id = hold(rounds=1)
    code, _, err = moot("delete", debate_id)
    assert code == 1
    assert "pass --yes" in err
    assert moot("delete", debate_id, "--yes") == (0, f"Deleted {debate_id}.\n", "")
    assert moot("list")[1].startswith("No debates here yet.")


def test_a_second_process_watches_from_the_start_while_the_first_runs(data: Path):
    env = environment(data, pace_ms=5)
    first = subprocess.Popen(
        [*MOOT, "Cats are better than dogs", "--model", "scripted/demo", "--rounds", "2", "--json"],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert first.stdout is not None
    opened = first.stdout.readline()
    while "call.delta" not in first.stdout.readline():
        pass
    second = subprocess.run(
        [*MOOT, "watch", "last", "--json"], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    first.communicate(timeout=60)
    lines = second.stdout.splitlines()
    assert lines[0] == opened.strip()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert json.loads(lines[-1])["event"]["type"] == "debate.ended"


def test_the_picture_of_a_terminal_loads_nothing_from_anywhere(hold: Hold, moot: Moot, tmp_path: Path):
    hold()
    picture, short = tmp_path / "terminal.svg", tmp_path / "short.svg"
    assert moot("show", "--svg", str(picture))[0] == 0
    assert moot("show", "--svg", str(short), "--cut", "12", "--dark")[0] == 0
    drawn = picture.read_text("utf-8")
    assert drawn.startswith("<svg")
    assert drawn.replace("http://www.w3.org/2000/svg", "").count("http") == 0
    assert "url(h" not in drawn
    assert "@font-face" not in drawn
    assert "Cats" in drawn
    assert len(short.read_text("utf-8")) < len(drawn) / 2


def test_a_binary_export_is_written_unchanged_to_a_pipe_and_refused_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
):
    monkeypatch.setitem(EXPORTS, "markdown", ExportFormat("application/pdf", (".pdf",), None))
    document = b"%PDF-1.7\r\n\x1b[31m\xff\x00"
    with os.fdopen(os.dup(1), "w") as pipe:
        monkeypatch.setattr("sys.stdout", pipe)
        _print("markdown", document)
        monkeypatch.setattr(pipe, "isatty", lambda: True)
        with pytest.raises(Invalid, match="--output"):
            _print("markdown", document)
    assert capfdbinary.readouterr().out == document
