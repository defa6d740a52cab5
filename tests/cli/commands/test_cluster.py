"""Servers and workers that share a PostgreSQL, from the terminal."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from subprocess import PIPE
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen
from uuid import uuid4

import psycopg
import pytest

from moot.client import Client, DebateConfig, DebaterConfig
from tests.chaos.servers import quiet_port
from tests.cli.conftest import Moot
from tests.cli.terminal import environment, piped
from tests.support.moot_process import Moot as Process
from tests.support.postgres import Proxy, away, postgres_url
from tests.support.redis import Redis
from tests.support.tls import Certificate, TlsProxy

__all__ = ["postgres_url"]

MODEL = "scripted/demo"
MOTION = "This house would ban homework."
SPEAKERS = (DebaterConfig("Ada", MODEL, "for"), DebaterConfig("Ben", MODEL, "against"))
Seen = TypeVar("Seen")


@pytest.fixture
def env(postgres_url: str, tmp_path: Path) -> dict[str, str]:
    """Of processes that share a database which nobody else has."""
    name = f"c{uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    head, _, tail = postgres_url.partition("?")
    url = f"{head.rpartition('/')[0]}/{name}?{tail}"
    return {**environment(tmp_path), "MOOT_STORE": url, "MOOT_HEARTBEAT_S": "0.2", "MOOT_STALL_S": "2"}


@contextmanager
def running(env: dict[str, str], *arguments: str) -> Generator[subprocess.Popen[str]]:
    process = Process(*arguments, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def node(env: dict[str, str]) -> Generator[str]:
    """A server that runs no debates; its address."""
    arguments = ("serve", "--no-run", "--port", "0")
    with Process(
        *arguments, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield re.findall(r"http://[^ ]*\d", process.stdout.readline())[0]
        finally:
            process.kill()


def until(look: Callable[[], Seen], enough: Callable[[Seen], bool]) -> Seen:
    while True:
        if enough(seen := look()):
            return seen
        time.sleep(0.05)


def status(env: dict[str, str]) -> dict[str, Any]:
    return json.loads(piped(env, "cluster", "status", "--json").stdout)


@pytest.mark.parametrize("arguments", [["work"], ["serve", "--no-run"], ["cluster", "status"]])
def test_where_the_log_is_a_file_there_are_no_workers(moot: Moot, arguments: list[str]):
    code, out, err = moot(*arguments)
    assert (code, out) == (2, "")
    assert "MOOT_STORE=postgresql://" in err


def test_a_worker_runs_at_least_one_debate(moot: Moot):
    code, _, err = moot("work", "--concurrency", "0")
    assert code == 2
    assert "--concurrency" in err


def test_a_worker_is_seen_works_and_leaves(env: dict[str, str]):
    with running(env, "serve", "--no-run", "--port", "0"), running(env, "work", "--port", "0") as worker:
        assert worker.stdout is not None
        url = worker.stdout.readline().split()[-1].rstrip(".")
        with urlopen(url) as reply:  # noqa: S310 - our own worker, on this machine
            assert json.load(reply)["status"] == "ok"
        with urlopen(url.replace("/health/ready", "/metrics")) as reply:  # noqa: S310 - likewise
            assert b"moot_events_total" in reply.read()
        shown = piped(env, "cluster", "status")
        assert shown.returncode == 0
        assert "worker" in shown.stdout
        assert "api" in shown.stdout
        assert "0 running, 0 waiting" in shown.stdout
        assert "Redis: not used." in shown.stdout
        worker.send_signal(signal.SIGTERM)
        assert worker.wait() == 0
        with pytest.raises(URLError):
            urlopen(url)  # noqa: S310 - likewise
        assert [node["role"] for node in status(env)["nodes"]] == ["api"]


def test_debates_that_wait_for_nobody_are_a_failure(env: dict[str, str]):
    with node(env) as url, Client(url) as client:
        debate = client.create(MOTION, participants=SPEAKERS, judge=MODEL, config=DebateConfig(max_rounds=1))
        waiting = until(lambda: piped(env, "cluster", "status"), lambda shown: shown.returncode == 1)
        assert "1 waiting for a worker" in waiting.stdout
        assert "Start one: moot work" in waiting.stdout
        with running(env, "work"):
            until(lambda: client.status(debate.id), lambda debate: debate.status == "completed")
        assert piped(env, "cluster", "status").returncode == 0


def test_a_debate_at_a_terminal_is_held_there(env: dict[str, str]):
    held = piped(env, MOTION, "--model", MODEL, "--rounds", "1")
    assert held.returncode == 0
    assert status(env)["nodes"] == []


def test_whoever_waits_at_a_terminal_is_told_that_the_database_is_away_and_may_leave(
    env: dict[str, str], postgres_url: str
):
    slow = {**env, "MOOT_SCRIPT_PACE_MS": "50"}
    terminal = Process(MOTION, "--model", MODEL, "--json", env=slow, stdout=PIPE, stderr=PIPE, text=True)
    with terminal as holding:
        try:
            assert holding.stdout is not None
            assert holding.stderr is not None
            debate = json.loads(holding.stdout.readline())["debate"]
            with away(env["MOOT_STORE"], postgres_url):
                told = holding.stderr.readline()
                holding.send_signal(signal.SIGINT)
                code = holding.wait()
            last = holding.stderr.read()
        finally:
            holding.kill()
    assert "waiting for it. Ctrl-C leaves" in told
    assert code == 130
    assert f"moot resume {debate}" in " ".join(last.split())
    resumed = piped(env, "resume", debate)
    assert resumed.returncode == 0


@contextmanager
def early(env: dict[str, str], *arguments: str) -> Generator[subprocess.Popen[str]]:
    """A process that came before its database, once it has said so."""
    with Process(*arguments, env=env, stdout=PIPE, stderr=PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert re.search(r"The database .*\. Waiting for it\.", process.stderr.readline())
            yield process
        finally:
            process.kill()


def test_who_comes_before_the_database_waits_for_it_and_may_leave(env: dict[str, str], postgres_url: str):
    with ExitStack() as held:
        with away(env["MOOT_STORE"], postgres_url):
            node = held.enter_context(early(env, "serve", "--no-run", "--port", "0"))
            worker = held.enter_context(early(env, "work"))
            glance = piped(env, "list")
            worker.send_signal(signal.SIGTERM)
            assert worker.wait() == 0
        assert node.stdout is not None
        assert "Moot is at" in node.stdout.readline()
    assert (glance.returncode, glance.stdout) == (1, "")
    assert "The database cannot be reached." in glance.stderr


def asked(url: str) -> tuple[int, dict[str, Any]]:
    try:
        with urlopen(url) as reply:  # noqa: S310 - our own process, on this machine
            return reply.status, json.load(reply)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.mark.parametrize("start", [("serve", "--no-run"), ("work",)])
def test_a_process_that_waits_for_its_database_lives_and_is_not_ready(
    env: dict[str, str], postgres_url: str, start: tuple[str, ...]
):
    port = quiet_port()
    at = f"http://127.0.0.1:{port}/health"

    def live() -> int:
        try:
            return asked(f"{at}/live")[0]
        except URLError:
            return 0

    with ExitStack() as held:
        with away(env["MOOT_STORE"], postgres_url):
            process = held.enter_context(early(env, *start, "--port", str(port)))
            until(live, lambda code: code == 200)
            assert asked(f"{at}/ready") == (503, {"status": "starting"})
            assert asked(f"http://127.0.0.1:{port}/api/v1/debates")[0] == 503
        assert process.stdout is not None
        assert process.stdout.readline()
        until(lambda: asked(f"{at}/ready"), lambda told: told == (200, {"status": "ok", "store": "ok"}))


def test_a_server_that_is_told_to_stop_is_not_ready_and_answers_for_the_time_that_was_set(
    env: dict[str, str],
):
    slow = {**env, "MOOT_DRAIN_S": "1000"}
    with Process("serve", "--no-run", "--port", "0", env=slow, stdout=PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = re.findall(r"http://[^ ]*\d", server.stdout.readline())[0]
            assert asked(f"{url}/health/ready")[0] == 200
            server.send_signal(signal.SIGTERM)
            until(lambda: asked(f"{url}/health/ready"), lambda told: told == (503, {"status": "stopping"}))
            assert asked(f"{url}/health/live")[0] == 200
            with Client(url) as client:
                debate = client.create(MOTION, participants=SPEAKERS, judge=MODEL)
                assert client.status(debate.id).status != "completed"
            server.send_signal(signal.SIGTERM)
            assert server.wait() == 128 + signal.SIGTERM, "a second signal ends it at once"
        finally:
            server.kill()


def test_a_worker_logs_the_start_the_end_and_the_cost_of_each_debate(env: dict[str, str]):
    with (
        node(env) as url,
        Client(url) as client,
        Process("work", env={**env, "MOOT_LOG": "json"}, stdout=PIPE, stderr=PIPE, text=True) as worker,
    ):
        try:
            wish = {"participants": SPEAKERS, "judge": MODEL, "config": DebateConfig(max_rounds=1)}
            debate = client.create(MOTION, **wish)
            assert worker.stderr is not None
            told = [json.loads(worker.stderr.readline()) for _ in range(2)]
        finally:
            worker.kill()
    assert [line["event"] for line in told] == ["a debate starts here", "a debate has ended"]
    assert {line["debate"] for line in told} == {debate.id}
    assert told[-1]["status"] == "completed"
    assert {"cost_usd", "seconds"} <= told[-1].keys()


def test_a_process_that_died_is_marked_with_its_age(env: dict[str, str]):
    with running(env, "work"):
        with running(env, "work") as victim:
            victim.kill()
            victim.wait()
        told = until(lambda: status(env)["nodes"], lambda nodes: any(node["dead"] for node in nodes))
        assert {node["pid"]: node["dead"] for node in told}[victim.pid]
        assert [node["dead"] for node in told].count(False) == 1
        shown = piped(env, "cluster", "status").stdout
    assert re.search(rf"{victim.pid}.*dead, seen \d+ s ago", shown)
    assert shown.count("alive") == 1


def test_the_metrics_of_a_worker_are_for_the_operator_and_for_monitors(env: dict[str, str]):
    words = {
        role: piped(env, "token", "new", role, "--role", role).stdout.strip()
        for role in ("monitor", "viewer")
    }
    with running(env, "work", "--port", "0") as worker:
        assert worker.stdout is not None
        url = worker.stdout.readline().split()[-1].rstrip(".").replace("/health/ready", "/metrics")

        def code(word: str) -> int:
            try:
                with urlopen(Request(url, headers={"Authorization": f"Bearer {word}"})) as reply:  # noqa: S310
                    return reply.status
            except HTTPError as error:
                with error:
                    return error.code

        assert {role: code(word) for role, word in words.items()} == {"monitor": 200, "viewer": 403}


def test_the_database_shows_which_program_a_connection_is_of(env: dict[str, str]):
    def names() -> set[str]:
        with psycopg.connect(env["MOOT_STORE"], application_name="the tests") as connection:
            rows = connection.execute(
                "SELECT application_name FROM pg_stat_activity WHERE datname = current_database()"
            ).fetchall()
        return {name for (name,) in rows}

    with node(env), running(env, "work"):
        until(names, lambda seen: seen >= {"moot serve", "moot work"})
        assert names() == {"moot serve", "moot work", "the tests"}, "none is without a name"
    own = {**env, "MOOT_STORE": f"{env['MOOT_STORE']}&application_name=ours"}
    with running(own, "work"):
        until(names, lambda seen: "ours" in seen)


START = {"node": ("serve", "--no-run", "--port", "0"), "worker": ("work",)}
READY = {"node": "Moot is at", "worker": "This worker runs"}


@pytest.mark.parametrize("number", range(1, 9))
def test_a_process_that_loses_a_connection_while_it_starts_becomes_ready(env: dict[str, str], number: int):
    """Whichever it is, and whether it is refused or cut at its first statement. Those of a high number come
    when the process is ready, or never."""
    piped(env, "list")
    with ExitStack() as held:
        starting: list[tuple[str, subprocess.Popen[str]]] = []
        for name, later in product(START, (False, True)):
            proxy = held.enter_context(Proxy(env["MOOT_STORE"], number, later=later))
            behind = {**env, "MOOT_STORE": proxy.url}
            process = Process(*START[name], env=behind, stdout=PIPE, stderr=PIPE, text=True)
            starting.append((name, held.enter_context(process)))
            held.callback(process.kill)
        for name, process in starting:
            assert process.stdout is not None
            assert process.stderr is not None
            assert READY[name] in process.stdout.readline(), process.stderr.read()


@pytest.mark.parametrize(
    ("name", "number"), [("node", 3), ("node", 4), ("worker", 3), ("worker", 4), ("worker", 5)]
)
def test_a_process_whose_database_goes_away_while_it_starts_waits_for_it_and_says_so(
    env: dict[str, str], name: str, number: int
):
    piped(env, "list")
    with ExitStack() as held:
        proxy = held.enter_context(Proxy(env["MOOT_STORE"], number, lasting=True))
        starting = held.enter_context(early({**env, "MOOT_STORE": proxy.url}, *START[name]))
        assert proxy.cut.wait(60)
        proxy.mend()
        assert starting.stdout is not None
        assert READY[name] in starting.stdout.readline()


def test_a_process_that_waits_for_its_queue_may_leave(env: dict[str, str]):
    piped(env, "list")
    with ExitStack() as held:
        proxy = held.enter_context(Proxy(env["MOOT_STORE"], 4, lasting=True))
        starting = held.enter_context(early({**env, "MOOT_STORE": proxy.url}, "work"))
        starting.send_signal(signal.SIGTERM)
        assert starting.wait() == 0


def test_who_is_not_let_in_does_not_wait(env: dict[str, str]):
    refused = piped({**env, "MOOT_STORE": env["MOOT_STORE"].replace("?", "x?")}, "work")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "look at its name, at the user and at the password" in " ".join(refused.stderr.split())


def test_a_worker_with_nothing_to_do_tells_at_once_that_redis_cannot_be_used(
    env: dict[str, str], tmp_path: Path
):
    def plain() -> socket.socket:
        return socket.create_connection(("127.0.0.1", redis.port))

    with Redis() as redis, TlsProxy(Certificate(tmp_path), plain) as proxy:
        untrusted = {**env, "MOOT_BUS": f"rediss://127.0.0.1:{proxy.port}/0"}
        with Process("work", env=untrusted, stdout=PIPE, stderr=PIPE, text=True) as worker:
            try:
                assert worker.stderr is not None
                assert "its certificate is not trusted" in worker.stderr.readline()
            finally:
                worker.kill()
        told = " ".join(piped(untrusted, "cluster", "status").stdout.split())
        assert "Redis cannot be reached: its certificate is not trusted" in told
        assert "certificate is not trusted" in piped(untrusted, "doctor").stdout


def test_a_misspelt_setting_is_told_at_the_start(env: dict[str, str]):
    with Process("work", env={**env, "MOOT_HEARTBEATS": "1"}, stdout=PIPE, stderr=PIPE, text=True) as worker:
        try:
            assert worker.stderr is not None
            assert "Do you mean MOOT_HEARTBEAT_S?" in worker.stderr.readline()
        finally:
            worker.kill()
    assert "Do you mean MOOT_HEARTBEAT_S?" in piped({**env, "MOOT_HEARTBEATS": "1"}, "doctor").stdout


def test_a_server_whose_log_cannot_be_made_here_does_not_wait(tmp_path: Path):
    (tmp_path / "taken").write_text("a file, not a folder")
    refused = piped(environment(tmp_path / "taken" / "data"), "serve", "--port", "0")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "Waiting" not in refused.stderr


def test_a_worker_shows_its_figures_to_strangers_only_with_a_token(env: dict[str, str]):
    refused = piped(env, "work", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 2
    assert "a token is needed" in refused.stderr


def test_who_watches_a_debate_that_waits_for_a_worker_waits_with_it(env: dict[str, str]):
    full = {**env, "MOOT_WORKER_DEBATES": "1", "MOOT_SCRIPT_PACE_MS": "5"}
    with node(full) as url, running(full, "work"):
        with Client(url) as client:
            wish = {"participants": SPEAKERS, "judge": MODEL, "config": DebateConfig(max_rounds=1)}
            waiting = [client.create(MOTION, **wish) for _ in range(2)][-1]
        assert "All rounds were held." in piped(full, "watch", waiting.id).stdout
