"""Keys of model services over the API: saved, listed, tested and removed, and never shown."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from io import StringIO
from pathlib import Path

import httpx
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from moot.providers.endpoints import ENDPOINTS, with_environ_url
from moot.providers.keys import Secret
from moot.settings import ClusterSettings, ServerSettings
from moot.web.logging_setup import LogFormatter
from tests.web.behaviour.test_roles import GUARDED, bearer
from tests.web.routes.served import UNLIMITED, Served, serving
from tests.web.routes.test_debate_routes import problem

KEYS = "/api/v1/keys"
KEY = "canary-1f3a-5b7c-9d0e"
"""Without the shape of any service's keys: only its being saved can hide it."""


@pytest.fixture
async def openai() -> AsyncGenerator[TestServer]:
    """A service that accepts `KEY` alone."""

    async def models(request: web.Request) -> web.Response:
        sent = request.headers.get("Authorization", "")
        status = 200 if sent == f"Bearer {KEY}" else 401
        return web.json_response({"data": [], "error": {"message": f"not accepted: {sent}"}}, status=status)

    app = web.Application()
    app.router.add_get("/v1/models", models)
    server = TestServer(app)
    await server.start_server()
    yield server
    await server.close()


async def row(house: Served, provider: str = "openai", **more: object) -> dict:
    rows = (await house.http.get(KEYS, **more)).json()["keys"]
    return next(each for each in rows if each["provider"] == provider)


async def test_a_key_is_saved_tested_used_and_removed_and_never_comes_back(
    tmp_path: Path, openai: TestServer
) -> None:
    environ = {
        "OPENAI_BASE_URL": f"http://127.0.0.1:{openai.port}/v1",
        "OPENAI_API_KEY": "sk-of-the-environment",
    }
    endpoints = tuple(with_environ_url(endpoint, environ) for endpoint in ENDPOINTS)
    replies: list[httpx.Response] = []
    async with serving(tmp_path, environ=environ, endpoints=endpoints, offline=True) as house:
        log = StringIO()
        handler = logging.StreamHandler(log)
        handler.setFormatter(LogFormatter(house.arena.settings))
        logging.getLogger("moot").addHandler(handler)
        try:
            before = await row(house)
            assert (before["set"], before["source"], before["saved"]) == (True, "environment", False)
            refused = (await house.http.post(f"{KEYS}/openai/test")).json()
            assert (refused["ok"], refused["message"]) == (False, "OpenAI rejected OPENAI_API_KEY (401).")
            assert "Replace it in Settings" in refused["fix"]

            replies.append(await house.http.put(f"{KEYS}/openai", json={"key": KEY}))
            assert replies[-1].json() == {**before, "source": "settings", "saved": True, "test": "untested"}
            replies.append(await house.http.post(f"{KEYS}/openai/test"))
            assert replies[-1].json()["message"] == "OpenAI accepted the saved key."
            assert (await row(house))["test"] == "accepted"
            paths = (KEYS, "/api/v1/providers", "/api/v1/models", "/metrics", "/api/v1/openapi.json")
            replies += [await house.http.get(path) for path in paths]
            logging.getLogger("moot").warning("a line that repeats %s", KEY)

            assert (await house.http.delete(f"{KEYS}/openai")).status_code == 204
            assert (await house.http.delete(f"{KEYS}/openai")).status_code == 204
            assert await row(house) == before
        finally:
            logging.getLogger("moot").removeHandler(handler)
    assert "a line that repeats \\u2026" in log.getvalue()
    for reply in replies:
        assert KEY not in reply.text
        assert KEY[-6:] not in reply.text


async def test_a_saved_key_makes_its_models_usable_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, offline=True) as house:

        async def usable() -> bool:
            rows = (await house.http.get("/api/v1/models")).json()["models"]
            return next(each["available"] for each in rows if each["provider"] == "mistral")

        assert not await usable()
        assert (await row(house, "mistral"))["needed"]
        await house.http.put(f"{KEYS}/mistral", json={"key": KEY})
        assert await usable()
        await house.http.delete(f"{KEYS}/mistral")
        assert not await usable()


