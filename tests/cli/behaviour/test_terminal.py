"""On a terminal: the live view, Ctrl-C, and what is left on the screen afterwards."""

from __future__ import annotations

import re
from pathlib import Path

from moot.client import Client
from tests.cli.conftest import Hold, Moot
from tests.cli.terminal import Terminal, environment, words

DEBATE = ("Should AI development be regulated by government?", "--model", "scripted/demo", "--rounds", "1")
CTRL_C = "\x03"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def test_ctrl_c_pauses_and_resume_goes_on_to_the_verdict(data: Path, moot: Moot):
    env = environment(data, pace_ms=50)
    with Terminal(env, *DEBATE) as terminal:
        terminal.until("round 1 of 1")
        terminal.until("Opposition")
        terminal.until("┃")
        terminal.until("words")
        terminal.type(CTRL_C)
        assert terminal.ended() == 130
        said = words(terminal.output)
        assert terminal.output.count(HIDE) == terminal.output.count(SHOW)
    (debate_id,) = set(re.findall(r"moot resume (deb_\w+)", said))
    assert "Cut short by a pause." in said
    assert "Ctrl-C pauses" in said
    assert moot("list")[1].count("paused") == 1
    with Terminal(environment(data), "resume", debate_id) as terminal:
        assert terminal.ended() == 0
        said = words(terminal.output)
    assert "Resumed." in said
    assert "── Verdict ──" in said
    assert "moot export last" in said
    assert moot("list")[1].count("completed") == 1


def test_a_second_ctrl_c_leaves_at_once_and_nothing_is_lost(data: Path, moot: Moot):
    env = environment(data, pace_ms=50)
    with Terminal(env, *DEBATE) as terminal:
        terminal.until("words")
        terminal.type(CTRL_C + CTRL_C)
        assert terminal.ended() == 130
        assert "Traceback" not in terminal.output
    with Terminal(environment(data), "resume") as terminal:
        assert terminal.ended() == 0
    assert moot("list")[1].count("completed") == 1


def test_help_is_wrapped_to_the_terminal_and_has_colours(data: Path, moot: Moot):
    with Terminal(environment(data), "list", "--help", columns=60) as terminal:
        assert terminal.ended() == 0
    assert "\x1b[36m" in terminal.output
    said = words(terminal.output)
    assert max(map(len, said.splitlines())) <= 60
    assert said.split() == moot("list", "--help")[1].split()
    with Terminal(environment(data, NO_COLOR="1"), "list", "--help") as terminal:
        assert terminal.ended() == 0
    assert "\x1b[36m" not in terminal.output


def test_finished_lines_are_printed_once_however_often_the_rest_is_drawn(data: Path):
    with Terminal(environment(data, pace_ms=4), *DEBATE, columns=60) as terminal:
        assert terminal.ended() == 0
        said = words(terminal.output)
    assert said.count("── Round 1 of 1 ──") == 1
    assert said.count("Opening statement\n") <= 2
    assert "\x1b[2J" not in terminal.output
    assert "\x1b[?1049h" not in terminal.output
    assert "Ctrl-C pauses" in said


def test_colours_are_left_out_when_nobody_wants_them(data: Path, hold: Hold):
    hold(rounds=1)
    coloured = re.compile(r"\x1b\[(?:[0-9;]*;)?3[0-7]m")
    with Terminal(environment(data), "show") as terminal:
        assert terminal.ended() == 0
        assert coloured.search(terminal.output)
    with Terminal(environment(data, NO_COLOR="1"), "show") as terminal:
        assert terminal.ended() == 0
        assert not coloured.search(terminal.output)
    with Terminal(environment(data), "show", "--plain") as terminal:
        assert terminal.ended() == 0
        assert "\x1b" not in terminal.output


def test_deleting_asks_first(data: Path, hold: Hold, moot: Moot):
    debate_id = hold(rounds=1)
    with Terminal(environment(data), "delete", "last") as terminal:
        terminal.until("[y/N]")
        terminal.type("y\n")
        assert terminal.ended() == 0
        assert f"Deleted {debate_id}." in words(terminal.output)
    assert "No debates here yet" in moot("list")[1]


def test_looking_away_does_not_disturb_the_debate(data: Path):
    env = environment(data, pace_ms=6)
    with Terminal(env, *DEBATE, "--json") as running:
        running.until("call.delta")
        with Terminal(env, "watch") as watching:
            watching.until("Ctrl-C stops watching")
            watching.type(CTRL_C)
            assert watching.ended() == 130
            assert "The debate continues." in words(watching.output)
        assert running.ended() == 0


def test_leaving_while_the_judge_is_at_work_keeps_the_speeches(data: Path, moot: Moot):
    with Terminal(environment(data, pace_ms=15), *DEBATE) as terminal:
        terminal.until("0 of 2 ballots")
        terminal.type(CTRL_C)
        assert terminal.ended() == 130
        assert "Continue: moot resume deb_" in words(terminal.output)
    code, out, _ = moot("resume")
    assert code == 0
    assert "── Verdict ──" in out
    assert "agreement" in out
    assert "Round 1" not in out


def test_a_server_at_a_terminal_keeps_its_address_on_the_screen(data: Path):
    with Terminal(environment(data), "serve", "--port", "0") as terminal:
        url = re.findall(r"Moot is at (http://[\d.:]+\d)", words(terminal.until("stops it.")))[0]
        with Client(url) as client:
            assert client.list().debates == ()
        terminal.type("\x03")
        assert terminal.ended() == 0
    assert "moot.access" not in terminal.output
