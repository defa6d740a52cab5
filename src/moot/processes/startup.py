"""How a server or worker starts: it waits for its database and answers health checks meanwhile, other
machines need a token, and garbage is collected less often.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

from starlette.types import Receive, Scope, Send

from moot.api.auth import Authenticator
from moot.api.origins import is_loopback
from moot.api.shapes.server_replies import HealthResponse
from moot.core.errors import Invalid
from moot.engine.arena import Arena
from moot.extension import loaded
from moot.processes.backends import open_store, when_reachable
from moot.settings import ServerSettings, Settings
from moot.store.contract import Store
from moot.web.middleware.headers import COMMON_HEADERS
from moot.web.responses import json_reply
from moot.web.server.listener import UvicornServer

log = logging.getLogger(__name__)

SHORT_START_SECONDS = 1.0
GC_THRESHOLDS = (20_000, 20, 50)
LIVE = "/health/live"


async def open_arena(
    settings: Settings, held: AsyncExitStack, objection: str = "", *, run: bool = True
) -> Arena:
    """Open an arena that is closed with `held`. A database that cannot be reached is waited for.

    Raises StoreError where waiting does not help, and Invalid with the objection, if there is one and no
    token exists.
    """
    store = await when_reachable(settings, partial(_open_checked, settings, objection))
    tune_garbage_collection()
    arena = await held.enter_async_context(Arena.open(settings, store=store, recover=run, run=run, wait=True))
    # The bus connects when there is something to send. A Redis that cannot be used is logged now instead.
    await arena.ephemeral.get("health")
    return arena


@asynccontextmanager
async def extension_services(arena: Arena) -> AsyncGenerator[None, None]:
    """What extensions run beside a server or worker, while this lasts. One that does not start is left out;
    so is every extension that could not be loaded, and the log says why."""
    async with AsyncExitStack() as held:
        for extension, services in loaded().of(lambda extension: extension.services):
            for service in services:
                try:
                    await held.enter_async_context(service(arena))
                except Exception as error:
                    loaded().leave_out(extension.name, "services", error)
        for name, reason in loaded().failures.items():
            log.warning("The extension %s is left out: %s", name, reason)
        yield


async def answer_meanwhile(
    opening: Coroutine[Any, Any, Arena], listeners: Sequence[socket.socket], service: ServerSettings
) -> Arena:
    """The opened arena. While it takes long, because the database is waited for or its tables are migrated,
    the listeners answer that the process lives and is not ready. In a short start they refuse connections
    until it is ready, so that a load balancer takes another node at once."""
    task = asyncio.create_task(opening, name="opening")
    try:
        await asyncio.wait([task], timeout=SHORT_START_SECONDS)
        if listeners and not task.done():
            async with _health_server(listeners, service):
                await asyncio.wait([task])
        return await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def _health_server(
    listeners: Sequence[socket.socket], service: ServerSettings
) -> AsyncGenerator[None, None]:
    """On copies of the listeners: whoever connects while it ends is answered by the next server."""

    async def no_streams() -> None:
        pass

    server = UvicornServer(_starting_app, service, end_streams=no_streams)
    serving = asyncio.create_task(server.serve([listener.dup() for listener in listeners]), name="health")
    try:
        yield
    finally:
        server.request_exit()
        await serving


async def _starting_app(scope: Scope, receive: Receive, send: Send) -> None:
    """What is answered before anything else can be: that the process lives, and is not ready."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1013})
        return
    if scope["type"] != "http":
        return
    if scope["path"] == LIVE:
        reply = json_reply(HealthResponse(status="ok"), headers=COMMON_HEADERS)
    else:
        # A body that comes is not read, so the connection cannot be used again.
        headers = {**COMMON_HEADERS, "Retry-After": "2", "Connection": "close"}
        reply = json_reply(HealthResponse(status="starting"), 503, headers)
    await reply(scope, receive, send)


def name_process(settings: Settings, name: str) -> None:
    """The name under which PostgreSQL shows the connections of this process."""
    if settings.cluster.store is not None:
        with suppress(ModuleNotFoundError):  # reported where the store is opened
            from moot.store.postgres.connect import name_connections

            name_connections(name)


def tune_garbage_collection() -> None:
    """Leave out of every collection what was loaded at the start, and collect less often.

    With a thousand viewers a collection takes 100 ms, in which all of them wait; states, events and records
    are no garbage for it to find, since they have no cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def exposure_problem(host: str, otherwise: str) -> str:
    """The message against listening on this host while no token exists; empty for a loopback address."""
    if is_loopback(host):
        return ""
    return (
        f"{host} can be reached from other machines, and then a token is needed: set MOOT_TOKEN, or make "
        f"one with `moot token new NAME`. With --insecure {otherwise}."
    )


async def _open_checked(settings: Settings, objection: str) -> Store:
    store = await open_store(settings)
    try:
        if objection and not await Authenticator(store, settings.service.token).needs_token():
            raise Invalid(objection)
    except BaseException:
        await store.close()
        raise
    return store
