"""Small applications for tests of the guard and the server."""

from __future__ import annotations

import asyncio
import json

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send


class Echo:
    """Tells what reached it, and remembers it."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.seen.append(scope["path"])
        body = await request.body()
        who = scope["state"]["who"]
        told = {
            "body": body.decode(),
            "path": scope["path"],
            "who": who.name,
            "role": who.role,
            "client": scope["state"]["client"],
            "trailer": "x-trailer" in request.headers,
        }
        await Response(json.dumps(told), media_type="application/json")(scope, receive, send)


async def page(scope: Scope, receive: Receive, send: Send) -> None:
    await HTMLResponse("<p>Hello")(scope, receive, send)


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError("a canary in the coal mine: sk-ant-api03-abcdefghijklmnop1234567890")


async def half(scope: Scope, receive: Receive, send: Send) -> None:
    """Fails when half of its reply is out."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"first half", "more_body": True})
    raise RuntimeError("no second half")


class Endless:
    """A stream that ends only when it is told to."""

    def __init__(self) -> None:
        self.open = 0
        self._end = asyncio.Event()

    async def end(self) -> None:
        self._end.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.open += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b": hello\n\n", "more_body": True})
        await self._end.wait()
        await send({"type": "http.response.body", "body": b": bye\n\n", "more_body": False})


async def large(scope: Scope, receive: Receive, send: Send) -> None:
    """More than fits on its way."""
    await Response(bytes(20_000_000))(scope, receive, send)


async def talk(scope: Scope, receive: Receive, send: Send) -> None:
    """A WebSocket that says everything back."""
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message.get("text") or "bytes"})