async def test_what_is_no_key_or_no_provider_is_refused_without_repeating_it(served: Served) -> None:
    for body in ({}, {"key": ""}, {"key": f"{KEY} {KEY}"}, {"key": 5}, {"key": KEY * 40}):
        reply = await served.http.put(f"{KEYS}/openai", json=body)
        assert set(problem(reply, 422, "validation")["errors"]) == {"key"}
        assert KEY not in reply.text
    for provider in ("owl", "local", "human", "..%2Fmoot.db"):
        problem(await served.http.put(f"{KEYS}/{provider}", json={"key": KEY}), 404, "not-found")
        problem(await served.http.post(f"{KEYS}/{provider}/test"), 404, "not-found")


async def test_without_tokens_keys_are_changed_from_this_machine_alone(served: Served) -> None:
    assert (await served.http.get(KEYS)).json()["editable"]
    forwarded = {"X-Forwarded-For": "203.0.113.9"}
    for method, path in (("PUT", "openai"), ("DELETE", "openai"), ("POST", "openai/test")):
        body = {"key": KEY} if method == "PUT" else None
        reply = await served.http.request(method, f"{KEYS}/{path}", json=body, headers=forwarded)
        assert "server's own machine" in problem(reply, 403, "forbidden")["detail"]
    told = (await served.http.get(KEYS, headers=forwarded)).json()
    assert not told["editable"]
    assert "operator's token" in told["reason"]
    foreign = {"Origin": "https://elsewhere.example"}
    problem(
        await served.http.put(f"{KEYS}/openai", json={"key": KEY}, headers=foreign), 403, "forbidden-origin"
    )
    assert not (await row(served))["set"]


async def test_with_tokens_keys_are_for_the_operator_from_anywhere(tmp_path: Path) -> None:
    async with serving(tmp_path, GUARDED, offline=True) as house:
        mine = bearer("operators-own-token")
        reply = await house.http.post("/api/v1/tokens", json={"name": "ann"}, headers=mine)
        ann = bearer(reply.json()["token"])
        problem(await house.http.get(KEYS), 401, "unauthorized")
        problem(await house.http.get(KEYS, headers=ann), 403, "forbidden")
        problem(await house.http.put(f"{KEYS}/openai", json={"key": KEY}, headers=ann), 403, "forbidden")
        away = {**mine, "X-Forwarded-For": "203.0.113.9"}
        assert (await house.http.put(f"{KEYS}/openai", json={"key": KEY}, headers=away)).status_code == 200
        assert (await row(house, headers=mine))["saved"]


async def test_in_a_cluster_no_key_is_saved(tmp_path: Path) -> None:
    cluster = ClusterSettings(store=Secret("postgresql://me@db.example/moot"))
    service = ServerSettings(requests_per_minute=None, debates_per_client=None)
    assert UNLIMITED.token is service.token is None
    async with serving(tmp_path, service, cluster=cluster, offline=True) as house:
        told = (await house.http.get(KEYS)).json()
        assert not told["editable"]
        assert "workers, which read keys from their environment" in told["reason"]
        problem(await house.http.put(f"{KEYS}/openai", json={"key": KEY}), 403, "forbidden")


async def test_whether_a_provider_answers_is_asked_of_it_now_without_a_key(
    tmp_path: Path, openai: TestServer
) -> None:
    environ = {"OPENAI_BASE_URL": f"http://127.0.0.1:{openai.port}/v1", "OPENAI_API_KEY": KEY}
    endpoints = tuple(with_environ_url(endpoint, environ) for endpoint in ENDPOINTS)
    path = "/api/v1/providers/{}/reachable"
    async with serving(tmp_path, environ=environ, endpoints=endpoints, offline=True) as house:
        # It refuses a request without a key, and so shows that it is up.
        reply = await house.http.get(path.format("openai"))
        assert reply.json() == {"provider": "openai", "reachable": True}
        assert (await house.http.get(path.format("vllm"))).json()["reachable"] is False
        assert (await house.http.get(path.format("local"))).json()["reachable"] is None
        assert (await house.http.get(path.format("nobody"))).status_code == 404
