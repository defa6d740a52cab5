"""A worker: it runs debates that are requested elsewhere.

The placement fetches its debates and hands them over. On the first signal the worker takes no more, parks the
turns, leaves the debates to the other workers and exits with 0; a second signal ends it at once. With a port
it serves health checks and the operator's metrics.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from moot.api.auth import Authenticator
from moot.api.rights import may
from moot.core.errors import Invalid, StoreError
from moot.engine.arena import Arena
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
from moot.web.responses import json_reply
from moot.web.server.listener import Ready, UvicornServer, bind, url_of

SHUTDOWN_SECONDS = 9.0


async def work(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    insecure: bool = False,
    ready: Ready | None = None,
) -> None:
    """Work until a signal comes.

    Raises Invalid where the log is a file, which only this machine has, or where other machines could read
    its metrics without a token.
    """
    if settings.cluster.store is None:
        raise Invalid(
            "A worker needs a log that machines share: set MOOT_STORE=postgresql://…. On a machine of its "
            "own, `moot serve` runs its debates itself."
        )
    logging_setup.log_loop_errors(asyncio.get_running_loop())
    name_process(settings, "moot work")
    leaving = ShutdownSignals(SHUTDOWN_SECONDS)
    async with AsyncExitStack() as held:
        listeners = [] if port is None else [held.enter_context(at) for at in bind(host, port)]
        held.enter_context(leaving.installed())
        public = port is not None and not insecure
        objection = exposure_problem(host, "whoever reaches it may read its figures") if public else ""
        opened = open_arena(settings, held, objection)
        arena = await leaving.run_unless_stopped(answer_meanwhile(opened, listeners, settings.service))
        if arena is None:
            return
        await held.enter_async_context(trimmed())
        await held.enter_async_context(extension_services(arena))
        arena.announce("worker", lambda: 0)
        if not listeners:
            if ready is not None:
                ready("")
            await leaving.wait()
            return
        url = url_of(host, listeners[0].getsockname()[1])
        server = _server(arena, url, ready)
        leaving.on_stop(server.request_exit)
        await server.serve(listeners)


def _server(arena: Arena, url: str, ready: Ready | None) -> UvicornServer:
    return UvicornServer(
        _make_app(arena),
        arena.settings.service,
        end_streams=arena.followers.close,
        ready=lambda: ready(url) if ready else None,
    )


def _make_app(arena: Arena) -> ASGIApp:
    """Health checks and the worker's own figures; debates cannot be read here."""
    from fastapi import FastAPI

    from moot.web.routes import health
    from moot.web.routes.metrics import Metrics

    app = FastAPI(title="Moot", redirect_slashes=False, openapi_url=None)
    app.state.arena = arena
    app.include_router(health.router)
    metrics = Metrics(arena, lambda: 0)
    authenticator = Authenticator(arena.store, arena.settings.service.token)

    async def measure(request: Request) -> Response:
        try:
            who = await authenticator.authenticate(request.headers.get("authorization"))
            if who is None or not may(who, "measure"):
                return json_reply({"detail": "These are figures for the operator and for monitors"}, 403)
            page = await metrics.exposition()
        except StoreError as error:
            return json_reply({"detail": str(error)}, 503, {"Retry-After": "5"})
        return Response(page, media_type="text/plain; version=1.0.0; charset=utf-8")

    app.add_route("/metrics", measure, methods=["GET"])
    return app
