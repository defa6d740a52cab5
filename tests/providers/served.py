"""A service on loopback that answers as it is told, and the client that asks it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from moot.providers.client import ProviderClient
from moot.providers.wire_formats.contract import WireFormat

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[ProviderClient]]


@asynccontextmanager
async def served(path: str, wire_format: WireFormat, **settings: Any) -> AsyncGenerator[Serve]:
    servers: list[TestServer] = []
    clients: list[ProviderClient] = []

    async def start(handler: Handler) -> ProviderClient:
        app = web.Application()
        app.router.add_post(path, handler)
        servers.append(TestServer(app))
        await servers[-1].start_server()
        clients.append(ProviderClient(wire_format, str(servers[-1].make_url("")), **settings))
        return clients[-1]

    yield start
    for client in clients:
        await client.close()
    for server in servers:
        await server.close()


async def streamed(request: web.Request, *packets: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "request-id": "r1"})
    await response.prepare(request)
    for packet in packets:
        await response.write(packet)
    await response.write_eof()
    return response
