"""A real server on a free port of loopback, in the test's own event loop, and a client of it.

    async with serving(tmp_path) as served:
        async for event in served.client.stream(debate_id):
            ...

Its models are those of a `ScriptedProvider`, without key and network. Nothing is limited, and retries
do not wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from moot.client import AsyncClient
from moot.engine.arena import Arena
from moot.providers.contract import Provider
from moot.providers.scripted import ScriptedProvider
from moot.rules.runner_timings import RunnerTimings
from moot.settings import ServerSettings, Settings
from moot.store.contract import Store
from moot.store.memory import MemoryStore
from moot.web.app import make_app
from moot.web.server.listener import UvicornServer, bind

QUICK = RunnerTimings(retry_base=0.001, first_byte=5, between_bytes=5, tick=0.001)
"""Retries come at once, and a silent model is given up after five seconds."""
UNLIMITED = ServerSettings(requests_per_minute=None, debates_per_client=None, streams_per_client=None)


class Served(Struct, frozen=True):
    """A running server: what it holds, where it is, and a client of it."""

    arena: Arena
    url: str
    client: AsyncClient


@asynccontextmanager
async def serving(
    data: Path,
    service: ServerSettings = UNLIMITED,
    *,
    provider: Provider | None = None,
    store: Store | None = None,
    pace: RunnerTimings = QUICK,
    recover: bool = False,
    **settings: Any,
) -> AsyncGenerator[Served]:
    """Serve while the block lasts. `provider` answers for the models `scripted/…`; by default it says plain
    sentences. `data` is a folder for files; debates are kept in memory unless a `store` is given. Further
    `settings` are fields of `Settings`."""
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
        client = await stack.enter_async_context(AsyncClient(url))
        await ready.wait()
        yield Served(arena, url, client)


async def _stop(server: UvicornServer, running: asyncio.Task[None]) -> None:
    server.should_exit = True
    await running
