"""`GET /api/health`: the state of the server and of the services with a key, without calling them."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from moot.providers.endpoints import BUILT_IN, ENDPOINTS
from moot.providers.keys import Secret
from moot.settings import ServerSettings
from moot.store.sqlite.store import SqliteStore
from tests.extensions.serving import nowhere
from tests.web.routes.served import serving

KEY = "gsk_canary0123456789"
WELL = {"groq": "up", "langgraph": "up"}


async def test_the_services_are_told_and_nothing_else(tmp_path: Path) -> None:
    url = nowhere()
    moved = replace(BUILT_IN["groq"], base_url=url)
    endpoints = tuple(moved if each.name == "groq" else each for each in ENDPOINTS)
    keys, service = (
        {"groq": Secret(KEY)},
        ServerSettings(requests_per_minute=1, token=Secret("operators-own-token")),
    )
    asked = "groq/openai/gpt-oss-120b"
    store = SqliteStore.open(tmp_path / "moot.db")
    async with serving(tmp_path, service, store=store, endpoints=endpoints, keys=keys, model=asked) as house:
        healthy = await house.http.get("/api/health")
        assert (healthy.status_code, healthy.json()) == (200, {"status": "healthy", "services": WELL})
        headers = {"Authorization": "Bearer operators-own-token"}
        debate = await house.http.post("/api/debate", json={"topic": "Test topic"}, headers=headers)
        assert '"code":"LLM_ERROR"' in debate.text
        degraded = await house.http.get("/api/health")
        assert (degraded.status_code, degraded.json()) == (
            200,
            {"status": "degraded", "services": {**WELL, "groq": "down"}},
        )
        told = degraded.text + debate.text
        assert not [word for word in (KEY, url, "127.0.0.1") if word in told]
        await store.close()
        for _ in range(2):
            sick = await house.http.get("/api/health")
            assert (sick.status_code, sick.json()["status"]) == (503, "unhealthy")


async def test_a_service_without_a_key_is_no_trouble(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        reply = await house.http.get("/api/health")
        services = {"groq": "unconfigured", "langgraph": "up"}
        assert (reply.status_code, reply.json()) == (200, {"status": "healthy", "services": services})
