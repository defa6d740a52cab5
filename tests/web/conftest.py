from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace
from starlette.types import ASGIApp

from moot.api.auth import Authenticator, Tickets
from moot.api.rate_limits import RateLimiter
from moot.engine.arena import Arena
from moot.engine.ephemeral_store import MemoryEphemeralStore
from moot.settings import ServerSettings, Settings
from moot.store.contract import AccessToken
from moot.store.memory import MemoryStore
from moot.web.middleware.guard import GuardMiddleware
from moot.web.server.listener import UvicornServer, bind
from tests.web.routes.conftest import served, slow

__all__ = ["behind_guard", "served", "serving", "slow"]

PATIENCE = 60.0


class Served(Struct):
    """A server in this process, on a free port of this machine."""

    port: int
    server: UvicornServer
    arena: Arena | None = None
    tickets: Tickets | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


Serving = Callable[..., Awaitable[Served]]


async def _nothing() -> None: ...


@asynccontextmanager
async def listening(
    app: ASGIApp, service: ServerSettings, end_streams: Callable[[], Awaitable[None]] = _nothing
) -> AsyncGenerator[Served, None]:
    listeners = bind("127.0.0.1", 0)
    ready = asyncio.Event()
    server = UvicornServer(app, service, end_streams=end_streams, ready=ready.set)
    running = asyncio.create_task(server.serve(listeners))
    try:
        async with asyncio.timeout(PATIENCE):
            await ready.wait()
        yield Served(listeners[0].getsockname()[1], server)
    finally:
        server.should_exit = True
        async with asyncio.timeout(PATIENCE):
            await running


@pytest.fixture
async def behind_guard() -> AsyncGenerator[Serving, None]:
    """`await behind_guard(app, tokens=(), plain_text=(), **service)`: the app of a test behind the guard."""
    async with AsyncExitStack() as stack:

        async def start(
            app: ASGIApp,
            tokens: tuple[AccessToken, ...] = (),
            plain_text: tuple[str, ...] = (),
            **service: Any,
        ) -> Served:
            store = MemoryStore()
            for token in tokens:
                await store.save_token(token)
            settings = ServerSettings(**service)
            tickets = Tickets(MemoryEphemeralStore())
            authenticator = Authenticator(store, settings.token)
            limiter = RateLimiter(settings.requests_per_minute)
            guard = GuardMiddleware(app, settings, authenticator, limiter, tickets, plain_text=plain_text)
            served = await stack.enter_async_context(listening(guard, settings))
            served.tickets = tickets
            return served

        yield start


@pytest.fixture
async def serving(tmp_path: Path) -> AsyncGenerator[Serving, None]:
    """`await serving(settings=None, **service)`: the whole server, on a store of its own."""
    async with AsyncExitStack() as stack:

        async def start(settings: Settings | None = None, **service: Any) -> Served:
            from moot.processes.server import make_app

            settings = settings or Settings(data=tmp_path, scripted=True)
            if service:
                settings = replace(settings, service=ServerSettings(**service))
            arena = await stack.enter_async_context(Arena.open(settings, recover=True))
            served = await stack.enter_async_context(
                listening(make_app(arena), settings.service, arena.followers.close)
            )
            served.arena = arena
            return served

        yield start
