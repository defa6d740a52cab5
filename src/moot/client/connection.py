"""HTTP to one Moot server: requests that can be repeated, and errors as exceptions.

Every POST carries an Idempotency-Key, so one whose answer was lost is sent again and has the same result. No
redirect is followed: a token goes only to its server.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
from aiohttp import ClientTimeout
from yarl import URL

from moot.client.client_errors import ApiError, Unreachable, api_error, decode
from moot.core.errors import Invalid

DEFAULT_SERVER = "http://127.0.0.1:8000"
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0
NO_CONTENT, NOT_FOUND = 204, 404
IN_FLIGHT_KIND = "idempotency-in-flight"
IN_FLIGHT_TRIES = 30
NO_ANSWER = "The Moot server at {server} did not answer in time."
NOT_TRUSTED = "{server} cannot prove that it is who it says: its certificate is not trusted here."
NO_TLS = "{server} does not answer to https. Is it http://?"
BROKEN = "The connection to the Moot server at {server} broke off."
JSON = {"Content-Type": "application/json"}
T = TypeVar("T")


class ServerConnection:
    """`keys` are the caller's own provider keys, sent with every POST."""

    def __init__(
        self, server: str | None, token: str | None, keys: Mapping[str, str], answer: float = ANSWER_SECONDS
    ) -> None:
        self.server = server_address(server or os.environ.get("MOOT_SERVER") or DEFAULT_SERVER)
        token = token if token is not None else os.environ.get("MOOT_TOKEN", "").strip()
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._keys = {f"X-Provider-Key-{provider}": key for provider, key in keys.items()}
        self._timeout = ClientTimeout(total=answer, sock_connect=CONNECT_SECONDS)
        self._session: aiohttp.ClientSession | None = None
        self.disconnected = False
        """A stream has lost the server and waits for it."""

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, path: str, shape: type[T], /, **query: str | int) -> T:
        return decode(await self.request("GET", path, query=query), shape)

    async def post(self, path: str, shape: type[T], body: bytes = b"", key: str = "") -> T:
        headers = {"Idempotency-Key": key or secrets.token_urlsafe(24), **self._keys}
        return decode(await self.request("POST", path, body=body, headers=headers), shape)

    async def put(self, path: str, shape: type[T], body: bytes) -> T:
        return decode(await self.request("PUT", path, body=body), shape)

    async def delete(self, path: str) -> None:
        await self.request("DELETE", path)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Send a request, once more if the connection broke, and return the body of the reply.

        Raises ApiError or Unreachable.
        """
        headers = {**(headers or {}), **(JSON if body else {})}
        sent: list[str] = []

        async def once() -> bytes:
            try:
                async with self._send(method, path, query, body, headers, self._timeout, sent) as response:
                    return await response.read()
            except ApiError as error:
                if method == "DELETE" and error.status == NOT_FOUND and len(sent) > 1:
                    return b""  # the first attempt had deleted it
                raise

        try:
            return await _repeated(once)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self.unreachable(error) from error

    @asynccontextmanager
    async def open_stream(
        self, path: str, query: Mapping[str, str | int], last_id: str, silence: float
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """An open stream. Errors of the connection are raised as they are: the follower handles them."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
        timeout = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=silence)
        async with self._send("GET", path, query, b"", headers, timeout, []) as response:
            yield response

    def unreachable(self, error: Exception) -> Unreachable:
        match error:
            case TimeoutError():
                return Unreachable(self.server, NO_ANSWER)
            case aiohttp.ClientConnectorCertificateError():
                return Unreachable(self.server, NOT_TRUSTED)
            case aiohttp.ClientSSLError():
                return Unreachable(self.server, NO_TLS)
            case aiohttp.ClientConnectorError():
                return Unreachable(self.server)
            case _:
                return Unreachable(self.server, BROKEN)

    @asynccontextmanager
    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | int] | None,
        body: bytes,
        headers: Mapping[str, str],
        timeout: ClientTimeout,
        sent: list[str],
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),  # many streams may stay open
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                trace_configs=[_trace_requests()],
            )
        url = URL(self.server + path, encoded=True).with_query(query or None)
        async with self._session.request(
            method,
            url,
            data=body or None,
            headers={**self._headers, **headers},
            timeout=timeout,
            allow_redirects=False,
            trace_request_ctx=sent,
        ) as response:
            if response.status >= 300:
                raise await _api_error_of(response)
            yield response


async def _repeated(once: Callable[[], Awaitable[bytes]]) -> bytes:
    try:
        return await _until_done(once)
    except aiohttp.ClientConnectorError:
        raise  # no server: a second attempt would not help
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientPayloadError):
        return await _until_done(once)


async def _until_done(once: Callable[[], Awaitable[bytes]]) -> bytes:
    """Repeat while the server still works on this key: that is this request, whose connection broke."""
    for _ in range(IN_FLIGHT_TRIES):
        try:
            return await once()
        except ApiError as error:
            if error.problem.kind != IN_FLIGHT_KIND:
                raise
            await asyncio.sleep(1.0 if error.retry_after is None else error.retry_after)
    return await once()


def _trace_requests() -> aiohttp.TraceConfig:
    """Record each request sent: aiohttp repeats a GET or DELETE by itself if the connection breaks."""
    trace = aiohttp.TraceConfig()

    async def record(
        _session: aiohttp.ClientSession, context: Any, sent: aiohttp.TraceRequestHeadersSentParams
    ) -> None:
        context.trace_request_ctx.append(sent.method)

    trace.on_request_headers_sent.append(record)
    return trace


def server_address(text: str) -> str:
    """The URL of a server as people write it: `host:port` is enough. Raises Invalid."""
    url = text.strip() if "://" in text else f"http://{text.strip()}"
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and "@" not in url
    except ValueError:
        is_valid = False
    if not is_valid:
        raise Invalid(f"{text!r} is not the address of a server. One looks like {DEFAULT_SERVER}.")
    return url.rstrip("/").removesuffix("/api/v1")


def api_path(*pieces: str) -> str:
    """A path of the API; an id may contain any character."""
    return "/api/v1/" + "/".join(quote(piece, safe="") for piece in pieces)


async def _api_error_of(response: aiohttp.ClientResponse) -> ApiError:
    body = await response.read()
    retry_after = response.headers.get("Retry-After", "")
    reason = response.reason or ""
    location = response.headers.get("Location", "")
    if response.status < 400 and location:
        reason = f"{reason}: it sends us to {location}, and we do not follow"
    return api_error(response.status, reason, response.content_type, body, retry_after)
