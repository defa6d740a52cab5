"""The line to one server: requests that may be repeated, and what became of them.

Every POST carries an Idempotency-Key, so that one whose answer was lost is simply asked again and leads to
the same result, not to a second one. No redirect is followed: a token goes to the server it is meant for.
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
from msgspec import Struct
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


class HttpReply(Struct, frozen=True):
    status: int
    body: bytes


class ServerConnection:
    """`keys` are the caller's own keys of providers; they are sent with what opens or steers a debate."""

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
        """A stream waits for the server to come back."""

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, path: str, shape: type[T], /, **query: str | int) -> T:
        return decode((await self.request("GET", path, query=query)).body, shape)

    async def post(self, path: str, shape: type[T], body: bytes = b"", key: str = "") -> T:
        headers = {"Idempotency-Key": key or secrets.token_urlsafe(24), **self._keys}
        return decode((await self.request("POST", path, body=body, headers=headers)).body, shape)

    async def put(self, path: str, shape: type[T], body: bytes) -> T:
        return decode((await self.request("PUT", path, body=body)).body, shape)

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
    ) -> HttpReply:
        """Ask; once more if the line broke. Raises ApiError, or Unreachable."""
        headers = {**(headers or {}), **(JSON if body else {})}
        sent: list[str] = []

        async def once() -> HttpReply:
            try:
                async with self._send(method, path, query, body, headers, self._timeout, sent) as response:
                    return HttpReply(response.status, await response.read())
            except ApiError as error:
                if method == "DELETE" and error.status == NOT_FOUND and len(sent) > 1:
                    return HttpReply(NO_CONTENT, b"")  # the first time had come through
                raise

        try:
            return await _repeated(once)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self.unreachable(error) from error

    @asynccontextmanager
    async def open_stream(
        self, path: str, query: Mapping[str, str | int], last_id: str, silence: float
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """An open stream. What breaks on it is the follower's business: it comes as it is."""
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
                connector=aiohttp.TCPConnector(limit=0),  # streams stay open, and may be many
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                trace_configs=[_noting_what_is_sent()],
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
                raise await _refused(response)
            yield response


async def _repeated(once: Callable[[], Awaitable[HttpReply]]) -> HttpReply:
    try:
        return await _until_settled(once)
    except aiohttp.ClientConnectorError:
        raise  # nobody is there
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientPayloadError):
        return await _until_settled(once)


async def _until_settled(once: Callable[[], Awaitable[HttpReply]]) -> HttpReply:
    """Our key is our own: where it is being worked on, that is this very request, whose line broke."""
    for _ in range(IN_FLIGHT_TRIES):
        try:
            return await once()
        except ApiError as error:
            if error.problem.kind != IN_FLIGHT_KIND:
                raise
            await asyncio.sleep(1.0 if error.retry_after is None else error.retry_after)
    return await once()


def _noting_what_is_sent() -> aiohttp.TraceConfig:
    """aiohttp repeats a GET or a DELETE by itself where the line breaks, and does not say so."""
    trace = aiohttp.TraceConfig()

    async def note(
        _session: aiohttp.ClientSession, context: Any, sent: aiohttp.TraceRequestHeadersSentParams
    ) -> None:
        context.trace_request_ctx.append(sent.method)

    trace.on_request_headers_sent.append(note)
    return trace


def server_address(given: str) -> str:
    """The address of a server as people write it: `host:port` will do."""
    written = given.strip() if "://" in given else f"http://{given.strip()}"
    try:
        where = urlsplit(written)
        fine = where.scheme in ("http", "https") and where.hostname and where.port != 0 and "@" not in written
    except ValueError:
        fine = False
    if not fine:
        raise Invalid(f"{given!r} is not the address of a server. One looks like {DEFAULT_SERVER}.")
    return written.rstrip("/").removesuffix("/api/v1")


def api_path(*pieces: str) -> str:
    """A path below the API; an id may hold anything."""
    return "/api/v1/" + "/".join(quote(piece, safe="") for piece in pieces)


async def _refused(response: aiohttp.ClientResponse) -> ApiError:
    body = await response.read()
    retry_after = response.headers.get("Retry-After", "")
    reason = response.reason or ""
    elsewhere = response.headers.get("Location", "")
    if response.status < 400 and elsewhere:
        reason = f"{reason}: it sends us to {elsewhere}, and we do not follow"
    return api_error(response.status, reason, response.content_type, body, retry_after)
