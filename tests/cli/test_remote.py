"""The terminal against a running server: the same page as here, the same commands, nothing kept here."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from moot.cli.remote import KnownLog
from moot.client import Client, Record
from moot.core.events import CallDelta, DebateOpened, decode_recorded
from moot.core.evolve import fold
from tests.cli.terminal import Terminal, environment, piped, words
from tests.client.serving import Served, served
from tests.support.moot_process import Moot

MOTION = "Cats are better than dogs"
ID = re.compile(r"deb_[0-9A-Z]{26}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture
def slow(tmp_path: Path) -> Generator[Served]:
    with served(tmp_path / "served", pace_ms=10) as running:
        yield running


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "here")


def on(server: Served, env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return piped(env, *arguments, "--server", server.url)


def held(server: Served, env: dict[str, str], *options: str) -> str:
    done = on(server, env, MOTION, "--rounds", "1", *options)
    assert done.returncode == 0, done.stderr
    found = ID.search(done.stdout)
    assert found
    return found[0]


def test_a_debate_on_a_server_looks_like_one_held_here(server: Served, env: dict[str, str], tmp_path: Path):
    page = tmp_path / "debate.html"
    there = on(server, env, MOTION, "--rounds", "2", "--output", str(page))
    here = piped(server.env, "show", "last")
    assert there.returncode == 0
    assert there.stdout == here.stdout
    assert "Round 2 of 2" in there.stdout
    assert "scripted/demo" in there.stdout
    assert MOTION in page.read_text("utf-8")
    assert not (tmp_path / "here").exists()


def test_with_json_it_is_the_log(server: Served, env: dict[str, str]):
    done = on(server, env, MOTION, "--rounds", "1", "--json")
    records = [decode_recorded(line) for line in done.stdout.splitlines()]
    debate = fold(records)
    assert debate is not None
    assert (debate.status, [record.seq for record in records]) == ("completed", [*range(1, len(records) + 1)])


def test_the_options_reach_the_server(server: Served, env: dict[str, str]):
    done = on(
        server, env, MOTION,
        "--for", "scripted/a", "--against", "scripted/b", "--judge", "scripted/c",
        "--format", "panel", "--rounds", "1", "--intensity", "5", "--timeout", "33",
        "--cost-limit", "2.5", "--warn-at", "1", "--json",
        "--persona-for", "A sailor.", "--objective-against", "Stall.",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    opened = decode_recorded(done.stdout.splitlines()[0]).event
    assert isinstance(opened, DebateOpened)
    assert [seat.model.name for seat in opened.seats] == ["a", "b", "a"]
    assert opened.judges[0].model.name == "c"
    assert (opened.seats[0].persona, opened.seats[1].objective) == ("A sailor.", "Stall.")
    assert (str(opened.limits.cost_limit), opened.limits.turn_seconds) == ("2.5", 33.0)
    assert (opened.limits.rounds, opened.setup.intensity) == (1, 5)


def test_the_server_may_be_named_in_the_environment(server: Served, env: dict[str, str]):
    env = {**env, "MOOT_SERVER": server.url}
    done = piped(env, MOTION, "--rounds", "1")
    assert done.returncode == 0
    assert "--server" not in done.stderr
    found = ID.search(done.stdout)
    assert found
    assert piped(env, "show", found[0]).stdout == done.stdout


def test_watching_from_the_start_and_looking_away(slow: Served, env: dict[str, str]):
    with Client(slow.url) as client, Terminal(env, MOTION, "--server", slow.url, "--rounds", "1"):
        while not (debates := client.list().debates):
            time.sleep(0.05)
        with Terminal(env, "watch", "last", "--server", slow.url) as watching:
            watching.until("Opening statement")
            watching.until("Ctrl-C stops watching")
            watching.type("\x03")
            assert watching.ended() == 130
            again = f"moot watch {debates[0].id} --server {slow.url}"
            assert again in words(watching.output).replace("\n", " ").replace("  ", " ")
        whole = on(slow, env, "watch", debates[0].id)
        assert whole.returncode == 0
        assert "── Verdict" in whole.stdout
        assert client.status(debates[0].id).status == "completed"


def test_an_interrupt_pauses_it_there_and_it_can_be_resumed(slow: Served, env: dict[str, str]):
    running = Moot(
        *(MOTION, "--server", slow.url, "--rounds", "1", "--json"),
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    while b"call.delta" not in running.stdout.readline():
        pass
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"debate.paused" in out
    advice = re.search(r"moot resume (deb_\w+) --server (\S+)", " ".join(err.decode().split()))
    assert advice
    assert advice[2] == slow.url
    resumed = on(slow, env, "resume", advice[1])
    assert resumed.returncode == 0
    assert "── Verdict" in resumed.stdout


def test_a_server_that_is_away_is_waited_for_and_that_is_said_once(slow: Served, env: dict[str, str]):
    running = Moot(
        *(MOTION, "--server", slow.url, "--rounds", "1", "--json"),
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    lines = []
    while not lines or b"call.delta" not in lines[-1]:
        lines.append(running.stdout.readline())
    slow.kill()
    told = running.stderr.readline().decode()
    assert told == "The server cannot be reached; waiting for it. Ctrl-C leaves.\n"
    slow.start()
    # Not `communicate`, which knows nothing of what was read ahead for a line.
    with running:
        lines += running.stdout.readlines()
        assert (running.wait(), running.stderr.read()) == (0, b"")
    records = [decode_recorded(line) for line in lines]
    assert [record.seq for record in records] == [*range(1, len(records) + 1)]
    debate = fold(records)
    assert debate is not None
    assert debate.status == "completed"


def test_a_debate_is_steered_from_here(server: Served, env: dict[str, str]):
    done = on(server, env, MOTION, "--rounds", "2", "--manual")
    debate_id = ID.search(done.stdout)
    assert debate_id
    id = debate_id[0]
    assert f"moot next-round {id} --server" in " ".join(done.stderr.split())
    assert on(server, env, "inject", id, "Mind the cost.", "--to", "Opposition").returncode == 0
    assert on(server, env, "next-round", id).stdout == "The next round begins.\n"
    with Client(server.url) as client:
        while not client.status(id).rounds:
            time.sleep(0.02)
    judged = on(server, env, "judge", id)
    assert (judged.returncode, judged.stdout) == (0, "The judge is asked.\n"), judged.stderr
    assert "── Verdict" in on(server, env, "watch", id).stdout
    refused = on(server, env, "pause", id)
    assert refused.returncode == 1
    assert "(status: completed)" in refused.stderr


def test_debates_are_listed_shown_exported_and_deleted(server: Served, env: dict[str, str]):
    id = held(server, env)
    assert id in on(server, env, "list", "--limit", "1").stdout
    assert id in on(server, env, "list", "--status", "completed", "--search", MOTION[:9]).stdout
    assert on(server, env, "list", "--search", "nobody's motion").stdout == "No debate fits that.\n"
    assert on(server, env, "show", id[-8:]).stdout.splitlines()[1] == f"  {MOTION}"
    assert on(server, env, "export", id).stdout.startswith(f"# Debate: {MOTION}")
    assert "── Verdict" in on(server, env, "replay", id, "--speed", "max").stdout
    assert on(server, env, "delete", id, "--yes").stdout == f"Deleted {id}.\n"
    gone = on(server, env, "show", id)
    assert gone.returncode == 2
    assert "There is no debate" in gone.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Cats dog",), "motion: Must be between 10 and 500 characters"),
        ((MOTION, "--rounds", "11"), "--rounds: Must be between 1 and 10"),
        ((MOTION, "--for", "nobody/x"), "--for: Must be one of: anthropic, openai, google, mistral"),
        ((MOTION, "--judge", "openai/gpt-5"), "--judge: No API key configured for this provider"),
        ((MOTION, "--model", "demo"), "'demo' should be written as provider/model."),
        ((MOTION, "--format", "brawl"), "format: Must be one of: oxford, lincoln-douglas, roundtable"),
        ((MOTION, "--cost-limit", "much"), "'much' is not an amount of money."),
        ((MOTION, "--seed", "1", "--turns", "4"), "Not possible with --server: --turns, --seed."),
        ((MOTION, "--judge", "none"), "Not possible with --server: --judge none."),
        (("show", "nothing"), "There is no debate 'nothing'."),
    ],
)
def test_what_is_wrong_is_said_by_its_option(
    server: Served, env: dict[str, str], arguments: tuple[str, ...], said: str
):
    done = on(server, env, *arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_where_nobody_answers_it_says_what_to_do(env: dict[str, str]):
    done = piped(env, MOTION, "--server", "127.0.0.1:9")
    assert done.returncode == 1
    assert "No Moot server answers at http://127.0.0.1:9." in done.stderr
    assert "moot serve" in done.stderr
    wrong = piped(env, "list", "--server", "gopher://x")
    assert wrong.returncode == 2
    assert "is not the address of a server" in wrong.stderr


def test_a_token_lets_in(env: dict[str, str], tmp_path: Path):
    with served(tmp_path / "served", MOOT_TOKEN="correct-horse-battery") as server:
        refused = on(server, env, MOTION)
        assert refused.returncode == 1
        assert "Put a token of this server into MOOT_TOKEN." in refused.stderr
        held(server, {**env, "MOOT_TOKEN": "correct-horse-battery"})


def test_what_a_viewer_may_not_see_leaves_no_gap():
    lines = (Path(__file__).parents[1] / "golden/reasoning.jsonl").read_bytes().splitlines()
    minutes = KnownLog("deb_1")
    for recorded in map(decode_recorded, lines):
        secret = isinstance(recorded.event, CallDelta) and recorded.event.kind == "reasoning"
        minutes.add(Record(recorded.seq, recorded.at, "", None if secret else recorded.event))
        minutes.add(Record(1, recorded.at, "", None))
    assert minutes.seq == len(lines)
    assert len(minutes.records) < len(lines)
    assert minutes.debate is not None
    assert minutes.debate.status == "completed"
