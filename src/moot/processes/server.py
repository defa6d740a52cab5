"""The server: an arena behind a port.

On the first signal it is no longer ready, and for `MOOT_DRAIN_S` it goes on answering, so that a load
balancer can send clients elsewhere. Then it accepts no more connections, ends the streams (viewers reconnect
to the next process and lose nothing), finishes open requests, parks the turns and exits with 0. A second
signal ends it at once, which the log survives as it survives a power cut.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.engine.arena import Arena
from moot.engine.retention import run_retention
from moot.processes.memory_trim import trimmed
from moot.processes.shutdown import ShutdownSignals
from moot.processes.startup import (
    answer_meanwhile,
    exposure_problem,
    extension_services,
    name_process,
    open_arena,
)
from moot.settings import Settings
from moot.web import logging_setup
from moot.web.app import make_app
from moot.web.server.listener import Ready, UvicornServer, bind, url_of

if TYPE_CHECKING:
    from moot.manual.pages import WritePage

SHUTDOWN_SECONDS = 9.0


async def serve(
    settings: Settings,
    host: str,
    port: int,
    *,
    insecure: bool = False,
    run: bool = True,
    ready: Ready | None = None,
    manual: Mapping[str, WritePage] | None = None,
) -> None:
    """Serve until a signal comes. Without `run`, workers on the same log run the debates.

    Raises Invalid where other machines could use it without a token, or where there can be no workers.
    """
    if not run and settings.cluster.store is None:
        raise Invalid(
            "With --no-run others must run the debates, and they need a log that machines share: set "
            "MOOT_STORE=postgresql://… here and where `moot work` runs."
        )
    logging_setup.log_loop_errors(asyncio.get_running_loop())
    name_process(settings, "moot serve")
    drain_seconds = settings.service.drain_seconds
    leaving = ShutdownSignals(SHUTDOWN_SECONDS + drain_seconds)
    async with AsyncExitStack() as held:
        listeners = [held.enter_context(listener) for listener in bind(host, port)]
        url = url_of(host, listeners[0].getsockname()[1])
        held.enter_context(leaving.installed())
        objection = "" if insecure else exposure_problem(host, "whoever reaches it may do everything")
        opened = open_arena(_with_host(settings, host), held, objection, run=run)
        arena = await leaving.run_unless_stopped(answer_meanwhile(opened, listeners, settings.service))
        if arena is None:
            return
        await held.enter_async_context(_with_retention(arena))
        await held.enter_async_context(trimmed())
        await held.enter_async_context(extension_services(arena))
        server = UvicornServer(
            make_app(arena, manual),
            arena.settings.service,
            end_streams=arena.followers.close,
            ready=lambda: ready(url) if ready else None,
            drain_seconds=drain_seconds,
        )

        def stop() -> None:
            arena.stopping = True
            server.request_exit()

        leaving.on_stop(stop)
        arena.announce("both" if run else "api", server.active_requests)
        await server.serve(listeners)


@asynccontextmanager
async def _with_retention(arena: Arena) -> AsyncGenerator[None, None]:
    """Delete debates that ended long ago, while this lasts."""
    keeping = asyncio.create_task(run_retention(arena), name="housekeeping")
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


def _with_host(settings: Settings, host: str) -> Settings:
    """The settings with `host` among the accepted host names."""
    return replace(settings, service=replace(settings.service, hosts=(*settings.service.hosts, host)))
