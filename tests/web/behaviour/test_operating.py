"""What an operator sees: the health of a node, its metrics, and log lines that name their request."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from moot import __version__
from moot.cluster import queue, redis_client
from moot.core.events import CallCompleted
from moot.core.log_fields import current_fields, log_fields
from moot.core.terms import Money, Request, Usage
from moot.engine.arena import Arena
from moot.providers.keys import Secret
from moot.providers.scripted import Cue, ScriptedProvider, improvise
from moot.settings import ClusterSettings, ServerSettings, Settings
from moot.store.contract import AccessToken, digest
from moot.store.postgres import connect
from moot.store.sqlite.store import SqliteStore
from moot.web import logging_setup
from moot.web.routes.metrics import MAX_MODELS, Metrics
from tests.support.postgres import empty_postgres, postgres_url
from tests.support.redis import Redis
from tests.web.apps import broken
from tests.web.conftest import Serving
from tests.web.raw_client import exchange, request
from tests.web.routes.served import serving as served

__all__ = ["empty_postgres", "postgres_url"]

log = logging.getLogger("moot.tests")

Lines = Callable[[], list[dict[str, Any]]]


def figure(page: str, name: str) -> float:
    return float(next(line.split()[-1] for line in page.splitlines() if line.startswith(f"{name} ")))


async def test_without_redis_a_node_is_degraded_and_stays_in_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where tests fill the machine, a Redis may take its time and is there all the same.
    monkeypatch.setattr(redis_client, "TICKS", 300)
    with Redis() as redis:
        async with served(tmp_path, cluster=ClusterSettings(bus=Secret(redis.url))) as house:

            async def told(path: str) -> tuple[int, str]:
                reply = await house.http.get(path)
                assert "127.0.0.1" not in reply.text
                return reply.status_code, reply.json()["status"]

            assert await told("/health/ready") == (200, "ok")
            assert await told("/api/health") == (200, "healthy")
            redis.kill()
            assert await told("/health/ready") == (200, "degraded")
            assert await told("/api/health") == (200, "degraded")
            assert figure((await house.http.get("/metrics")).text, "moot_bus_up") == 0
            assert await told("/health/live") == (200, "ok")


async def test_a_redis_that_refuses_us_is_told_of_once_and_missed_by_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Redis("sesame") as redis:
        wrong = Secret(redis.url.replace("sesame", "simsalabim"))
        async with served(tmp_path, cluster=ClusterSettings(bus=wrong)) as house:
            debate_id = await house.open()
            assert (await house.follow(debate_id))[-1][0] == "complete"
            assert (await house.http.get("/health/ready")).json()["status"] == "degraded"
    told = [record.getMessage() for record in caplog.records if "Redis" in record.getMessage()]
    assert len(told) == 1
    assert "password" in told[0]
    assert "simsalabim" not in caplog.text


async def test_without_its_log_a_node_takes_no_requests_but_shows_its_figures(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "moot.db")
    async with served(tmp_path, store=store) as house:
        assert figure((await house.http.get("/metrics")).text, "moot_store_up") == 1
        await store.close()
        for path in ("/health/ready", "/api/health"):
            reply = await house.http.get(path)
            assert (reply.status_code, reply.headers["Retry-After"]) == (503, "5")
            assert reply.json()["status"] == "unhealthy"
        page = await house.http.get("/metrics")
        assert page.status_code == 200
        assert figure(page.text, "moot_store_up") == 0
        assert (await house.http.get("/health/live")).status_code == 200


async def test_who_runs_how_many_debates_is_among_the_figures(tmp_path: Path) -> None:
    async with served(tmp_path, provider=ScriptedProvider(pace=0.05)) as house:
        debate_id = await house.open()
        await house.until(debate_id, lambda status: status["status"] == "debating")
        page = (await house.http.get("/metrics")).text
        assert figure(page, 'moot_debates_running{runner="memory"}') == 1
        assert figure(page, "moot_commit_seconds_count") > 0
        await house.post(debate_id, "stop")
        await house.over(debate_id)


def figures(page: str, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    """All values of a metric, by their labels."""
    found: dict[tuple[tuple[str, str], ...], float] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.name == name:
                found[tuple(sorted(sample.labels.items()))] = sample.value
    return found


async def test_requests_are_among_the_figures_by_what_they_were_for(tmp_path: Path) -> None:
    async with served(tmp_path) as house:
        debate_id = await house.open()
        assert (await house.follow(debate_id))[-1][0] == "complete"
        await house.http.get("/api/v1/debates/deb_none")
        await house.http.request("BREW", "/api/v1/debates")
        page = (await house.http.get("/metrics")).text
    requests = figures(page, "moot_http_requests_total")
    told = {(dict(labels)["area"], dict(labels)["method"], dict(labels)["status"]) for labels in requests}
    assert {("api", "POST", "201"), ("api", "GET", "404"), ("stream", "GET", "200")} <= told
    assert not any("BREW" in one for one in told), "whoever asks does not choose the labels"
    assert figures(page, "moot_refusals_total")[(("kind", "not-found"),)] == 1
    latency = figures(page, "moot_http_request_seconds_count")
    assert latency[(("area", "api"),)] >= 2
    assert (("area", "stream"),) not in latency, "a stream takes as long as its debate"


async def test_process_build_and_what_models_cost_are_among_the_figures(tmp_path: Path) -> None:
    async with served(tmp_path) as house:
        await house.follow(await house.open())
        page = (await house.http.get("/metrics")).text
    [build] = figures(page, "moot_build_info")
    assert dict(build)["version"] == __version__
    if sys.platform == "linux":
        assert figure(page, "process_resident_memory_bytes") > 0
    for name in ("moot_cost_usd_total", "moot_tokens_total"):
        labels = [dict(one) for one in figures(page, name)]
        assert labels
        assert {one["provider"] for one in labels} == {"scripted"}
        assert all(one["model"] not in ("", "unknown") for one in labels)
    assert sum(figures(page, "moot_tokens_total").values()) > 0


async def test_models_after_the_hundredth_are_one(tmp_path: Path) -> None:
    async with served(tmp_path) as house:
        measured = Metrics(house.arena, lambda: 0)
        for number in range(MAX_MODELS + 20):
            calls = call_metrics(measured)
            calls.started("deb_1", number, f"acme/model-{number}")
            calls.ended("deb_1", CallCompleted(number, "refusal", Usage(input=1), Money("0.5"), 10))
        page = (await measured.exposition()).decode()
    costs = figures(page, "moot_cost_usd_total")
    assert len(costs) == MAX_MODELS + 1
    assert costs[(("model", "other"), ("provider", "other"))] == 10
    assert len(figures(page, "moot_model_refusals_total")) == MAX_MODELS + 1


def call_metrics(metrics: Metrics) -> Any:
    return vars(metrics)["_calls"]


async def test_a_token_may_be_for_the_metrics_alone(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "moot.db")
    for word, role in (("the-monitor", "monitor"), ("the-owner", "owner")):
        await store.save_token(AccessToken(role, digest(word), role, "", datetime.now(UTC), None))
    async with served(tmp_path, store=store) as house:

        async def status(path: str, word: str) -> int:
            return (await house.http.get(path, headers={"Authorization": f"Bearer {word}"})).status_code

        assert await status("/metrics", "the-monitor") == 200
        assert await status("/metrics", "the-owner") == 403
        assert await status("/metrics", "nobody") == 401
        for path in ("/api/v1/debates", "/api/v1/models", "/api/v1/debates/deb_1", "/api/v1/tokens"):
            assert await status(path, "the-monitor") in (403, 404), path


async def test_the_figures_of_a_cluster_are_read_in_one_query(
    tmp_path: Path, empty_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, statements = asyncio.current_task(), list[str]()

    def counted(fetch: Callable[..., Any]) -> Callable[..., Any]:
        def note_and_fetch(connection: Any, question: str, params: Any = None) -> Any:
            if asyncio.current_task() is ours:
                statements.append(question)
            return fetch(connection, question, params)

        return note_and_fetch

    settings = Settings(data=tmp_path, scripted=True, cluster=ClusterSettings(store=Secret(empty_postgres)))
    async with Arena.open(settings, run=False) as arena:
        waiting = await arena.create(
            await arena.setup("Should homework be banned?", model="scripted/demo"), start=True
        )
        measured = Metrics(arena, lambda: 0)
        monkeypatch.setattr(connect, "fetch", counted(connect.fetch))
        monkeypatch.setattr(queue, "_fetch_dicts", counted(vars(queue)["_fetch_dicts"]))
        page = (await measured.exposition()).decode()
        assert len(statements) == 1
        assert figures(page, "moot_debates")[(("status", waiting.debate.status),)] == 1
        assert figure(page, "moot_log_bytes") == await arena.store.size()
        assert figure(page, "moot_store_up") == 1


async def test_where_nobody_watches_nothing_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path) as house:
        debate_id = await house.open()
        for _ in range(2):
            await house.follow(debate_id)
        async with asyncio.timeout(60):
            while any(task.get_name() == "clock of the streams" for task in asyncio.all_tasks()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


# --- to what a line belongs ------------------------------------------------------------------------------


@pytest.fixture
def lines(tmp_path: Path) -> Generator[Lines]:
    """What has been logged, line by line."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    settings = Settings(data=tmp_path, service=ServerSettings(log="json"))
    handler.setFormatter(logging_setup.LogFormatter(settings))
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.removeHandler(handler)
    root.setLevel(level)


