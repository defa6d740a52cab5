"""The few pages of a worker: that it lives, that it can work, and its figures. No debate can be seen here."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from moot.api.auth import Authenticator
from moot.core.errors import StoreError
from moot.engine.arena import Arena
from moot.web.responses import json_reply
from moot.web.routes import health
from moot.web.routes.metrics import Metrics


def make_app(arena: Arena) -> ASGIApp:
    app = FastAPI(title="Moot", redirect_slashes=False, openapi_url=None)
    app.include_router(health.router(arena))
    metrics = Metrics(arena, lambda: 0)
    keeper = Authenticator(arena.store, arena.settings.service.token)

    async def measure(request: Request) -> Response:
        try:
            who = await keeper.authenticate(request.headers.get("authorization"))
            if who is None or who.owner is not None:
                return json_reply({"detail": "These are the figures of all owners"}, 403)
            page = await metrics.exposition()
        except StoreError as error:
            return json_reply({"detail": str(error)}, 503, {"Retry-After": "5"})
        return Response(page, media_type="text/plain; version=1.0.0; charset=utf-8")

    app.add_route("/metrics", measure, methods=["GET"])
    return app
