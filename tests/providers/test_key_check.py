"""A key is tested without a cost, and the result names what to do."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from moot.providers.endpoints import BUILT_IN, Endpoint
from moot.providers.key_check import check_key
from moot.providers.keys import ApiKey, Secret
from tests.providers.made_up_keys import OLD


@pytest.fixture
async def service() -> AsyncGenerator[tuple[TestServer, list[web.Request], list[web.Response]]]:
    asked: list[web.Request] = []
    replies: list[web.Response] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request)
        return replies.pop(0)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    server = TestServer(app)
    await server.start_server()
    yield server, asked, replies
    await server.close()


Service = tuple[TestServer, list[web.Request], list[web.Response]]


def at(server: TestServer, name: str, path: str = "") -> Endpoint:
    return replace(BUILT_IN[name], base_url=str(server.make_url(path)).rstrip("/"))


@pytest.mark.parametrize(
    ("name", "base", "path", "header", "value"),
    [
        ("openai", "/v1", "/v1/models", "Authorization", f"Bearer {OLD}"),
        ("anthropic", "", "/v1/models", "x-api-key", OLD),
        ("google", "", "/v1beta/models", "x-goog-api-key", OLD),
        ("openrouter", "/api/v1", "/api/v1/key", "Authorization", f"Bearer {OLD}"),
    ],
)
async def test_a_key_is_tested_by_a_request_that_costs_nothing(
    service: Service, name: str, base: str, path: str, header: str, value: str
) -> None:
    server, asked, replies = service
    replies.append(web.json_response({"data": []}))
    checked = await check_key(at(server, name, base), ApiKey(Secret(OLD), "X_API_KEY"), {})
    assert (checked.ok, checked.message) == (True, f"{BUILT_IN[name].title} accepted X_API_KEY.")
    assert (asked[0].path, asked[0].headers[header]) == (path, value)


async def test_a_test_names_cause_and_remedy_and_never_the_key(service: Service) -> None:
    server, _, replies = service
    openai, key = at(server, "openai"), ApiKey(Secret(OLD), "OPENAI_API_KEY")
    said = {"error": {"message": f"Incorrect API key provided: {OLD}"}}
    rows = (
        (401, "OpenAI rejected OPENAI_API_KEY (401).", "Replace it in Settings, with `moot keys set openai`"),
        (403, "OpenAI rejected OPENAI_API_KEY (403).", "Replace it in Settings"),
        (402, "its quota or credit is used up.", "Look at your account with OpenAI"),
        (429, "OpenAI refuses further requests for now (429).", "Wait 7 s, then test again."),
        (404, "was not tested.", "Check the address (OPENAI_BASE_URL)."),
        (302, "was not tested.", "Check the address"),
        (500, "OpenAI failed to answer (500).", "Test again later."),
    )
    for status, message, fix in rows:
        body = said if status == 401 else {}
        headers = {"Retry-After": "7"} if status == 429 else {}
        replies.append(web.json_response(body, status=status, headers=headers))
        checked = await check_key(openai, key, {})
        assert not checked.ok
        assert message in checked.message
        assert fix in checked.fix
        assert OLD not in repr(checked)
    await server.close()
    checked = await check_key(openai, key, {})
    assert checked.message == f"{openai.base_url.removeprefix('http://')} cannot be reached."
    nothing = await check_key(openai, None, {})
    assert nothing.message == "No key is set for OpenAI."
    assert "moot keys set openai" in nothing.fix
