"""What can argue here, and which of it is taken when nobody says."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from moot.models.find import SERVERS, Found, Server, default_model, find, served
from tests.models.conftest import WHOLE, Managing, place

OLLAMA, LMSTUDIO, LLAMACPP = SERVERS
NO_SERVERS: tuple[Server, ...] = ()


async def test_with_nothing_here_the_small_model_is_taken(managing: Managing) -> None:
    rows = await find(managing(), {}, {"local"}, NO_SERVERS)
    assert not any(row.usable for row in rows)
    assert default_model(rows) == "local/smollm2-135m"
    assert "Set OPENAI_API_KEY." in [row.todo for row in rows]
    toy = rows[-1]
    assert (toy.name, toy.kind, toy.todo) == ("local/toy", "catalogue", "moot models install toy")


async def test_an_installed_model_is_taken_before_one_to_fetch(managing: Managing) -> None:
    manager = managing()
    place(manager)
    rows = await find(manager, {}, {"local"}, NO_SERVERS)
    assert default_model(rows) == "local/toy"
    assert rows[-1] == Found(
        "local/toy",
        "installed",
        usable=True,
        why="installed",
        title="Toy",
        size=len(WHOLE),
        licence="Apache-2.0",
    )


async def test_without_the_extra_local_models_are_not_usable(managing: Managing) -> None:
    manager = managing()
    place(manager)
    row = (await find(manager, {}, set(), NO_SERVERS))[-1]
    assert not row.usable
    assert row.todo == 'pip install "moot[local]"'


async def test_a_key_is_used_by_name_and_never_shown(managing: Managing) -> None:
    environ = {"GOOGLE_API_KEY": "sk-secret", "ANTHROPIC_API_KEY": "", "GROQ_API_KEY": "sk-secret"}
    rows = await find(managing(), environ, {"google", "local"}, NO_SERVERS)
    by_name = {row.name.split("/")[0]: row for row in rows}
    assert by_name["google"].usable
    assert by_name["google"].why == "GOOGLE_API_KEY is set"
    assert not by_name["groq"].usable
    assert "yet" in by_name["groq"].why
    assert by_name["anthropic"].why == "no key"
    assert default_model(rows).startswith("google/")
    assert "sk-secret" not in repr(rows)


def test_a_server_is_taken_before_an_installed_model() -> None:
    local = Found("local/big", "installed", usable=True, why="", size=10)
    server = Found("ollama/a", "server", usable=True, why="")
    assert default_model((local, server)) == "ollama/a"


def test_the_largest_installed_model_is_taken() -> None:
    rows = tuple(Found(f"local/{size}", "installed", usable=True, why="", size=size) for size in (1, 3, 2))
    assert default_model(rows) == "local/3"


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
        (LLAMACPP, None, []),
    ],
)
def test_what_a_server_lists(server: Server, answer: Any, names: list[str]) -> None:
    rows = served(server, answer, available=True)
    assert [row.name for row in rows] == [f"{server.provider}/{name}" for name in names]


async def test_servers_are_found_and_slow_ones_are_not_waited_for(managing: Managing) -> None:
    async def tags(_request: web.Request) -> web.Response:
        return web.json_response({"models": [{"name": "llama3.2:latest", "size": 7}]})

    async def broken(_request: web.Request) -> web.Response:
        return web.Response(text="<html>")

    async def slow(_request: web.Request) -> web.Response:
        await asyncio.sleep(5)
        return web.Response()

    app = web.Application()
    app.router.add_get("/tags", tags)
    app.router.add_get("/broken", broken)
    app.router.add_get("/slow", slow)
    async with TestServer(app) as host:
        servers = tuple(
            Server("ollama", "Ollama", "", str(host.make_url(path))) for path in ("/tags", "/broken", "/slow")
        )
        start = time.monotonic()
        rows = await find(managing(), {}, {"ollama"}, servers)
        assert time.monotonic() - start < 2
    found = [row for row in rows if row.kind == "server"]
    assert [(row.name, row.size, row.why) for row in found] == [("ollama/llama3.2", 7, "Ollama is running")]
    assert default_model(rows) == "ollama/llama3.2"
