"""`moot "MOTION"` in a pipe: readable text, or the log itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from moot.core.events import decode_recorded
from moot.core.evolve import fold
from moot.core.terms import Request
from moot.providers.scripted import Cue, SayCue, ThinkCue
from tests.cli.conftest import Hold, Moot
from tests.cli.terminal import MOOT, environment, piped

DEMO = ("--model", "scripted/demo")


def test_a_whole_debate_is_readable_in_a_pipe(data: Path, tmp_path: Path):
    page = tmp_path / "debate.html"
    done = piped(environment(data), "Cats are better than dogs", *DEMO, "--output", str(page))
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "\x1b" not in done.stdout + done.stderr
    assert not [line for line in lines if line != line.rstrip()]
    assert lines[1] == "  Cats are better than dogs"
    assert [line.split("─")[2].strip() for line in lines if line.startswith("  ── ")] == [
        "Round 1 of 3", "Round 2 of 3", "Round 3 of 3", "Verdict",
    ]  # fmt: skip
    assert "  Proposition  Opening statement" in lines
    assert "  Opposition  Closing statement" in lines
    assert lines[-2] == "  All rounds were held."
    assert "Cats are better than dogs" in page.read_text("utf-8")


def test_with_json_each_line_is_an_event_and_they_make_the_debate(moot: Moot):
    code, out, err = moot("Cats are better than dogs", *DEMO, "--rounds", "2", "--json")
    records = [decode_recorded(line) for line in out.splitlines()]
    assert code == 0
    assert err == ""
    assert [recorded.seq for recorded in records] == list(range(1, len(records) + 1))
    debate = fold(records)
    assert debate is not None
    assert (debate.status, len(debate.turns), debate.verdict is not None) == ("completed", 4, True)


def test_the_options_reach_the_debate(moot: Moot):
    _, out, _ = moot(
        "Cats are better than dogs",
        "--for", "scripted/a", "--against", "scripted/b", "--judge", "scripted/c",
        "--format", "free", "--turns", "3", "--intensity", "5", "--seed", "7", "--timeout", "33",
        "--cost-limit", "2.50", "--warn-at", "1", "--json",
        "--persona-for", "A sailor.", "--objective-against", "Stall.",
    )  # fmt: skip
    opened = json.loads(out.splitlines()[0])["event"]
    assert [seat["model"]["name"] for seat in opened["seats"]] == ["a", "b"]
    assert opened["judges"][0]["model"]["name"] == "c"
    assert opened["seats"][0]["persona"] == "A sailor."
    assert opened["seats"][1]["objective"] == "Stall."
    assert opened["seats"][0]["model"]["seed"] == 7
    limits = {"rounds": 5, "turns": 3, "turn_seconds": 33.0, "cost": "2.50", "warn_at": "1"}
    assert limits.items() <= opened["limits"].items()
    assert opened["manner"]["intensity"] == 5


def test_every_chair_of_a_format_takes_the_model_that_was_named(moot: Moot):
    _, out, _ = moot("Cats are better than dogs", *DEMO, "--format", "panel", "--rounds", "1", "--json")
    opened = json.loads(out.splitlines()[0])["event"]
    assert [seat["model"]["name"] for seat in opened["seats"]] == ["demo"] * 3
    assert [seat["name"] for seat in opened["seats"]] == ["Optimist", "Skeptic", "Moderator"]


def test_turns_ask_for_a_free_debate(moot: Moot):
    _, out, _ = moot("Cats are better than dogs", *DEMO, "--turns", "2", "--judge", "none")
    assert "Free debate · 2 turns" in out


def test_without_a_judge_there_is_no_verdict(moot: Moot):
    code, out, _ = moot("Cats are better than dogs", *DEMO, "--rounds", "1", "--judge", "none")
    assert code == 0
    assert "All rounds were held. There is no verdict." in out


def test_reasoning_is_shown_or_folded_to_one_line(hold: Hold, moot: Moot):
    hold(rounds=1)
    _, shown, _ = moot("show")
    assert "Thinks: First the strongest point, then an example." in shown
    _, folded, _ = moot("show", "--no-reasoning")
    assert "strongest point" not in folded
    assert "thought first, in 7 words" in folded


def test_nothing_a_model_writes_reaches_the_terminal_as_a_command(hold: Hold, moot: Moot):
    evil = "\x1b[2J\x1b]0;owned\x07 \x9b31m \x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\ \rover \u202eturned\x07"

    def script(request: Request) -> Iterable[Cue]:
        if request.schema is None:
            yield ThinkCue(evil)
            yield SayCue(f"{evil} words {len(request.messages)}")
        else:
            names = request.schema["properties"]["speakers"]["required"]
            marks = {"score": 70, "strengths": [evil], "weaknesses": [evil]}
            criteria = dict.fromkeys(request.schema["properties"]["criteria"]["required"], evil)
            ballot = {
                "reasoning": evil,
                "rests_on": ["S1"],
                "criteria": criteria,
                "speakers": dict.fromkeys(names, marks),
                "winner": names[0],
            }
            yield SayCue(json.dumps(ballot))

    hold(script, rounds=1)
    calls = (
        ["show"], ["list"], ["show", "--json"], ["replay", "--speed", "max"], ["list", "--json"],
        *(["export", "--reasoning", "--format", kind] for kind in ("markdown", "html", "json")),
    )  # fmt: skip
    for arguments in calls:
        code, out, _ = moot(*arguments)
        assert code == 0
        assert not set(out) & {*map(chr, range(32)), *map(chr, range(127, 160)), "\u202e"} - {"\n", "\t"}, (
            arguments
        )
    assert "words" in moot("show")[1]


def test_a_failed_debate_exits_with_1_and_says_what_to_do(moot: Moot, monkeypatch: pytest.MonkeyPatch):
    from moot.core.errors import Fault
    from moot.providers.scripted import FaultCue

    monkeypatch.setattr(
        "moot.providers.scripted.improvise", lambda _request: [FaultCue(Fault("bad_key", "permanent"))]
    )
    code, out, err = moot("Cats are better than dogs", *DEMO)
    assert code == 1
    assert "A model cannot be used." in out
    assert "To try again: moot resume deb_" in err


def test_a_reader_who_leaves_is_no_drama(data: Path, hold: Hold):
    hold()
    shown = subprocess.Popen(
        [*MOOT, "show"], env=environment(data), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert shown.stdout is not None
    assert shown.stderr is not None
    shown.stdout.close()
    assert shown.wait(60) == 141
    assert shown.stderr.read() == b""
    shown.stderr.close()
