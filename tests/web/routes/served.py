"""A real server on a free port of loopback, in the test's own loop, and what one asks of it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx
from httpx_sse import aconnect_sse

from moot.engine.arena import Arena
from moot.processes.server import make_app
from moot.providers.contract import Provider
from moot.providers.scripted import ScriptedProvider
from moot.rules.retry import RunnerTimings
from moot.settings import ServerSettings, Settings
from moot.store.contract import Store
from moot.store.memory import MemoryStore
from moot.web.server.listener import UvicornServer, bind

QUICK = RunnerTimings(retry_base=0.001, first_byte=5, between_bytes=5, tick=0.001)
BODY: dict[str, Any] = {
    "topic": "Should AI development be regulated by government?",
    "format": "oxford",
    "participants": [
        {"name": "Pro", "model": {"provider": "scripted", "modelId": "a"}, "position": "for"},
        {"name": "Con", "model": {"provider": "scripted", "modelId": "b"}, "position": "against"},
    ],
    "judge": {"name": "Judge", "model": {"provider": "scripted", "modelId": "j"}},
    "config": {"maxRounds": 2},
}
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Nothing is encrypted here; every client would read all authorities of the world."""
FREE = ServerSettings(requests_per_minute=None, debates_per_client=None, streams_per_client=None)


def body(**config: Any) -> dict[str, Any]:
    changed = deepcopy(BODY)
    changed["config"].update(config)
    return changed


class Served:
    def __init__(self, arena: Arena, url: str, http: httpx.AsyncClient) -> None:
        self.arena = arena
        self.url = url
        self.http = http

    async def open(self, **config: Any) -> str:
        reply = await self.http.post("/api/v1/debates", json=body(**config))
        assert reply.status_code == 201, reply.text
        return reply.json()["id"]

    async def post(self, debate_id: str, what: str, json: Any = None, **more: Any) -> httpx.Response:
        return await self.http.post(f"/api/v1/debates/{debate_id}/{what}", json=json, **more)

    async def get(self, debate_id: str, what: str, **more: Any) -> httpx.Response:
        return await self.http.get(f"/api/v1/debates/{debate_id}/{what}", **more)

    async def until(self, debate_id: str, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(60):
            while True:
                status = (await self.get(debate_id, "status")).json()
                if fits(status):
                    return status
                await asyncio.sleep(0.01)

    async def over(self, debate_id: str) -> dict[str, Any]:
        return await self.until(debate_id, lambda status: status["status"] in ("completed", "error"))

    async def follow(self, debate_id: str, query: str = "", **headers: str) -> list[tuple[str, str, Any]]:
        """Every event of the stream until the server ends it."""
        url = f"/api/v1/debates/{debate_id}/stream{query}"
        async with aconnect_sse(self.http, "GET", url, headers=headers) as source:
            assert source.response.status_code == 200
            return [(event.event, event.id, event.json()) async for event in source.aiter_sse()]


@asynccontextmanager
async def serving(
    data: Path,
    service: ServerSettings = FREE,
    *,
    provider: Provider | None = None,
    store: Store | None = None,
    pace: RunnerTimings = QUICK,
    recover: bool = False,
    **settings: Any,
) -> AsyncGenerator[Served]:
    async with AsyncExitStack() as stack:
        arena = await stack.enter_async_context(
            Arena.open(
                Settings(data=data, pace=pace, scripted=True, service=service, **settings),
                store=store or MemoryStore(),
                providers={"scripted": provider or ScriptedProvider()},
                recover=recover,
            )
        )
        listener = bind("127.0.0.1", 0)
        url = f"http://127.0.0.1:{listener[0].getsockname()[1]}"
        ready = asyncio.Event()
        server = UvicornServer(make_app(arena), service, end_streams=arena.followers.close, ready=ready.set)
        running = asyncio.create_task(server.serve(listener), name="server")
        stack.push_async_callback(_stop, server, running)
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=60, verify=NO_TLS))
        await ready.wait()
        yield Served(arena, url, http)


async def _stop(server: UvicornServer, running: asyncio.Task[None]) -> None:
    server.should_exit = True
    await running
