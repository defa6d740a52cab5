"""How we speak HTTP to services.

A session follows no redirects, keeps no cookies, reads no password files and unpacks nothing, so a key goes
to the one host it belongs to and a reply costs no more memory than its bytes. What goes wrong on the line
becomes a `Fault` here; what a service says against us, in `complaints.py`.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp
from aiohttp import ClientTimeout

from moot.core.errors import Fault

CONNECT_SECONDS = 10.0
DRAIN_SECONDS = 0.05
RETRY_WITHIN_SECONDS = 0.5
HEADERS = {"Accept-Encoding": "identity"}

REUSED = "moot.reused"


def open_session(
    *, socket: str | None = None, read_timeout: float | None = None, connect: float = CONNECT_SECONDS
) -> aiohttp.ClientSession:
    """`read_timeout` is the longest silence we bear, before the first byte or between two."""
    if socket is None:
        connector: aiohttp.BaseConnector = aiohttp.TCPConnector(limit=0)
    else:
        # A local socket connects in microseconds; reusing one risks writing to a server that has just died.
        connector = aiohttp.UnixConnector(socket, limit=0, force_close=True)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=ClientTimeout(total=None, sock_connect=connect, sock_read=read_timeout),
        headers=HEADERS,
        auto_decompress=False,
        trust_env=False,
        trace_configs=[_trace_reuse()],
    )


async def post(
    session: aiohttp.ClientSession,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    proxy: str | None = None,
) -> aiohttp.ClientResponse:
    """Post once; again at once if the service hung up on a kept connection just as we picked it up."""
    history: dict[str, bool] = {}

    async def once() -> aiohttp.ClientResponse:
        return await session.post(
            url, data=body, headers=headers, allow_redirects=False, proxy=proxy, trace_request_ctx=history
        )

    sent = monotonic()
    try:
        return await once()
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
        # Later than that it may have begun to work on it, and will bill it.
        if not history.get(REUSED) or monotonic() - sent > RETRY_WITHIN_SECONDS:
            raise
        return await once()


async def drain(response: aiohttp.ClientResponse) -> None:
    """Read on to the end of a reply that has said all it had to say: only then is its connection kept."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in response.content.iter_any():
                pass


async def read_body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body, or as much of it as we care to hold; what the status says holds without it too."""
    parts: list[bytes] = []
    with suppress(aiohttp.ClientError, OSError):
        async for packet in response.content.iter_any():
            parts.append(packet)
            most -= len(packet)
            if most <= 0:
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


# --- what the line does -------------------------------------------------------------------------------


def fault_from_exception(error: Exception, *, began: bool) -> Fault:
    """A connection that could not be made, fell silent or broke off."""
    # Neither its repr nor its str: those of a broken reply show its headers, and the password of a proxy.
    match error:
        case aiohttp.ClientResponseError():
            message = f"{error.status} {error.message}"
        case aiohttp.InvalidURL():
            message = "an address that is none"
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
            return Fault("disconnected", detail=detail)


# --- the way there ------------------------------------------------------------------------------------


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for this address; never one for this machine itself."""
    where = urlsplit(url)
    host = where.hostname or ""
    if host == "localhost" or host.startswith("127.") or host == "::1":
        return None
    settings = {name.lower(): value for name, value in environ.items() if value}
    spared = [name.strip().removeprefix("*.").lstrip(".") for name in settings.get("no_proxy", "").split(",")]
    if any(name and (name in ("*", host) or host.endswith(f".{name}")) for name in spared):
        return None
    return settings.get(f"{where.scheme}_proxy") or settings.get("all_proxy")
