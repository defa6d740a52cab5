"""The border: what every request passes before any route sees it, and every reply on its way out.

In this order: a request id; who asks (a token, a ticket, or anyone where there are no tokens); how much they
have asked lately; for which host; from which page; whether they may; and whether the body is one that we
read. Bodies are small, so the border reads them as a whole, within their limits of size and time: a route
never waits for a client. REST, streams and WebSockets pass the same checks.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect, WebSocketDisconnected
from uvicorn.protocols.utils import ClientDisconnected

from moot.api.auth import ANYONE, NOBODY, Authenticator, Identity, Tickets
from moot.api.origins import AllowedHosts, AllowedOrigins, origin_of
from moot.api.problems import Problem, as_problem
from moot.api.rate_limits import RateLimiter, TrustedProxies
from moot.core.ids import new_id
from moot.engine.log_context import log_fields
from moot.settings import ServerSettings
from moot.web.logging_setup import hide_in_request, hide_secret
from moot.web.middleware.body import MEDIA_TYPES, check_content_type, linger, read_body, replay_body
from moot.web.middleware.headers import ReplyHeaders
from moot.web.responses import problem_reply

OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready", "/api/health", "/api/v1/health"})
"""Open to all, and not counted: whoever watches over a server must not be locked out by it."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
STREAM_PATH = re.compile(
    r"/api/(?:v1/debates/([^/]+)/(?:stream|events/stream|view/stream|ws)|debates?/([^/]+)/stream"
    r"|debate/stream/([^/]+))"
)

HUNG_UP = (ClientDisconnect, ClientDisconnected, WebSocketDisconnect, WebSocketDisconnected)
"""The client has gone, as Starlette and uvicorn put it: that is no error, and there is nobody to answer."""

log = logging.getLogger(__name__)
access = logging.getLogger("moot.access")


