"""The checks that every request passes before a route sees it, and the headers and log line of every reply.

In this order: request id; identity (a token, a ticket, or anyone where there are no tokens); origin; rate
limit; host; whether the origin and the identity are accepted; and the body, which is read here as a whole
within its limits of size and time, so that a route never waits for a client. REST, streams and WebSockets
pass the same checks. Starlette's CORSMiddleware is not used: it lets requests of foreign pages through, and
cannot allow header names by pattern.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect, WebSocketDisconnected
from uvicorn.protocols.utils import ClientDisconnected

from moot.api.auth import ANYONE, NOBODY, Authenticator, Identity, Tickets
from moot.api.origins import AllowedHosts, AllowedOrigins, OriginRelation, origin_of
from moot.api.problems import Problem, as_problem
from moot.api.rate_limits import Counted, RateLimiter, TrustedProxies
from moot.core.diagnostics import log_fields
from moot.core.ids import new_id
from moot.settings import ServerSettings
from moot.web.logging_setup import hide_in_request, hide_secret
from moot.web.middleware.body import MEDIA_TYPES, check_content_type, linger, read_body, replay_body
from moot.web.middleware.headers import ReplyHeaders, RequestHeaders
from moot.web.responses import problem_reply

OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready", "/api/health", "/api/v1/health"})
"""Open to all and not counted: a health check must not be locked out."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
STREAM_PATHS = tuple(
    f"/api/v1/debates/{{debateId}}/{name}" for name in ("stream", "events/stream", "view/stream", "ws")
)
"""A ticket gives access to these; the parameter is its debate."""
ALLOWED_HEADER = re.compile(
    r"authorization|content-type|idempotency-key|last-event-id|x-provider-key-[a-z0-9_-]{1,64}"
    r"|x-request-id|traceparent"
)
"""What pages of allowed origins may send."""

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


ObserveExchange = Callable[[FinishedExchange], None]


