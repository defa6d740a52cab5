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
from collections.abc import Callable, Collection
from email.message import Message as Mail
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected

from moot.api.auth import ANYONE, NOBODY, Authenticator, Identity, Tickets
from moot.api.origins import AllowedHosts, AllowedOrigins, OriginRelation, origin_of
from moot.api.problems import Problem
from moot.api.rate_limits import Counted, RateLimiter, TrustedProxies
from moot.core.log_fields import log_fields
from moot.settings import ServerSettings
from moot.web.logging_setup import hide_in_request, hide_secret
from moot.web.middleware.headers import RequestHeaders
from moot.web.middleware.http_exchange import HUNG_UP, OPEN_PATHS, FinishedExchange, HttpExchange

MEDIA_TYPES = frozenset({"application/json"})
MAX_BODY_BYTES = 128 * 1024
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

log = logging.getLogger(__name__)


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


def check_content_type(headers: Headers, media_types: Collection[str]) -> None:
    """Raises Problem unless there is one Content-Type, accepted, in UTF-8, and no Content-Encoding."""
    types = headers.getlist("content-type")
    if len(types) != 1 or headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Problem("unsupported-media-type")
    mail = Mail()
    mail["content-type"] = types[0]
    charset = mail.get_param("charset", "utf-8")
    utf8 = isinstance(charset, str) and charset.lower() in ("utf-8", "utf8")
    if mail.get_content_type() not in media_types or not utf8:
        raise Problem("unsupported-media-type")


async def read_body(receive: Receive, length: int, seconds: float) -> bytes:
    """Raises Problem for a body that is too large or too slow; `length` is what its header says.

    Starlette's RequestBodyLimitMiddleware knows no deadline, and answers in plain text.
    """
    if length > MAX_BODY_BYTES:
        raise Problem("payload-too-large")
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnected
                body += message.get("body", b"")
                if len(body) > MAX_BODY_BYTES:
                    raise Problem("payload-too-large")
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise Problem("request-timeout") from None


def replay_body(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body, and after it the further messages of the connection."""
    unread = [body]

    async def receive_again() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return receive_again


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
