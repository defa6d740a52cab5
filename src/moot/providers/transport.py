"""HTTP to model services.

A session follows no redirects, keeps no cookies, reads no password files and decompresses nothing, so a key
goes to the one host it belongs to and a reply costs no more memory than its bytes. Errors of the connection
become a `Fault` here; errors that a service reports, in `error_replies.py`.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from time import monotonic, time
from typing import Any, cast

import aiohttp
from aiohttp import ClientTimeout
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage

from moot.core.errors import Fault
from moot.providers.contract import CONNECT_SECONDS
from moot.providers.error_replies import fault_from_response

DRAIN_SECONDS = 0.05
RETRY_WITHIN_SECONDS = 0.5
HEADERS = {"Accept-Encoding": "identity"}

REUSED = "moot.reused"


def open_session(
    *, socket: str | None = None, read_timeout: float | None = None, connect: float = CONNECT_SECONDS
) -> aiohttp.ClientSession:
    """`read_timeout` is the longest wait for a byte, the first or a later one."""
    if socket is None:
        connector: aiohttp.BaseConnector = aiohttp.TCPConnector(limit=0)
    else:
        # A local socket connects in microseconds; reusing one risks writing to a server that has just died.
        connector = aiohttp.UnixConnector(socket, limit=0, force_close=True)
    handler: partial[ResponseHandler] = partial(_ResponseHandler, loop=asyncio.get_running_loop())
    connector._factory = handler  # pyright: ignore[reportPrivateUsage] - there is no public way
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=ClientTimeout(total=None, sock_connect=connect, sock_read=read_timeout),
        headers=HEADERS,
        auto_decompress=False,
        trust_env=False,
        trace_configs=[_trace_reuse()],
    )


class _ResponseHandler(ResponseHandler):
    """Reports a reset like a clean end: that error has as much as had come of the head of the reply."""

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(None if isinstance(exc, ConnectionError) else exc)


async def post(
    session: aiohttp.ClientSession,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    proxy: str | None = None,
) -> aiohttp.ClientResponse:
    """Post; again at once if the service closed a kept connection just as it was reused.

    Raises Fault where a refusal had begun when the connection broke: it may say how long to wait.
    """
    history: dict[str, bool] = {}

    async def once() -> aiohttp.ClientResponse:
        return await session.post(
            url, data=body, headers=headers, allow_redirects=False, proxy=proxy, trace_request_ctx=history
        )

    sent = monotonic()
    try:
        return await once()
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
        head = error.message if isinstance(error, aiohttp.ServerDisconnectedError) else None
        begun = isinstance(head, RawResponseMessage)
        if begun and head.code != HTTPStatus.OK:
            raise fault_from_response(head.code, head.headers, b"", time()) from error
        # After that time it may have begun to work on the request, and will bill it.
        if begun or not history.get(REUSED) or monotonic() - sent > RETRY_WITHIN_SECONDS:
            raise
        return await once()


async def drain(response: aiohttp.ClientResponse) -> None:
    """Read a finished reply to its last byte: only then is its connection kept."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in response.content.iter_any():
                pass


async def read_body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The first `max_bytes` of the body, or what came before the connection broke."""
    parts: list[bytes] = []
    with suppress(aiohttp.ClientError, OSError):
        async for packet in response.content.iter_any():
            parts.append(packet)
            max_bytes -= len(packet)
            if max_bytes <= 0:
                break
    return b"".join(parts)


def _trace_reuse() -> aiohttp.TraceConfig:
    trace = aiohttp.TraceConfig()

    async def reused(
        _session: aiohttp.ClientSession, context: Any, _params: aiohttp.TraceConnectionReuseconnParams
    ) -> None:
        history = cast("dict[str, bool] | None", context.trace_request_ctx)
        if history is not None:
            history[REUSED] = True

    trace.on_connection_reuseconn.append(reused)
    return trace


def fault_from_exception(error: Exception, *, began: bool) -> Fault:
    """The fault for a connection that could not be made, stalled or broke."""
    # Not the repr or str: those of a broken reply show its headers, and the password of a proxy.
    match error:
        case aiohttp.ClientResponseError():
            message = f"{error.status} {error.message}"
        case aiohttp.InvalidURL():
            message = "an invalid address"
        case _:
            message = str(error)
    detail = f"{type(error).__name__}: {message}"
    match error:
        case aiohttp.ClientConnectorSSLError() | aiohttp.ClientConnectorCertificateError() | ssl.SSLError():
            return Fault("tls", "permanent", billed=False, detail=detail)
        case aiohttp.ClientConnectorError() | aiohttp.ClientHttpProxyError():
            return Fault("unreachable", billed=False, detail=detail)
        case aiohttp.ConnectionTimeoutError():
            return Fault("timeout", billed=False, detail=detail)
        case TimeoutError():
            return Fault("stalled" if began else "timeout", detail=detail)
        case aiohttp.InvalidURL():
            return Fault("unreachable", "permanent", billed=False, detail=detail)
        case aiohttp.ClientResponseError():
            return Fault("malformed", "unusable", detail=detail)
        case _:
            # Before the first event of a reply nothing has come that could be billed.
            return Fault("disconnected", billed=began, detail=detail)
