"""How we speak HTTP to services, and what their refusals mean.

A session follows no redirects, keeps no cookies, obeys no proxy variables and unpacks nothing, so a key goes
to the one host it belongs to and a reply costs no more memory than its bytes. Whatever goes wrong is
translated here, once, into a `Fault`: `refused` for what a service says, `broken` for what the line does.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

import aiohttp
import msgspec
from aiohttp import ClientTimeout

from moot.errors import Fault, FaultClass, FaultKind

CONNECT_SECONDS = 10.0
DETAIL = 500
HEADERS = {"Accept-Encoding": "identity"}

KEY = "moot.reused"


def session(
    *, socket: str | None = None, patience: float | None = 30.0, connect: float = CONNECT_SECONDS
) -> aiohttp.ClientSession:
    """`patience` is the longest silence we bear, before the first byte or between two."""
    if socket is None:
        connector: aiohttp.BaseConnector = aiohttp.TCPConnector(limit=0)
    else:
        # A local socket connects in microseconds; reusing one risks writing to a server that has just died.
        connector = aiohttp.UnixConnector(socket, limit=0, force_close=True)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=ClientTimeout(total=None, sock_connect=connect, sock_read=patience),
        headers=HEADERS,
        auto_decompress=False,
        trust_env=False,
        trace_configs=[_reuse_noted()],
    )


async def post(
    session: aiohttp.ClientSession, url: str, body: bytes, headers: Mapping[str, str]
) -> aiohttp.ClientResponse:
    """Post once; again at once if the service hung up on a kept connection just as we picked it up."""
    history: dict[str, bool] = {}

    async def once() -> aiohttp.ClientResponse:
        return await session.post(
            url, data=body, headers=headers, allow_redirects=False, trace_request_ctx=history
        )

    try:
        return await once()
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
        if not history.get(KEY):
            raise
        return await once()


async def whole(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body, or as much of it as we care to hold."""
    parts: list[bytes] = []
    async for packet in response.content.iter_any():
        parts.append(packet)
        most -= len(packet)
        if most <= 0:
            break
    return b"".join(parts)


def _reuse_noted() -> aiohttp.TraceConfig:
    trace = aiohttp.TraceConfig()

    async def reused(
        _session: aiohttp.ClientSession, context: Any, _params: aiohttp.TraceConnectionReuseconnParams
    ) -> None:
        history = cast("dict[str, bool] | None", context.trace_request_ctx)
        if history is not None:
            history[KEY] = True

    trace.on_connection_reuseconn.append(reused)
    return trace


# --- what the line does -------------------------------------------------------------------------------


def broken(error: Exception, *, began: bool) -> Fault:
    """A connection that could not be made, fell silent or broke off."""
    detail = repr(error)[:DETAIL]
    match error:
        case aiohttp.ClientConnectorSSLError() | aiohttp.ClientConnectorCertificateError() | ssl.SSLError():
            return Fault("tls", "permanent", billed=False, detail=detail)
        case aiohttp.ClientConnectorError():
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


# --- what the service says ----------------------------------------------------------------------------

BY_STATUS: dict[int, tuple[FaultKind, FaultClass]] = {
    400: ("bad_request", "permanent"),
    401: ("bad_key", "permanent"),
    402: ("billing", "permanent"),
    403: ("forbidden", "permanent"),
    404: ("unknown_model", "permanent"),
    408: ("timeout", "transient"),
    409: ("server_error", "transient"),
    413: ("too_long", "unusable"),
    422: ("bad_request", "permanent"),
    429: ("rate_limited", "transient"),
    503: ("overloaded", "transient"),
    529: ("overloaded", "transient"),
}

# The first word found in the service's code, type or message decides. A spent budget often looks like a
# rate limit, so it stands first.
BY_WORD: tuple[tuple[str, FaultKind, FaultClass], ...] = (
    ("insufficient_quota", "billing", "permanent"),
    ("spend_limit", "billing", "permanent"),
    ("spending limit", "billing", "permanent"),
    ("billing", "billing", "permanent"),
    ("context_length", "too_long", "unusable"),
    ("context size", "too_long", "unusable"),
    ("context length", "too_long", "unusable"),
    ("exceed_context", "too_long", "unusable"),
    ("prompt is too long", "too_long", "unusable"),
    ("model_not_found", "unknown_model", "permanent"),
    ("previous_response_not_found", "chain_lost", "unusable"),
    ("content_filter", "filtered", "permanent"),
    ("invalid_api_key", "bad_key", "permanent"),
    ("authentication_error", "bad_key", "permanent"),
    ("overloaded", "overloaded", "transient"),
    ("rate_limit", "rate_limited", "transient"),
    ("invalid_request", "bad_request", "permanent"),
)


def refused(status: int, headers: Mapping[str, str], body: bytes, now: float) -> Fault:
    """An answer other than 200."""
    if 300 <= status < 400:
        return Fault("redirected", "permanent", http_status=status, billed=False)
    return complaint(loosely(body), status, retry_after=wait_asked(headers, now))


def loosely(body: bytes) -> Any:
    """JSON where it is JSON, else its first words."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body[:DETAIL].decode(errors="replace")


def complaint(said: Any, status: int | None = None, *, retry_after: float | None = None) -> Fault:
    """An error object, in a body or in mid-stream; services agree on little more than its name."""
    words = _words(said)
    status = status or _status_in(said)
    kind, severity = _class(status, words.lower())
    return Fault(
        kind,
        severity,
        http_status=status,
        retry_after=retry_after,
        billed=status is None or status >= 500,
        detail=words[:DETAIL],
    )


def _class(status: int | None, words: str) -> tuple[FaultKind, FaultClass]:
    if status not in {401, 402, 403, 408, 413} and not (status and status >= 500):
        for word, kind, severity in BY_WORD:
            if word in words:
                return kind, severity
    if status in BY_STATUS:
        return BY_STATUS[status]
    return ("bad_request", "permanent") if status and status < 500 else ("server_error", "transient")


def _words(said: Any) -> str:
    if not isinstance(said, dict):
        return str(said)
    told = cast("dict[str, Any]", said)
    if "error" in told:
        return _words(told["error"])
    parts = (told.get(key) for key in ("code", "type", "message", "detail"))
    return " ".join(str(part) for part in parts if part)


def _status_in(said: Any) -> int | None:
    if not isinstance(said, dict):
        return None
    told = cast("dict[str, Any]", said)
    if "error" in told:
        return _status_in(told["error"])
    for key in ("code", "status_code", "status"):
        value = told.get(key)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None


def wait_asked(headers: Mapping[str, str], now: float) -> float | None:
    """What Retry-After asks for, in any of its spellings; a past date or nonsense asks for nothing."""
    asked = headers.get("retry-after", "")
    milliseconds = headers.get("retry-after-ms", "")
    waits = [float(asked)] if asked.isdigit() else [_seconds_until(asked, now)]
    if milliseconds.isdigit():
        waits.append(float(milliseconds) / 1000)
    longest = max(waits)
    return longest if longest > 0 else None


def _seconds_until(date: str, now: float) -> float:
    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, OverflowError):
        return 0.0
