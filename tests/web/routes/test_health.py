"""The health of a node: with and without its log and its Redis."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.cluster import redis_client
from moot.providers.keys import Secret
from moot.settings import ClusterSettings
from moot.store.sqlite.store import SqliteStore
from tests.support.redis import Redis
from tests.web.metrics_page import figure
from tests.web.routes.served import serving as served


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
