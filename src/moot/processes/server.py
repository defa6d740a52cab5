"""The server: an arena behind a port, from the first request to the last.

To stop is part of its work. On the first signal it accepts nobody any more, ends the streams (viewers come
back to the next process and lose nothing), answers what is being asked, parks the turns and leaves with 0. A
second signal ends it at once: the log bears that, as it bears a power cut.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec.structs import replace
from starlette.types import ASGIApp

from moot.compat.routers import OLDER_APIS
from moot.core.errors import Invalid
from moot.engine.arena import Arena
from moot.engine.retention import keep_house
from moot.processes.memory_trim import trimmed
from moot.processes.shutdown import Leaving
from moot.processes.startup import exposure, open_arena
from moot.settings import Settings
from moot.web import app, logging_setup
from moot.web.server.listener import Ready, Server, bind, url_of

LAST_SECONDS = 9.0


async def serve(
    settings: Settings,
    host: str,
    port: int,
    *,
    insecure: bool = False,
    run: bool = True,
    ready: Ready | None = None,
) -> None:
    """Serve until a signal comes. Without `run`, workers on the same log run the debates.

    Raises Invalid where nobody but us should be served without a token, or where there can be no workers.
    """
    if not run and settings.cluster.store is None:
        raise Invalid(
            "With --no-run others must run the debates, and they need a log that machines share: set "
            "MOOT_STORE=postgresql://… here and where `moot work` runs."
        )
    logging_setup.heed(asyncio.get_running_loop())
    leaving = Leaving(LAST_SECONDS)
    async with AsyncExitStack() as held:
        listeners = [held.enter_context(listener) for listener in bind(host, port)]
        url = url_of(host, listeners[0].getsockname()[1])
        held.enter_context(leaving.heeded())
        objection = "" if insecure else exposure(host, "whoever reaches it may do everything")
        opened = open_arena(_named(settings, host), held, objection, run=run)
        arena = await leaving.unless_asked(opened)
        if arena is None:
            return
        await held.enter_async_context(_kept(arena))
        await held.enter_async_context(trimmed())
        server = Server(
            make_app(arena),
            arena.settings.service,
            end_streams=arena.hub.close,
            ready=lambda: ready(url) if ready else None,
        )
        leaving.tell(server.leave)
        arena.appear("both" if run else "api", server.under_way)
        await server.serve(listeners)


@asynccontextmanager
async def _kept(arena: Arena) -> AsyncGenerator[None, None]:
    """What has ended long ago is deleted meanwhile."""
    keeping = asyncio.create_task(keep_house(arena), name="housekeeping")
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


def _named(settings: Settings, host: str) -> Settings:
    """The name under which we listen is one of ours."""
    return replace(settings, service=replace(settings.service, hosts=(*settings.service.hosts, host)))


def make_app(arena: Arena) -> ASGIApp:
    """The application as it is served: v1, the page, and the older APIs."""
    return app.make_app(arena, (OLDER_APIS,))
