"""Health: whether this process runs and can work. These routes need no token.

Without its store the process is not ready. Without Redis everything works, somewhat slower, and each process
counts limits for itself: that is `degraded`, and no reason to send clients elsewhere. `/api/health` also has
the providers with a key, by the result of their last calls; none is called. Two of its names come from the
API that it is compatible with: `groq`, and for the engine `langgraph`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from moot.api.shapes.server_replies import HealthResponse, ServicesResponse
from moot.core.errors import StoreError
from moot.engine.arena import Arena
from moot.web.responses import json_reply
from moot.web.route_docs import JSON, api_router, documented, reply_headers, schema_of

SERVICES = "/api/health"
CHECK_SECONDS = 2.0
"""Load balancers expect a reply soon, and take none as a failure."""

router = api_router()


async def _arena(request: Request) -> Arena:
    return request.app.state.arena


ServedArena = Annotated[Arena, Depends(_arena)]
"""Of the server or of a worker, which has no other routes."""


async def live() -> Response:
    return json_reply(HealthResponse(status="ok"))


async def ready(arena: ServedArena) -> Response:
    if arena.stopping or arena.followers.closed:
        return json_reply(HealthResponse(status="stopping"), 503, {"Retry-After": "2"})
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            # A query for a debate that does not exist: the route is open to all, so it must cost little.
            await arena.store.positions(("health",))
    except (StoreError, TimeoutError):
        return _unhealthy(HealthResponse(status="unhealthy", store="unreachable"))
    if arena.store.write_error:
        return _unhealthy(HealthResponse(status="unhealthy", store="not writable"))
    if await is_bus_down(arena):
        return json_reply(HealthResponse(status="degraded", store="ok", bus="unreachable"))
    return json_reply(HealthResponse(status="ok", store="ok"))


async def services(arena: ServedArena) -> Response:
    known = {name: "up" if well else "down" for name, well in arena.providers.service_health().items()}
    statuses = {"groq": known.get("groq", "unconfigured"), "langgraph": "up", **known}
    if (await ready(arena)).status_code != 200:
        return _unhealthy(ServicesResponse(status="unhealthy", services={**statuses, "langgraph": "down"}))
    degraded = "down" in statuses.values() or await is_bus_down(arena)
    return json_reply(ServicesResponse(status="degraded" if degraded else "healthy", services=statuses))


def _unhealthy(reply: HealthResponse | ServicesResponse) -> Response:
    return json_reply(reply, 503, {"Retry-After": "5"})


async def is_bus_down(arena: Arena) -> bool:
    """Whether Redis cannot be reached; events of other processes are then read from the log."""
    # Ask Redis now: the last request may have been long ago.
    await arena.ephemeral.get("health")
    return bool(arena.ephemeral.connection_error)


PATHS: dict[str, tuple[str, Callable[..., Awaitable[Response]], str]] = {
    "/api/v1/health": ("check_health_v1", ready, "Whether the server can do its work"),
    "/health": ("check_health", ready, "The same, where probes look for it"),
    "/health/ready": ("check_ready", ready, "The same, by its name for Kubernetes"),
    "/health/live": ("check_live", live, "Whether the process lives"),
    SERVICES: ("check_health_api", services, "The same, and the state of the providers with a key"),
}


def _documented(path: str, summary: str) -> dict[str, Any]:
    reply = ServicesResponse if path == SERVICES else HealthResponse
    unwell = {
        "description": "The server cannot work now.",
        "headers": reply_headers("Retry-After"),
        "content": {JSON: {"schema": schema_of(reply)}},
    }
    return documented(
        "public",
        tag="Health",
        summary=summary,
        says="The server works.",
        reply=reply,
        responses={503: unwell},
    )


for _path, (_name, _endpoint, _summary) in PATHS.items():
    router.add_api_route(_path, _endpoint, methods=["GET"], name=_name, **_documented(_path, _summary))
