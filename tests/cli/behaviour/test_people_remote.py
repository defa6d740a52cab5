"""People at their terminals, and the debate on a server: the same questions, the same answers."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from moot.client import AudiencePolls, Client, DebateConfig, DebaterConfig
from tests.cli.terminal import environment, piped
from tests.client.serving import Served, served

MOTION = "Tea is better than coffee"
MODEL = "scripted/demo"
MODELS = (DebaterConfig("Ada", MODEL, "for"), DebaterConfig("Bob", MODEL, "against"))
ID = re.compile(r"deb_[0-9A-Z]{26}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "here")


def on(
    server: Served, env: dict[str, str], *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return piped(env, *arguments, "--server", server.url, stdin=stdin)


def waiting(client: Client, id: str, seat: str) -> None:
    end = time.monotonic() + 30
    while client.seat(id, seat).turn is None:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_person_speaks_here_in_a_debate_that_is_held_there(server: Served, env: dict[str, str]):
    done = on(
        server, env, MOTION, "--for", "human", "--against", MODEL, "--stand-in", MODEL, "--rounds", "1",
        "--person-seconds", "60", "--judge", "human", "--judge", "scripted/other",
        stdin="Tea is calm.\n\nfor\nCalmer.\n\n1\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "a person · scripted/demo stands in" in done.stdout
    assert "    Tea is calm.\n    3 words by hand\n" in done.stdout
    assert "Thinks:" not in done.stdout
    assert "You speak for the motion: Opening statement, 200 words, 1:00 minutes." in " ".join(
        done.stderr.split()
    )
    found = ID.search(done.stdout)
    assert found
    told = on(server, env, "verdicts", found[0]).stdout
    assert "Calmer." in told
    again = on(server, env, "rejudge", found[0], "--judge", "scripted/third", "--criterion", "Clarity")
    assert again.returncode == 0, again.stderr
    assert "── Judged again ──" in again.stdout
    assert "Judged again, 1" in on(server, env, "verdicts", found[0]).stdout


def test_an_invited_person_is_asked_at_their_own_terminal(server: Served, env: dict[str, str]):
    with Client(server.url) as client:
        person = (DebaterConfig("Ada", "human", "for", stand_in=MODEL), MODELS[1])
        debate = client.create(MOTION, participants=person, judge=MODEL, config=DebateConfig(max_rounds=1))
        ada = debate.participants[0].id
        made = on(server, env, "invite", debate.id, "participant", "--seat", "Ada", "--name", "Zoe")
        assert made.returncode == 0, made.stderr
        token = made.stdout.strip().rpartition("#token=")[2]
        waiting(client, debate.id, ada)
        guest = {**env, "MOOT_TOKEN": token}
        there = on(server, guest, "watch", debate.id, "--as", "Ada", stdin="Invited, I came.\n\n")
    assert there.returncode == 0, there.stderr
    assert "Invited, I came." in there.stdout
    assert "Thinks:" not in there.stdout
    assert "Zoe" in on(server, env, "invite", debate.id).stdout
    refused = on(server, guest, "stop", debate.id)
    assert refused.returncode == 1
    assert on(server, env, "invite", debate.id, "--withdraw", "Zoe").returncode == 0


def test_seats_drafts_and_questions_over_the_line(server: Served, env: dict[str, str]):
    with Client(server.url) as client:
        manual = DebateConfig(max_rounds=1, auto_progress=False)
        debate = client.create(MOTION, participants=MODELS, judge=MODEL, config=manual)
        bob = debate.participants[1].id
        while client.status(debate.id).status != "awaiting_arguments":
            time.sleep(0.02)
        assert on(server, env, "take", debate.id, "Bob").returncode == 0
        assert on(server, env, "ask", debate.id, "Why?", "--to", "Bob").returncode == 0
        assert on(server, env, "next-round", debate.id).returncode == 0
        waiting(client, debate.id, bob)
        for arguments in (
            ("draft", debate.id, "Coffee"), ("extend", debate.id, "--seconds", "30"),
            ("say", debate.id, "Coffee wakes."),
        ):  # fmt: skip
            done = on(server, env, *arguments)
            assert done.returncode == 0, done.stderr
        assert on(server, env, "point", debate.id, "no").returncode == 1
    page = on(server, env, "watch", debate.id).stdout
    assert "    Coffee wakes.\n" in page
    assert "A question from the floor" in page
    assert "to Bob: “Why?”" in page


def test_votes_are_counted_there_and_shown_here(server: Served, env: dict[str, str]):
    with Client(server.url) as client:
        audience = DebateConfig(max_rounds=1, polls=AudiencePolls(before=False), winning_condition="audience")
        debate = client.create(MOTION, participants=MODELS, judge=MODEL, config=audience)
        while not client.polls(debate.id).polls:
            time.sleep(0.02)
    assert on(server, env, "vote", debate.id, "against").returncode == 0
    assert "after the debate\t1 vote, open" in on(server, env, "polls", debate.id).stdout
    assert on(server, env, "polls", "close", debate.id).returncode == 0
    told = on(server, env, "polls", debate.id).stdout
    assert "Against, by a majority of 100 points" in told
    page = on(server, env, "watch", debate.id).stdout
    assert "The vote is closed: 1 vote." in page
    assert "Bob wins" in page
    assert f"Results: moot polls {debate.id} --server" in page
    assert "| After the debate | 0 (0%) | 1 (100%) |" in on(server, env, "export", debate.id).stdout


def test_one_of_a_whole_audience_joins_votes_and_asks(server: Served, env: dict[str, str]):
    with Client(server.url) as client:
        polls = DebateConfig(max_rounds=1, polls=AudiencePolls())
        debate = client.create(MOTION, participants=MODELS, judge=MODEL, config=polls)
        while not client.polls(debate.id).polls:
            time.sleep(0.02)
    link = on(server, env, "invite", debate.id, "audience", "--many").stdout.strip()
    assert link.startswith(f"{server.url}/debate/{debate.id}#token=")
    hall = {**env, "MOOT_TOKEN": link.rpartition("=")[2]}
    refused = on(server, hall, "vote", debate.id, "for")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    joined = on(server, hall, "join", "last", "--name", "Zoe")
    assert joined.returncode == 0, joined.stderr
    zoe = {**env, "MOOT_TOKEN": joined.stdout.strip()}
    assert on(server, zoe, "vote", debate.id, "for").returncode == 0
    assert on(server, zoe, "ask", debate.id, "Who pays?").returncode == 0
    assert on(server, zoe, "pause", debate.id).returncode == 1


def test_who_comes_back_to_a_servers_debate_finds_their_draft(server: Served, env: dict[str, str]):
    options = ("--for", "human", "--against", MODEL, "--rounds", "1")
    assert on(server, env, MOTION, *options, stdin="Half a speech.\n/quit\n").returncode == 130
    resumed = on(server, env, "resume", "last", stdin="The other half.\n\n")
    assert resumed.returncode == 0, resumed.stderr
    assert "Kept from before: Half a speech." in resumed.stderr
    assert "    Half a speech.\n    The other half.\n" in resumed.stdout