async def test_a_mark_goes_along_into_tasks_and_ends_with_what_it_stands_for(lines: Lines) -> None:
    over = asyncio.Event()

    async def outlive() -> None:
        with log_fields(debate="deb_1"):
            log.warning("meanwhile")
            await over.wait()
            log.warning("afterwards")

    with log_fields(request_id="req_1"):
        task = asyncio.create_task(outlive())
        await asyncio.sleep(0)
        await asyncio.to_thread(log.warning, "in a thread")
        log.warning("said otherwise", extra={"request_id": "req_2"})
    assert not current_fields()
    over.set()
    await task
    told = {line["event"]: (line.get("request_id"), line.get("debate")) for line in lines()}
    assert told == {
        "meanwhile": ("req_1", "deb_1"),
        "in a thread": ("req_1", None),
        "said otherwise": ("req_2", None),
        "afterwards": (None, "deb_1"),
    }


async def test_every_line_of_a_request_bears_its_id(behind_guard: Serving, lines: Lines) -> None:
    server = await behind_guard(broken)
    reply = await exchange(server.port, request("/"))
    told = [line["request_id"] for line in lines() if line["logger"].startswith("moot")]
    assert len(told) == 2
    assert set(told) == {reply.headers["x-request-id"]}


async def test_an_id_and_a_trace_that_come_with_a_request_are_kept(
    behind_guard: Serving, lines: Lines
) -> None:
    server = await behind_guard(broken)
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    reply = await exchange(server.port, request("/", X_Request_Id="edge-1:a/b=c+d", Traceparent=trace))
    assert reply.headers["x-request-id"] == "edge-1:a/b=c+d"
    assert reply.headers["traceparent"] == trace
    ours = [line for line in lines() if line["logger"].startswith("moot")]
    assert {line["request_id"] for line in ours} == {"edge-1:a/b=c+d"}
    assert {line["trace_id"] for line in ours} == {"4bf92f3577b34da6a3ce929d0e0e4736"}


