"""A real server on a free port of loopback, in the test's own loop, and what one asks of it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx
from httpx_sse import aconnect_sse

from moot.engine.arena import Arena
from moot.testing import served as kit
from moot.testing.served import QUICK, UNLIMITED

__all__ = ["BODY", "NO_TLS", "QUICK", "UNLIMITED", "Served", "body", "serving"]

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
async def serving(data: Path, *given: Any, **more: Any) -> AsyncGenerator[Served]:
    """The server of the test kit, asked over plain HTTP."""
    async with (
        kit.serving(data, *given, **more) as served,
        httpx.AsyncClient(base_url=served.url, timeout=60, verify=NO_TLS) as http,
    ):
        yield Served(served.arena, served.url, http)
