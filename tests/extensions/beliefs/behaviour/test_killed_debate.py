"""A debate with every private question on, killed in the middle of one, resumed, and shown."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from tests.cli.terminal import environment, piped

MOTION = "Zoos do more good than harm"
OPTIONS = (
    "--beliefs",
    "--model-audience",
    "--rounds",
    "1",
    "--judge",
    "scripted/owl",
    "--model",
    "scripted/a",
)


def test_a_debate_with_beliefs_survives_a_kill_keeps_its_limit_and_shows_them(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text('[prices."scripted/*"]\ninput = "1"\noutput = "2"\n', "utf-8")
    env = environment(tmp_path)
    limit = ("--cost-limit", "0.9")
    killed = piped({**env, "MOOT_CRASH_AT": "answer-heard:12"}, MOTION, *OPTIONS, *limit, "--plain")
    assert killed.returncode == -signal.SIGKILL
    done = piped(env, "resume", "last", "--plain")
    assert done.returncode == 0, done.stdout + done.stderr
    events = [json.loads(line)["event"] for line in piped(env, "show", "last", "--json").stdout.splitlines()]
    asked = [event for event in events if event["type"] == "aside.asked"]
    answered = [event["aside"] for event in events if event["type"] == "aside.answered"]
    lost = [event["aside"] for event in events if event["type"] == "aside.failed" and event.get("lost")]
    assert lost
    keys = {
        tuple(event.get(name) for name in ("kind", "slot", "turn", "seat", "judge", "persona"))
        for event in asked
        if event["aside"] in answered
    }
    # 2 speeches: each speaker twice, the judge three times, eight personas twice.
    assert len(answered) == len(keys) == 4 + 3 + 16
    shown = piped(env, "show", "last", "--plain").stdout
    assert "Private beliefs" in shown
    assert "gave itself" in shown
    assert "8 models that voted both before and after" in shown
    prompt = tmp_path / "strict.txt"
    prompt.write_text("Count only what was proved.", "utf-8")
    again = ("experiment", "rejudge", "--search", "zoos", "--judge", "scripted/owl", "--prompt", str(prompt))
    assert "1 debate judged again." in piped(env, *again, "--allowance", "0.5").stdout
    assert "0 debates judged again." in piped(env, *again, "--allowance", "0.5").stdout
    assert "Give the name" in piped(env, "experiment", "rejudge", "--judge", "scripted/owl").stderr
    exported = tmp_path / "debate.md"
    piped(env, "export", "last", "-o", str(exported))
    assert "## Model audience" in exported.read_text("utf-8")