@pytest.mark.parametrize(
    "headers",
    [
        ("X-Request-Id: a b",),
        ("X-Request-Id: " + "a" * 129,),
        ("X-Request-Id:",),
        ("X-Request-Id: a", "X-Request-Id: b"),
        ('X-Request-Id: "}',),
        ("Traceparent: 00-00000000000000000000000000000000-00f067aa0ba902b7-01",),
        ("Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\u00e9",),
    ],
)
async def test_an_id_that_is_none_is_replaced(
    behind_guard: Serving, lines: Lines, headers: tuple[str, ...]
) -> None:
    server = await behind_guard(broken)
    raw = "".join(f"{line}\r\n" for line in headers).encode("latin-1")
    head, host, rest = request("/").partition(b"Host")
    reply = await exchange(server.port, head + raw + host + rest)
    assert reply.headers["x-request-id"].startswith("req_")
    assert "traceparent" not in reply.headers
    assert all("trace_id" not in line for line in lines())


async def test_every_line_of_a_runner_bears_its_debate_and_turn(tmp_path: Path, lines: Lines) -> None:
    def script(request: Request) -> list[Cue]:
        log.warning("the speaker clears his throat")
        return list(improvise(request))

    async with served(tmp_path, provider=ScriptedProvider(script)) as house:
        debate_id = await house.open()
        await house.over(debate_id)
    told = [line for line in lines() if "throat" in line["event"]]
    assert {line["debate"] for line in told} == {debate_id}
    assert [line["turn"] for line in told if "turn" in line] == [1, 2, 3, 4]
    assert [line["judge"] for line in told if "turn" not in line]