class GuardMiddleware:
    """`open_paths` and `open_prefixes` need no token. `plain_text` are paths that also take bodies of type
    text/plain, from programs only; problems at `coded_errors` have a code; `streams` take tickets."""

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
        coded_errors: Collection[str] = (),
        streams: Collection[str] = STREAM_PATHS,
        observe: ObserveExchange = lambda _: None,
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
        self._coded_errors = frozenset(coded_errors)
        self._stream_path = re.compile("|".join(re.sub(r"\{\w+\}", "([^/]+)", path) for path in streams))
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        exchange = HttpExchange(scope, receive, send, origin_matters=bool(self._origins))
        scope["state"]["coded_errors"] = scope["path"] in self._coded_errors
        with log_fields(request_id=exchange.request_id, **exchange.trace_fields):
            try:
                await self._check_and_forward(exchange)
            except HUNG_UP:
                pass
            except asyncio.CancelledError:
                # The server stops and has waited long enough. Nothing awaits this task, and the
                # cancellation would be logged as an error.
                exchange.abort()
            except Exception as error:
                await exchange.fail(error)
            finally:
                exchange.log()
                self._observe(exchange.finished())

    async def _check_and_forward(self, exchange: HttpExchange) -> None:
        scope, headers = exchange.scope, exchange.headers
        path: str = scope["path"]
        is_open = path in self._open_paths
        identity = NOBODY if is_open else await self._identify(scope, headers)
        peer = scope["client"][0] if scope.get("client") else ""
        origin = self._origin_relation(scope, headers, peer)
        if origin == "allowed":
            exchange.reply_headers.allowed_origin = headers["origin"]
        address = self._proxies.client_key(peer, headers.getlist("x-forwarded-for"))
        counted = _counted(identity, address)
        scope["state"] |= {"client": _client(identity, address), "counted": counted, "address": address}
        # Outside the API only attempts with invalid tokens are counted.
        if not is_open and (path.startswith("/api/") or identity is None):
            # A page in another tab must not use up the requests of this machine's user.
            if origin == "foreign":
                counted = Counted(f"{counted.client} elsewhere", counted.crowd)
            await self._count_request(exchange, counted)
        self._hosts.check(headers.get("host", ""), scope["server"][0] if scope.get("server") else "")
        is_preflight = _is_preflight(scope, headers)
        is_read = scope["type"] == "http" and scope["method"] in SAFE_METHODS and not is_preflight
        if origin == "foreign" and not is_read:
            raise Problem("forbidden-origin")
        if is_preflight:
            await exchange.reply(_preflight_reply(headers, allowed=origin == "allowed"))
            return
        if identity is None and not path.startswith(self._open_prefixes):
            raise _unauthorized(headers)
        scope["state"]["who"] = identity or NOBODY
        if scope["type"] == "http":
            exchange.receive = await self._read_body(exchange)
        await self._app(scope, exchange.receive, exchange.send)

    async def _identify(self, scope: Scope, headers: RequestHeaders) -> Identity | None:
        tokens = headers.getlist("authorization")
        user_keys = headers.with_prefix("x-provider-key-")
        scope["state"]["has_keys"] = bool(user_keys)
        if tokens or user_keys:
            hide_in_request(*(token.rpartition(" ")[2] for token in tokens), *user_keys)
        if len(tokens) > 1:
            return None
        stream = self._stream_path.fullmatch(scope["path"])
        if stream and not tokens and (ticket := _ticket(scope)) is not None:
            # Also where no token is needed: a spent ticket must not give more rights than a valid one.
            issued = await self._tickets.redeem(ticket, stream[stream.lastindex or 0])
            # The token that it was issued to may have been revoked since.
            return issued if issued and await self._authenticator.is_still_valid(issued) else None
        identity = await self._authenticator.authenticate(tokens[0] if tokens else None)
        if identity is not None and tokens:
            # Only valid tokens are hidden in all log lines: anyone could blank out lines with other words.
            hide_secret(tokens[0].rpartition(" ")[2])
        return identity

    def _origin_relation(self, scope: Scope, headers: Headers, peer: str) -> OriginRelation:
        """The one place where the origin of a request is looked at."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is None:
            return self._origins.relation(None, site, None)
        forwarded = headers.get("x-forwarded-proto", "")
        # A trusted proxy may have removed the encryption.
        is_forwarded = forwarded in ("http", "https") and self._proxies.trusts(peer)
        own = origin_of(forwarded if is_forwarded else scope["scheme"], headers.get("host", ""))
        return self._origins.relation(origin, site, own)

    async def _count_request(self, exchange: HttpExchange, counted: Counted) -> None:
        status = await self._limiter.hit(counted.client, counted.crowd)
        if status is not None:
            exchange.reply_headers.rate_limit = status
            status.check()

    async def _read_body(self, exchange: HttpExchange) -> Receive:
        """The `receive` for the app: it gives the body, which was read and checked here."""
        scope, headers = exchange.scope, exchange.headers
        length = headers.get("content-length", "0")
        if length == "0" and "transfer-encoding" not in headers:
            # There is no body to wait for.
            return replay_body(b"", exchange.receive)
        plain = scope["path"] in self._plain_text and "origin" not in headers
        if scope["method"] in ("POST", "PUT"):
            check_content_type(headers, {*MEDIA_TYPES, "text/plain"} if plain else MEDIA_TYPES)
        return replay_body(
            await read_body(exchange.receive, int(length), self._body_seconds), exchange.receive
        )


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


def _client(identity: Identity | None, address: str) -> str:
    """The client that debates and idempotency keys belong to: a token, or else an address."""
    return address if identity in (None, NOBODY, ANYONE) else identity.client(address)


def _counted(identity: Identity | None, address: str) -> Counted:
    return Counted(address) if identity in (None, NOBODY, ANYONE) else identity.counted(address)


def _unauthorized(headers: Headers) -> Problem:
    if "authorization" not in headers:
        return Problem("unauthorized")
    return Problem("unauthorized", headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})


def _ticket(scope: Scope) -> str | None:
    """The ticket in the query; empty, and so invalid, where it is empty or there are several."""
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    tickets = query.get("ticket", [])
    return None if not tickets else tickets[0] if len(tickets) == 1 else ""


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "OPTIONS"
        and "origin" in headers
        and "access-control-request-method" in headers
    )


def _preflight_reply(headers: Headers, *, allowed: bool) -> Response:
    requested = headers.get("access-control-request-headers", "").lower().split(",")
    granted = [name.strip() for name in requested if ALLOWED_HEADER.fullmatch(name.strip())]
    cors = {
        "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
        "Access-Control-Allow-Headers": ", ".join(granted),
        "Access-Control-Max-Age": "600",
    }
    return Response(status_code=204, headers=cors if allowed else {})
