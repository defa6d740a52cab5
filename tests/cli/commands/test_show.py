"""`moot show`, `watch` and `replay`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from moot.cli.commands.show import seconds_between
from moot.core.events import DebatePaused, DebateResumed, Recorded, decode_recorded
from moot.extension import Extension, Fact, using
from tests.cli.conftest import Hold, Moot
from tests.cli.terminal import MOOT, environment
from tests.views.logs import BEGAN


def test_the_log_shown_as_json_is_the_log(hold: Hold, moot: Moot):
    debate_id = hold(rounds=1)
    records = [decode_recorded(line) for line in moot("show", "--json")[1].splitlines()]
    assert {recorded.debate for recorded in records} == {debate_id}
    assert [recorded.seq for recorded in records] == list(range(1, len(records) + 1))


def test_figures_of_extensions_stand_above_the_ending(hold: Hold, moot: Moot):
    hold(rounds=1)
    with using():
        plain = moot("show")[1]
    with using(Extension("applause", facts=lambda _debate, _viewer: [Fact("Applause", "2 times")])):
        with_facts = moot("show")[1]
    assert with_facts.replace("  Applause: 2 times\n\n", "") == plain != with_facts


def test_an_extension_that_fails_is_named_in_a_line_below(
    hold: Hold, moot: Moot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "200")
    hold(rounds=1)
    with using():
        plain = moot("show")
    with using(Extension("broken", facts=lambda _debate, _viewer: [Fact("Half", str(1 // 0))])):
        code, said, complained = moot("show")
    assert (code, said) == plain[:2]
    assert complained.splitlines()[-1] == (
        "moot: The extension broken is left out: facts failed "
        "(ZeroDivisionError: integer division or modulo by zero)."
    )


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
