"""Whether this process lives and can do its work. It needs no token and tells nothing else.

Without its log it can do nothing, and says so. Without Redis it does everything, somewhat later, and limits
count for each process by itself: that is degraded, and no reason to send people elsewhere. `/api/health` also
tells of the services with a key, from what their last calls came to: nobody is called. Two of its names are
those of the document that it serves: `groq`, and for the engine `langgraph`.
"""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from moot.core.errors import StoreError
from moot.engine.arena import Arena
from moot.web.responses import json_reply

PATHS = ("/health", "/health/live", "/health/ready", "/api/v1/health", "/api/health")
CHECK_SECONDS = 2.0
"""Whoever asks wants to send requests elsewhere soon, and would take no answer for one."""


def router(arena: Arena) -> APIRouter:
    routes = APIRouter(redirect_slashes=False)

    async def live(_request: Request) -> Response:
        return json_reply({"status": "ok"})

    async def ready(_request: Request) -> Response:
        if arena.followers.closed:
            return json_reply({"status": "stopping"}, 503, {"Retry-After": "2"})
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                # Of a debate that never was: anybody may ask for this, and uncounted, so it must cost little.
                await arena.store.positions(("health",))
        except (StoreError, TimeoutError):
            return json_reply({"status": "unhealthy", "store": "unreachable"}, 503, {"Retry-After": "5"})
        if arena.store.write_error:
            return json_reply({"status": "unhealthy", "store": "not writable"}, 503, {"Retry-After": "5"})
        if await is_bus_down(arena):
            return json_reply({"status": "degraded", "store": "ok", "bus": "unreachable"})
        return json_reply({"status": "ok", "store": "ok"})

    async def services(request: Request) -> Response:
        known = {name: "up" if well else "down" for name, well in arena.providers.service_health().items()}
        statuses = {"groq": known.get("groq", "unconfigured"), "langgraph": "up", **known}
        if (await ready(request)).status_code != 200:
            shape = {"status": "unhealthy", "services": {**statuses, "langgraph": "down"}}
            return json_reply(shape, 503, {"Retry-After": "5"})
        degraded = "down" in statuses.values() or await is_bus_down(arena)
        return json_reply({"status": "degraded" if degraded else "healthy", "services": statuses})

    for path, endpoint in zip(PATHS, (ready, live, ready, ready, services), strict=True):
        routes.add_route(path, endpoint, methods=["GET"])
    return routes


async def is_bus_down(arena: Arena) -> bool:
    """Whether it cannot be heard what other processes say; they are found in the log then."""
    # A question, since nobody may have asked for a while.
    await arena.shared_state.get("health")
    return bool(arena.shared_state.connection_error)
