"""Which models are available on this machine, and which of them is the default."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from moot.installation import install_command
from moot.models.discovery import AvailableModel, default_choice, find_models, list_url, rows_from_reply
from moot.providers.endpoints import BUILT_IN, ENDPOINTS, Endpoint, with_base_url
from moot.providers.keys import Secret
from moot.providers.prices import price_of
from tests.models.conftest import WHOLE, Managing, place

OLLAMA, LMSTUDIO, LLAMACPP = BUILT_IN["ollama"], BUILT_IN["lmstudio"], BUILT_IN["llamacpp"]
SERVICES = tuple(endpoint for endpoint in ENDPOINTS if not endpoint.local)


async def test_with_nothing_here_the_small_model_is_taken(managing: Managing) -> None:
    rows = await find_models(managing(), {}, SERVICES)
    assert not any(row.usable for row in rows)
    assert default_choice(rows).name == "local/smollm2-135m"
    assert "Run `moot keys set openai`, or set OPENAI_API_KEY." in [row.todo for row in rows]
    toy = rows[-1]
    assert (toy.name, toy.kind, toy.todo) == ("local/toy", "catalogue", "moot models install toy")


async def test_an_installed_model_is_taken_before_one_to_fetch(managing: Managing) -> None:
    manager = managing()
    place(manager)
    rows = await find_models(manager, {}, SERVICES)
    assert default_choice(rows).name == "local/toy"
    assert rows[-1] == AvailableModel(
        "local/toy",
        "installed",
        usable=True,
        why="installed",
        title="Toy",
        size=len(WHOLE),
        licence="Apache-2.0",
        memory=600_003_854,
        speed=100,
    )


async def test_without_the_extra_local_models_are_not_usable(managing: Managing) -> None:
    manager = managing()
    place(manager)
    row = (await find_models(manager, {}, SERVICES, local=False))[-1]
    assert not row.usable
    assert row.todo == install_command("local")


async def test_a_key_is_used_by_name_and_never_shown(managing: Managing) -> None:
    environ = {"GOOGLE_API_KEY": "sk-secret", "ANTHROPIC_API_KEY": "", "GROQ_API_KEY": "sk-secret"}
    rows = await find_models(managing(), environ, SERVICES, {"mistral": Secret("sk-secret")})
    by_name = {row.name.split("/")[0]: row for row in rows}
    assert by_name["google"].usable
    assert by_name["google"].why == "GOOGLE_API_KEY is set"
    assert by_name["mistral"].usable
    assert by_name["mistral"].why == "moot.toml has its key"
    assert by_name["anthropic"].why == "no key"
    assert by_name["anthropic"].todo == "Run `moot keys set anthropic`, or set ANTHROPIC_API_KEY."
    assert default_choice(rows).name.startswith("google/")
    assert "sk-secret" not in repr(rows)


async def test_a_service_that_was_moved_may_do_without_a_key(managing: Managing) -> None:
    openai = with_base_url(BUILT_IN["openai"], "http://gateway.example/v1", "OPENAI_BASE_URL")
    rows = await find_models(managing(), {}, (openai,))
    assert rows[0].usable
    assert rows[0].why == "at http://gateway.example/v1, without a key"
    assert default_choice(rows).name == "local/smollm2-135m"
    rows = await find_models(managing(), {"OPENAI_API_KEY": "sk-secret"}, (openai,))
    assert rows[0].why == "OPENAI_API_KEY is set, at http://gateway.example/v1"
    assert default_choice(rows).name == "openai/gpt-6-luna"


async def test_an_endpoint_without_a_model_of_its_own_is_no_default(managing: Managing) -> None:
    mine = Endpoint("mine", "mine", "openai_chat", "https://mine.example/v1")
    rows = await find_models(managing(), {}, (mine,))
    assert rows[0] == AvailableModel(
        "mine/",
        "key",
        usable=True,
        why="at https://mine.example/v1, without a key",
        todo="name a model: mine/MODEL",
    )
    assert default_choice(rows).name == "local/smollm2-135m"


@pytest.mark.parametrize("endpoint", SERVICES, ids=lambda endpoint: endpoint.name)
def test_the_model_to_begin_with_has_a_price(endpoint: Endpoint) -> None:
    assert price_of(endpoint.name, endpoint.model) is not None


def test_a_server_is_taken_before_an_installed_model() -> None:
    local = AvailableModel("local/big", "installed", usable=True, why="", size=10)
    server = AvailableModel("ollama/a", "server", usable=True, why="")
    assert default_choice((local, server)).name == "ollama/a"


def test_the_largest_installed_model_is_taken() -> None:
    rows = tuple(
        AvailableModel(f"local/{size}", "installed", usable=True, why="", size=size) for size in (1, 3, 2)
    )
    assert default_choice(rows).name == "local/3"


@pytest.mark.parametrize(
    ("server", "answer", "names"),
    [
        (
            OLLAMA,
            {"models": [{"name": "llama3.2:latest", "size": 5}, {"name": "q:1b"}]},
            ["llama3.2", "q:1b"],
        ),
        (OLLAMA, {"models": [{"name": "nomic-embed-text:latest"}]}, []),
        (OLLAMA, {"models": None}, []),
        (LMSTUDIO, {"data": [{"id": "qwen3"}, {"id": "text-embedding-x"}, "odd", {}]}, ["qwen3"]),
        (LLAMACPP, {"data": [{"id": "m.gguf", "owned_by": "llamacpp"}]}, ["m.gguf"]),
        (LLAMACPP, {"data": [{"id": "m", "owned_by": "someone"}]}, []),
        (LLAMACPP, ["hello"], []),
        (LMSTUDIO, {"data": [{"id": ""}, {"id": "x\x1b[31m"}, {"id": "\ud800"}]}, []),
        (LLAMACPP, None, []),
    ],
)
def test_what_a_server_lists(server: Endpoint, answer: Any, names: list[str]) -> None:
    rows = rows_from_reply(server, answer)
    assert [row.name for row in rows] == [f"{server.name}/{name}" for name in names]


@pytest.mark.parametrize("size", [-1, 10**400, "7", None])
def test_a_size_that_no_model_has_is_not_believed(size: Any) -> None:
    row = rows_from_reply(OLLAMA, {"models": [{"name": "a", "size": size}]})[0]
    assert row.size is None


@pytest.mark.parametrize("url", ["http://box:11434", "http://box:11434/", "http://box:11434/v1"])
def test_ollama_is_asked_for_its_models_wherever_it_is(url: str) -> None:
    assert list_url(with_base_url(OLLAMA, url, "OLLAMA_BASE_URL")) == "http://box:11434/api/tags"


async def test_servers_are_found_and_slow_ones_are_not_waited_for(managing: Managing) -> None:
    keys: list[str | None] = []

    async def tags(request: web.Request) -> web.Response:
        keys.append(request.headers.get("Authorization"))
        return web.json_response({"models": [{"name": "llama3.2:latest", "size": 7}]})

    async def broken(_request: web.Request) -> web.Response:
        return web.Response(text="<html>")

    async def slow(_request: web.Request) -> web.Response:
        await asyncio.sleep(5)
        return web.Response()

    app = web.Application()
    app.router.add_get("/api/tags", tags)
    app.router.add_get("/broken/models", broken)
    app.router.add_get("/slow/models", slow)
    async with TestServer(app) as host:
        servers = (
            replace(OLLAMA, base_url=str(host.make_url("/v1"))),
            replace(LMSTUDIO, base_url=str(host.make_url("/broken"))),
            replace(LLAMACPP, base_url=str(host.make_url("/slow"))),
        )
        start = time.monotonic()
        rows = await find_models(managing(), {"LM_API_TOKEN": "sk-other"}, servers)
        assert time.monotonic() - start < 2
    found = [row for row in rows if row.kind == "server"]
    assert [(row.name, row.size, row.why) for row in found] == [("ollama/llama3.2", 7, "Ollama is running")]
    assert default_choice(rows).name == "ollama/llama3.2"
    assert keys == [None]


async def test_a_proxy_that_is_none_does_not_keep_the_list_from_being_told(managing: Managing) -> None:
    away = with_base_url(LMSTUDIO, "http://box.invalid:1234", "LMSTUDIO_BASE_URL")
    rows = await find_models(managing(), {"HTTP_PROXY": "user:secret@proxy:3128"}, (away,))
    assert not [row for row in rows if row.kind == "server"]


async def test_nobody_knocks_where_nobody_said_that_a_server_is(managing: Managing) -> None:
    assert not [row for row in await find_models(managing(), {}, (BUILT_IN["vllm"],)) if row.kind == "server"]
