"""Steering a debate that another process runs, or that nobody runs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.conftest import Hold, Moot
from tests.cli.terminal import environment
from tests.support.moot_process import Moot as Program


class Running:
    """A slow debate in another process; its events can be awaited."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def until(self, tag: str, **members: str) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)["event"]
            if event["type"] == tag and members.items() <= event.items():
                return event
        _, err = self.process.communicate()
        raise AssertionError(f"never saw {tag}: {self.process.returncode}, {err}")


@contextmanager
def running(data: Path, *arguments: str, pace_ms: int = 15) -> Iterator[Running]:
    command = [
        "Cats are better than dogs",
        "--model",
        "scripted/demo",
        "--rounds",
        "2",
        "--json",
        *arguments,
    ]
    env = environment(data, pace_ms=pace_ms)
    process = Program(*command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield Running(process)
    finally:
        process.kill()
        process.communicate()


def test_a_remark_a_skip_and_a_stop_reach_the_process_that_runs_the_debate(data: Path, moot: Moot):
    with running(data) as debate:
        debate.until("call.delta", kind="text")
        assert moot("inject", "last", "Mind the cost.", "--to", "against")[0] == 0
        remark = debate.until("remark.injected")
        assert remark == {"type": "remark.injected", "remark": 1, "text": "Mind the cost.", "to": "part_2"}
        assert moot("skip") == (0, "Skipped.\n", "")
        debate.until("turn.interrupted")
        debate.until("call.delta", kind="text")
        assert moot("stop", "last", "--reason", "Dinner.")[0] == 0
        debate.until("judging.started")
        assert debate.until("debate.ended")["reason"] == "stopped"
        assert debate.process.wait(60) == 0
    assert "A remark from the floor to Opposition: “Mind the cost.”" in moot("show")[1]


def test_a_pause_from_outside_ends_the_run_and_says_how_to_go_on(data: Path, moot: Moot):
    with running(data) as debate:
        debate.until("call.delta", kind="text")
        assert moot("pause", "--now") == (0, "Paused.\n", "")
        debate.until("debate.paused")
        assert debate.process.wait(60) == 130
    code, out, _ = moot("decide", "last", "Opposition", "--reason", "It was late.")
    assert (code, out) == (0, "Decided.\n")
    assert "Opposition wins" in moot("show")[1]
    code, _, err = moot("resume")
    assert code == 1
    assert "The debate is over. (status: completed)" in err


def test_a_debate_whose_process_died_is_taken_up_where_it_was(data: Path, moot: Moot):
    with running(data, pace_ms=50) as debate:
        debate.until("call.delta", kind="text")
        debate.process.kill()
        debate.process.wait()
    code, out, err = moot("watch")
    assert "Continue: moot resume deb_" in err
    moot("pause")
    code, out, err = moot("resume", "--step", "turn")
    assert code == 130
    assert "A step: it pauses after this speech." in out + err
    code, out, _ = moot("resume")
    assert code == 0
    assert "── Verdict ──" in out
    assert "Cut short by a crash." in moot("show")[1]


def test_judging_early_is_done_here_when_nobody_runs_the_debate(data: Path, moot: Moot):
    with running(data, pace_ms=5) as debate:
        debate.until("turn.completed")
        moot("pause", "--now")
        debate.process.wait(60)
    code, out, _ = moot("judge")
    assert code == 0
    assert out.startswith("The judge is asked.\n")
    assert "── Verdict ──" in out
    assert "The debate was judged early." in out


def test_what_cannot_be_done_now_is_refused_with_the_reason(hold: Hold, moot: Moot):
    hold(rounds=1)
    for arguments in (["pause"], ["skip"], ["stop"], ["abort"], ["retry"], ["next-round"], ["judge"]):
        code, out, err = moot(*arguments)
        assert code == 1, arguments
        assert out == ""
        assert "(status: completed)" in err
    assert moot("decide", "last", "nobody")[0] == 2
    assert moot("inject", "last", "Hello")[0] == 1


def test_aborting_a_paused_debate_ends_it_without_a_verdict(data: Path, moot: Moot):
    with running(data) as debate:
        debate.until("call.delta", kind="text")
        moot("pause", "--now")
        debate.process.wait(60)
    assert moot("abort") == (0, "Aborted.\n", "")
    assert "The debate was aborted; nothing was judged." in moot("show")[1]


def test_in_manual_mode_each_round_is_asked_for(moot: Moot):
    code, _, hint = moot("Cats are better than dogs", "--model", "scripted/demo", "--rounds", "2", "--manual")
    assert code == 0
    assert "moot next-round" in hint
    assert "Opening statement" in moot("next-round", "last")[1]
    code, told, _ = moot("next-round", "last")
    assert code == 0
    assert "Verdict" in told


def test_a_person_decides_where_they_asked_to(moot: Moot):
    _, _, hint = moot("Cats are better than dogs", "--model", "scripted/demo", "--rounds", "1", "--decide")
    assert "moot decide" in hint
    assert moot("decide", "last", "Opposition")[0] == 0
    assert "demo v. itself" in moot("list")[1]
