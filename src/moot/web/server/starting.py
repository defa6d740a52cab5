"""What a server answers before it can do anything: that it lives, and is not ready."""

from __future__ import annotations

from starlette.types import Receive, Scope, Send

from moot.api.shapes.server_replies import HealthResponse
from moot.web.middleware.headers import COMMON_HEADERS
from moot.web.responses import json_reply

LIVE = "/health/live"


async def starting_app(scope: Scope, receive: Receive, send: Send) -> None:
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
