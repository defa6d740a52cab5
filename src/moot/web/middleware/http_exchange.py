"""One request and its reply: its id, the headers of the reply, the problem where it fails, its log line.

A client that is refused while it still sends would never read the reply if the connection were closed at
once: the system would reset it. So the remaining body is read and dropped for a moment.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from contextlib import suppress
from typing import Any

from msgspec import Struct
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect, WebSocketDisconnected
from uvicorn.protocols.utils import ClientDisconnected

from moot.api.problems import Problem, as_problem
from moot.core.ids import new_id
from moot.web.middleware.headers import ReplyHeaders, RequestHeaders
from moot.web.responses import problem_reply

OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready", "/api/health", "/api/v1/health"})
"""Open to all and not counted: a health check must not be locked out."""
LINGER_SECONDS = 0.5
LINGER_BYTES = 4 * 1024 * 1024

REQUEST_ID = re.compile(r"[A-Za-z0-9._:=+/-]{1,128}", re.ASCII)
"""Ids of requests that are kept; others are replaced. They end up in logs of others, too."""
TRACE_PARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)
"""The header of W3C Trace Context, version 00."""

HUNG_UP = (ClientDisconnect, ClientDisconnected, WebSocketDisconnect, WebSocketDisconnected)
"""What Starlette and uvicorn raise when the client has left. It is no error, and nothing can be answered."""

log = logging.getLogger(__name__)
access = logging.getLogger("moot.access")


class FinishedExchange(Struct, frozen=True):
    """A request that was answered, for the metrics."""

    path: str
    method: str
    """`WS` for a WebSocket."""
    status: int
    """0 where the client left before there was one."""
    seconds: float
    streamed: bool
    problem: str
    """The kind of problem that was the reply; empty where it was none."""


class HttpExchange:
    """One request and its reply."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, origin_matters: bool) -> None:
        self.scope = scope
        self.headers = RequestHeaders(scope)
        self.receive = receive
        self.request_id = _only(self.headers, "x-request-id", REQUEST_ID) or new_id("req")
        scope.setdefault("state", {})["request_id"] = self.request_id
        trace = _only(self.headers, "traceparent", TRACE_PARENT)
        self.trace_fields = {"trace_id": trace.split("-")[1]} if trace else {}
        self.reply_headers = ReplyHeaders(self.request_id, trace, origin_matters=origin_matters)
        self._send = send
        self._started = time.monotonic()
        self._status: int | None = None
        self._streamed = False
        self._complete = False

    async def send(self, message: Message) -> None:
        match message["type"]:
            case "http.response.start" | "websocket.http.response.start":
                self._status = message["status"]
                self.reply_headers.apply(message)
                self._streamed = any(
                    name == b"content-type" and value.startswith(b"text/event-stream")
                    for name, value in message["headers"]
                )
            case "websocket.accept":
                self._status = 101
                self.reply_headers.apply(message)
            case "websocket.close" if self._status is None:
                # A route refuses with a problem; a bare close comes from the router, which found no route.
                await self.reply(problem_reply(Problem("not-found"), self.scope))
                return
            case "http.response.body" | "websocket.http.response.body":
                self._complete = not message.get("more_body", False)
            case _:
                pass
        await self._send(message)

    async def reply(self, response: Response) -> None:
        await response(self.scope, self.receive, self.send)

    async def fail(self, error: Exception) -> None:
        problem = as_problem(error)
        if problem.kind == "internal":
            log.error("unexpected error", exc_info=error, extra=self._log_fields())
        if self._status is None:
            send = self.send
            if problem.headers.get("Connection") == "close":
                send = linger(self.send, self.receive)
            await problem_reply(problem, self.scope)(self.scope, self.receive, send)
        elif self._status == 101:
            with suppress(*HUNG_UP):
                await self._send({"type": "websocket.close", "code": 1011})
        elif not self._complete:
            # The connection is cut, so that no client takes the part that was sent for the whole reply.
            self.abort()

    def abort(self) -> None:
        if connection := self.scope["state"].get("connection"):
            connection.abort()

    def finished(self) -> FinishedExchange:
        return FinishedExchange(
            self.scope["path"],
            self.scope.get("method", "WS"),
            self._status or 0,
            time.monotonic() - self._started,
            self._status == 101 or self._streamed,
            self.scope["state"].get("problem", ""),
        )

    def log(self) -> None:
        """No query, no headers, no body. The path stays percent-encoded, so that it cannot break a line."""
        # Health checks come every second.
        is_routine = self.scope["path"] in OPEN_PATHS and self._status == 200
        access.log(logging.DEBUG if is_routine else logging.INFO, "request", extra=self._log_fields())

    def _log_fields(self) -> dict[str, Any]:
        scope = self.scope
        return {
            "request_id": self.request_id,
            "client": scope["state"].get("client", ""),
            "method": scope.get("method", "WS"),
            "path": scope.get("raw_path", b"").decode("latin-1"),
            "status": self._status or 0,
            "ms": round((time.monotonic() - self._started) * 1000, 1),
        }


def _only(headers: RequestHeaders, name: str, form: re.Pattern[str]) -> str:
    """The value of a header that is there once and has this form; otherwise empty."""
    values = headers.getlist(name)
    return values[0] if len(values) == 1 and form.fullmatch(values[0]) else ""


def linger(send: Send, receive: Receive) -> Send:
    """A `send` that ends the reply only after the client had a moment to read it."""

    async def send_and_drain(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({**message, "more_body": True})
        await _drain(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return send_and_drain


async def _drain(receive: Receive) -> None:
    left = LINGER_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