class GuardMiddleware:
    """`plain_text` are paths that also take bodies of type text/plain, where no page is behind it."""

    def __init__(
        self,
        app: ASGIApp,
        service: ServerSettings,
        authenticator: Authenticator,
        limiter: RateLimiter,
        tickets: Tickets,
        *,
        open_paths: Collection[str] = OPEN_PATHS,
        open_prefixes: tuple[str, ...] = (),
        plain_text: Collection[str] = (),
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._limiter = limiter
        self._tickets = tickets
        self._hosts = AllowedHosts(service.hosts)
        self._origins = AllowedOrigins(service.origins)
        self._proxies = TrustedProxies(service.proxies)
        self._body_seconds = service.body_seconds
        self._open_paths = frozenset(open_paths)
        self._open_prefixes = open_prefixes
        self._plain_text = frozenset(plain_text)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        exchange = HttpExchange(scope, receive, send, ReplyHeaders(scope, self._origins))
        with log_fields(request_id=scope["state"]["request_id"]):
            await self._handle(exchange)

    async def _handle(self, exchange: HttpExchange) -> None:
        try:
            await self._check_and_forward(exchange)
        except HUNG_UP:
            pass
        except asyncio.CancelledError:
            # The server stops and has waited long enough. Nobody awaits this task, and the
            # cancellation would be logged as if something had gone wrong.
            exchange.abort()
        except Exception as error:
            await exchange.fail(error)
        finally:
            exchange.log()

    async def _check_and_forward(self, exchange: HttpExchange) -> None:
        scope, headers = exchange.scope, exchange.headers
        path: str = scope["path"]
        is_open = path in self._open_paths
        identity = NOBODY if is_open else await self._identify(scope, headers)
        # Elsewhere only those are counted who try tokens that are none.
        await self._count_request(
            exchange, identity, counted=not is_open and (path.startswith("/api/") or identity is None)
        )
        self._check_origin(scope, headers)
        if self._is_preflight(scope, headers):
            await exchange.reply(self._preflight(headers))
            return
        if identity is None and not path.startswith(self._open_prefixes):
            raise _unauthorized(headers)
        scope["state"]["who"] = identity or NOBODY
        if scope["type"] == "http":
            exchange.receive = await self._read_body(exchange)
        await self._app(scope, exchange.receive, exchange.send)

    async def _identify(self, scope: Scope, headers: Headers) -> Identity | None:
        sent = headers.getlist("authorization")
        own = (value for name, value in headers.items() if name.startswith("x-provider-key-"))
        hide_in_request(*(word.rpartition(" ")[2] for word in sent), *own)
        if len(sent) > 1:
            return None
        stream = STREAM_PATH.fullmatch(scope["path"])
        if stream and not sent and (ticket := _ticket(scope)):
            # Also where the door is open: whose ticket is spent must not come back as somebody who may more.
            issued = await self._tickets.redeem(ticket, stream[1] or stream[2] or stream[3])
            # Whoever it was issued to may have lost their token since.
            return issued if issued and await self._authenticator.is_still_valid(issued) else None
        identity = await self._authenticator.authenticate(sent[0] if sent else None)
        if identity is not None and sent:
            # It has proved to be a token; a stranger's word must not blot out the lines of others.
            hide_secret(sent[0].rpartition(" ")[2])
        return identity

    async def _count_request(
        self, exchange: HttpExchange, identity: Identity | None, *, counted: bool
    ) -> None:
        scope = exchange.scope
        peer = scope["client"][0] if scope.get("client") else ""
        address = self._proxies.client_key(peer, exchange.headers.getlist("x-forwarded-for"))
        known = identity is not None and identity not in (NOBODY, ANYONE)
        client = scope["state"]["client"] = identity.client(address) if identity and known else address
        if self._is_cross_origin(scope, exchange.headers):
            # A page in another tab must not use up what the user of this machine may ask.
            client = f"{client} elsewhere"
        status = await self._limiter.hit(client) if counted else None
        if status is not None:
            exchange.reply_headers.rate_limit = status
            status.check()

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        self._hosts.check(host, scope["server"][0] if scope.get("server") else "")
        if (
            scope["type"] == "http"
            and scope["method"] in SAFE_METHODS
            and not self._is_preflight(scope, headers)
        ):
            return
        own = origin_of(self._scheme(scope, headers), host)
        self._origins.check(headers.get("origin"), headers.get("sec-fetch-site"), own)

    def _is_cross_origin(self, scope: Scope, headers: Headers) -> bool:
        own = origin_of(self._scheme(scope, headers), headers.get("host", ""))
        try:
            self._origins.check(headers.get("origin"), headers.get("sec-fetch-site"), own)
        except Problem:
            return True
        return False

    def _scheme(self, scope: Scope, headers: Headers) -> str:
        """A proxy that is trusted may have taken the encryption off."""
        forwarded = headers.get("x-forwarded-proto", "")
        peer = scope["client"][0] if scope.get("client") else ""
        return forwarded if forwarded in ("http", "https") and self._proxies.trusts(peer) else scope["scheme"]

    def _is_preflight(self, scope: Scope, headers: Headers) -> bool:
        return (
            scope["type"] == "http"
            and scope["method"] == "OPTIONS"
            and "origin" in headers
            and "access-control-request-method" in headers
        )

    def _preflight(self, headers: Headers) -> Response:
        asked = headers.get("access-control-request-headers", "").split(",")
        granted = [name.strip().lower() for name in asked if _is_allowed_header(name.strip().lower())]
        cors = {
            "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
            "Access-Control-Allow-Headers": ", ".join(granted),
            "Access-Control-Max-Age": "600",
        }
        return Response(status_code=204, headers=cors if self._origins.allows(headers["origin"]) else {})

    async def _read_body(self, exchange: HttpExchange) -> Receive:
        """The way in for the app: the body, read and found to be in order."""
        scope, headers = exchange.scope, exchange.headers
        length = headers.get("content-length", "0")
        if length == "0" and "transfer-encoding" not in headers:
            # All that there is has come: whether the client still listens makes no difference to a route.
            return replay_body(b"", exchange.receive)
        plain = scope["path"] in self._plain_text and "origin" not in headers
        if scope["method"] in ("POST", "PUT"):
            check_content_type(headers, {*MEDIA_TYPES, "text/plain"} if plain else MEDIA_TYPES)
        return replay_body(
            await read_body(exchange.receive, int(length), self._body_seconds), exchange.receive
        )


class HttpExchange:
    """One request on its way in and out."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, reply_headers: ReplyHeaders) -> None:
        self.scope = scope
        self.headers = Headers(scope=scope)
        self.receive = receive
        self.reply_headers = reply_headers
        self._send = send
        self._started = time.monotonic()
        self._status: int | None = None
        self._complete = False
        scope.setdefault("state", {})["request_id"] = reply_headers.request_id = new_id("req")

    async def send(self, message: Message) -> None:
        match message["type"]:
            case "http.response.start" | "websocket.http.response.start":
                self._status = message["status"]
                self.reply_headers.apply(message)
            case "websocket.accept":
                self._status = 101
                self.reply_headers.apply(message)
            case "websocket.close" if self._status is None:
                # A route refuses with a problem; a bare close comes from the router, which found none.
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
            # Cut off, so that nobody takes what has been sent for the whole.
            self.abort()

    def abort(self) -> None:
        if connection := self.scope["state"].get("connection"):
            connection.abort()

    def log(self) -> None:
        """No query, no headers, no body. The path as it came, so that it cannot break a line."""
        # Whoever watches over a server asks every second, and is told the same.
        well = self.scope["path"] in OPEN_PATHS and self._status == 200
        access.log(logging.DEBUG if well else logging.INFO, "request", extra=self._log_fields())

    def _log_fields(self) -> dict[str, Any]:
        scope = self.scope
        return {
            "request_id": scope["state"]["request_id"],
            "client": scope["state"].get("client", ""),
            "method": scope.get("method", "WS"),
            "path": scope.get("raw_path", b"").decode("latin-1"),
            "status": self._status or 0,
            "ms": round((time.monotonic() - self._started) * 1000, 1),
        }


def _unauthorized(headers: Headers) -> Problem:
    if "authorization" not in headers:
        return Problem("unauthorized")
    return Problem("unauthorized", headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})


def _ticket(scope: Scope) -> str:
    given = parse_qs(scope["query_string"].decode("latin-1")).get("ticket", [])
    return given[0] if len(given) == 1 else ""


def _is_allowed_header(header: str) -> bool:
    return header in (
        "authorization", "content-type", "idempotency-key", "last-event-id",
    ) or re.fullmatch(r"x-provider-key-[a-z0-9_-]{1,64}", header) is not None  # fmt: skip
