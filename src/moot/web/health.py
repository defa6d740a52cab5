"""Whether this process lives and can do its work. It needs no token and tells nothing else."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from moot.arena import Arena
from moot.errors import StoreError
from moot.web.answers import json_reply


def router(arena: Arena) -> APIRouter:
    routes = APIRouter(redirect_slashes=False)

    async def live(_request: Request) -> Response:
        return json_reply({"status": "ok"})

    async def ready(_request: Request) -> Response:
        if arena.hub.closed:
            return json_reply({"status": "stopping"}, 503, {"Retry-After": "2"})
        try:
            await arena.list(limit=1)
        except StoreError:
            return json_reply({"status": "unhealthy", "store": "unreachable"}, 503, {"Retry-After": "5"})
        if arena.store.trouble:
            return json_reply({"status": "unhealthy", "store": "not writable"}, 503, {"Retry-After": "5"})
        return json_reply({"status": "ok", "store": "ok"})

    for path, endpoint in (
        ("/health", ready),
        ("/health/live", live),
        ("/health/ready", ready),
        ("/api/v1/health", ready),
    ):
        routes.add_route(path, endpoint, methods=["GET"])
    return routes
