"""What the metrics tell: of requests, debates, models, the process and the cluster."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from moot import __version__
from moot.cluster import queue
from moot.core.events import CallCompleted
from moot.core.terms import Money, Usage
from moot.engine.arena import Arena
from moot.providers.keys import Secret
from moot.providers.scripted import ScriptedProvider
from moot.settings import ClusterSettings, Settings
from moot.store.contract import AccessToken, digest
from moot.store.postgres import connect
from moot.store.sqlite.store import SqliteStore
from moot.web.routes.metrics import MAX_MODELS, Metrics
from tests.support.postgres import empty_postgres, postgres_url
from tests.web.metrics_page import figure
from tests.web.routes.served import serving as served

__all__ = ["empty_postgres", "postgres_url"]


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
