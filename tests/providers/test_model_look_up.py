"""What a free look-up shows with certainty about a key and a model, and how often a service is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from moot.core.terms import Model
from moot.providers import model_look_up
from moot.providers.client import ProviderClient
from moot.providers.endpoints import BUILT_IN, ENDPOINTS, make_client, with_base_url
from moot.providers.error_replies import fault_from_response
from moot.providers.model_look_up import LookUpRoute, ModelLookUp, judge
from moot.providers.scripted import ScriptedProvider

KEY = "sk-canary-0123456789abcdef"
HOME = LookUpRoute("https://host/models", "https://host/models", finds_models=True)
MOVED = replace(HOME, moved=True)
LIST_ONLY = replace(HOME, finds_models=False)
MODELS = {"data": [{"id": "gpt-6"}, {"id": "gpt-6-mini"}]}
UNKNOWN = b'{"error": {"message": "The model does not exist", "code": "model_not_found"}}'
NO_ROUTE = b'{"detail": "Not Found"}'
SCOPES = b'{"error": {"message": "You have insufficient permissions. Missing scopes: api.model.read"}}'


@pytest.mark.parametrize(
    ("route", "status", "body", "listed", "kind"),
    [
        (HOME, 401, b"{}", None, "bad_key"),
        (MOVED, 401, b"{}", None, "bad_key"),
        (LIST_ONLY, 401, b"{}", None, "bad_key"),
        (HOME, 403, b"{}", None, "forbidden"),
        (HOME, 400, b'{"error": {"message": "API key not valid."}}', None, "bad_key"),
        (HOME, 404, UNKNOWN, None, "unknown_model"),
        (MOVED, 404, UNKNOWN, MODELS, "unknown_model"),
        (MOVED, 404, NO_ROUTE, MODELS, "unknown_model"),
        # A gateway may close the list to keys that may call models.
        (MOVED, 403, b"{}", None, None),
        (HOME, 401, SCOPES, None, None),
        (HOME, 403, SCOPES, None, None),
        # No such route, an empty or partial list, the model after all, a page of a proxy, a bad moment.
        (MOVED, 404, NO_ROUTE, None, None),
        (MOVED, 404, NO_ROUTE, "<html>", None),
        (MOVED, 404, UNKNOWN, {"data": []}, None),
        (MOVED, 404, UNKNOWN, {**MODELS, "has_more": True}, None),
        (MOVED, 404, UNKNOWN, {"data": [{"id": "gpt-5"}]}, None),
        (LIST_ONLY, 404, UNKNOWN, None, None),
        (HOME, 405, b"<html>", None, None),
        (HOME, 429, b"{}", None, None),
        (HOME, 500, b"{}", None, None),
        (HOME, 302, b"", None, None),
    ],
)
def test_what_a_reply_shows(
    route: LookUpRoute, status: int, body: bytes, listed: Any, kind: str | None
) -> None:
    found = judge(route, "gpt-5", fault_from_response(status, {}, body, 0.0), listed)
    assert (found and found.kind) == kind


def test_a_reply_shows_nothing_wrong() -> None:
    assert judge(HOME, "gpt-5", {"id": "gpt-5"}) is None
    assert judge(HOME, "gpt-5", "<html>a page with status 200</html>") is None


class Service:
    """Lists `gpt-6` alone, to those with the right key; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def models(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"error": {"message": f"Incorrect API key: {KEY}"}}, status=401)
        name = request.match_info.get("name")
        if name in (None, "gpt-6"):
            return web.json_response({"data": [{"id": "gpt-6"}]} if name is None else {"id": name})
        return web.json_response({"error": {"code": "model_not_found"}}, status=404)


@asynccontextmanager
async def served(service: Service, key: str = KEY) -> AsyncGenerator[ProviderClient]:
    app = web.Application()
    app.router.add_get("/v1/models", service.models)
    app.router.add_get("/v1/models/{name}", service.models)
    async with TestServer(app) as server:
        openai = with_base_url(BUILT_IN["openai"], str(server.make_url("/v1")), "OPENAI_BASE_URL")
        client = make_client(openai, {"OPENAI_API_KEY": key}, {})
        try:
            yield client
        finally:
            await client.close()


async def test_a_model_is_looked_up_once_for_many_debates() -> None:
    service = Service()
    async with served(service) as client:
        for _ in range(20):
            assert await client.look_up(Model("openai", "gpt-6")) is None
    assert service.asked == ["/v1/models/gpt-6"]


async def test_a_rejected_key_and_a_retired_model_are_told_by_their_cause() -> None:
    async with served(Service(), "sk-wrong") as client:
        fault = await client.look_up(Model("openai", "gpt-6"))
    assert str(fault) == (
        "OpenAI rejected OPENAI_API_KEY (401). Replace it in Settings or the environment, then Retry."
    )
    async with served(Service()) as client:
        fault = await client.look_up(Model("openai", "gpt-4"))
    assert str(fault) == "OpenAI has no model called gpt-4 (404). Choose another model."


async def test_a_fault_is_kept_for_a_shorter_time_than_a_success() -> None:
    now, service = [0.0], Service()
    async with served(service) as client:
        session = client._get_session()  # pyright: ignore[reportPrivateUsage]
        root = str(client._base_url) + "/models"  # pyright: ignore[reportPrivateUsage]
        headers = {"Authorization": f"Bearer {KEY}"}
        look_up = ModelLookUp(LookUpRoute(root, root, finds_models=True), headers, None, lambda: now[0])
        for now[0] in (0.0, model_look_up.FAULT_KEPT_SECONDS + 1):
            await look_up.find_fault(session, "gpt-6")
            await look_up.find_fault(session, "gpt-4")
    assert service.asked == ["/v1/models/gpt-6", "/v1/models/gpt-4", "/v1/models/gpt-4"]


async def test_a_service_that_cannot_be_reached_shows_nothing() -> None:
    openai = with_base_url(BUILT_IN["openai"], "http://127.0.0.1:9/v1", "OPENAI_BASE_URL")
    client = make_client(openai, {"OPENAI_API_KEY": KEY}, {})
    assert await client.look_up(Model("openai", "gpt-6")) is None
    await client.close()


async def test_scripted_models_and_servers_of_ones_own_are_not_looked_up() -> None:
    assert await ScriptedProvider().look_up(Model("scripted", "demo")) is None
    for server in (endpoint for endpoint in ENDPOINTS if endpoint.local and endpoint.base_url):
        client = make_client(server, {}, {})
        assert await client.look_up(Model(server.name, "llama")) is None
        await client.close()
