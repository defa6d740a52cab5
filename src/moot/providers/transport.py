"""How we speak HTTP to services, and what their refusals mean.

A session follows no redirects, keeps no cookies, reads no password files and unpacks nothing, so a key goes
to the one host it belongs to and a reply costs no more memory than its bytes. Whatever goes wrong is
translated here, once, into a `Fault`: `refused` for what a service says, `broken` for what the line does.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp
import msgspec
from aiohttp import ClientTimeout

from moot.errors import Fault, FaultClass, FaultKind

CONNECT_SECONDS = 10.0
FAREWELL_SECONDS = 0.05
HEADERS = {"Accept-Encoding": "identity"}

KEY = "moot.reused"


def session(
    *, socket: str | None = None, patience: float | None = None, connect: float = CONNECT_SECONDS
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

    try:
        return await once()
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
        if not history.get(KEY):
            raise
        return await once()


async def rest(response: aiohttp.ClientResponse) -> None:
    """Read on to the end of a reply that has said all it had to say: only then is its connection kept."""
    with suppress(TimeoutError):
        async with asyncio.timeout(FAREWELL_SECONDS):
            async for _ in response.content.iter_any():
                pass


async def whole(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body, or as much of it as we care to hold; what the status says holds without it too."""
    parts: list[bytes] = []
    with suppress(aiohttp.ClientError, OSError):
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
    # Not its repr: that of a broken reply shows the headers it was asked with.
    detail = f"{type(error).__name__}: {error}"
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
# rate limit, and a rate limit often speaks of billing, so their order matters.
BY_WORD: tuple[tuple[str, FaultKind, FaultClass], ...] = (
    ("insufficient_quota", "billing", "permanent"),
    ("spend_limit", "billing", "permanent"),
    ("spend limit", "billing", "permanent"),
    ("spending limit", "billing", "permanent"),
    ("usage_limit", "billing", "permanent"),
    ("api usage limits", "billing", "permanent"),
    ("credit balance", "billing", "permanent"),
    ("credit_balance", "billing", "permanent"),
    ("insufficient credits", "billing", "permanent"),
    ("resource_exhausted", "rate_limited", "transient"),
    ("rate_limit", "rate_limited", "transient"),
    ("rate limit", "rate_limited", "transient"),
    ("billing", "billing", "permanent"),
    ("context_length", "too_long", "unusable"),
    ("context size", "too_long", "unusable"),
    ("context length", "too_long", "unusable"),
    ("context window", "too_long", "unusable"),
    ("context limit", "too_long", "unusable"),
    ("exceed_context", "too_long", "unusable"),
    ("prompt is too long", "too_long", "unusable"),
    ("input is too long", "too_long", "unusable"),
    ("maximum prompt length", "too_long", "unusable"),
    ("string too long", "too_long", "unusable"),
    ("input token count", "too_long", "unusable"),
    ("reduce the length", "too_long", "unusable"),
    ("request_too_large", "too_long", "unusable"),
    ("model_not_found", "unknown_model", "permanent"),
    ("model not found", "unknown_model", "permanent"),
    ("encrypted_content", "seal_refused", "unusable"),
    ("encrypted content", "seal_refused", "unusable"),
    ("previous_response", "chain_lost", "unusable"),
    ("zero data retention", "chain_lost", "unusable"),
    ("items are not persisted", "chain_lost", "unusable"),
    ("content_filter", "filtered", "unusable"),
    ("flagged", "filtered", "unusable"),
    ("invalid_api_key", "bad_key", "permanent"),
    ("api_key_invalid", "bad_key", "permanent"),
    ("api key not valid", "bad_key", "permanent"),
    ("incorrect api key", "bad_key", "permanent"),
    ("authentication_error", "bad_key", "permanent"),
    ("response_format", "schema_refused", "unusable"),
    ("json_schema", "schema_refused", "unusable"),
    ("response_schema", "schema_refused", "unusable"),
    ("responseschema", "schema_refused", "unusable"),
    ("schema in generationconfig", "schema_refused", "unusable"),
    ("output_config.format", "schema_refused", "unusable"),
    ("compiled grammar", "schema_refused", "unusable"),
    ("text.format", "schema_refused", "unusable"),
    ("overloaded", "overloaded", "transient"),
)
PLAIN = {401, 402, 408, 413}
"""Statuses that need no words."""


def refused(status: int, headers: Mapping[str, str], body: bytes, now: float) -> Fault:
    """An answer other than 200."""
    if 300 <= status < 400:
        return Fault("redirected", "permanent", http_status=status, billed=False)
    return complaint(loosely(body), status, retry_after=wait_asked(headers, now))


def loosely(body: bytes) -> Any:
    """JSON where it is JSON, else its first words."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode(errors="replace")


def complaint(said: Any, status: int | None = None, *, retry_after: float | None = None) -> Fault:
    """An error object, in a body or in mid-stream; services agree on little more than its name."""
    told = _innermost(said)
    words = _words(told)
    status = status or _status_in(told)
    kind, severity = _class(status, words.lower())
    return Fault(
        kind,
        severity,
        http_status=status,
        retry_after=retry_after or _wait_told(told),
        billed=status is None or status >= 500,
        detail=words,
    )


def _class(status: int | None, words: str) -> tuple[FaultKind, FaultClass]:
    if status == 403:
        return ("filtered", "unusable") if "flagged" in words else BY_STATUS[status]
    if status not in PLAIN and not (status and status >= 500):
        for word, kind, severity in BY_WORD:
            if word in words:
                return kind, severity
    if "context size" in words:
        # llama.cpp outgrows its context in mid-speech, and calls that a failure of its own.
        return "too_long", "unusable"
    if status in BY_STATUS:
        return BY_STATUS[status]
    # Some give this type to a conflict too, which is worth another try: a status says more.
    blames_us = status < 500 if status else "invalid_request" in words
    return ("bad_request", "permanent") if blames_us else ("server_error", "transient")


def _innermost(said: Any) -> Any:
    """The object that says what is wrong, out of whatever it is wrapped in."""
    while (inner := _wrapped(said)) is not None:
        said = inner
    return said


def _wrapped(said: Any) -> Any:
    if isinstance(said, list):
        return cast("list[Any]", said)[0] if said else None
    detail = member(said, "detail")
    return member(said, "error") or (cast("Any", detail) if isinstance(detail, dict) else None)


def _words(told: Any) -> str:
    if not isinstance(told, dict):
        return str(told)
    parts = [member(told, key) for key in ("code", "type", "status", "param", "message", "detail")]
    parts += [member(told, "metadata", "raw"), member(told, "details", "error_code")]
    parts += [detail.get("reason") for detail in _details(told)]
    return " ".join(str(part) for part in parts if part)


def _status_in(told: Any) -> int | None:
    for key in ("code", "status_code", "status"):
        value = member(told, key)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None


def _wait_told(told: Any) -> float | None:
    """Google says in the body how long to wait: {"retryDelay": "48s"}."""
    for detail in _details(told):
        delay = str(detail.get("retryDelay", ""))
        if found := re.fullmatch(r"(\d+(?:\.\d+)?)s", delay):
            return float(found[1])
    return None


def _details(told: Any) -> list[dict[str, Any]]:
    details = member(told, "details")
    if not isinstance(details, list):
        return []
    return [cast("dict[str, Any]", item) for item in cast("list[Any]", details) if isinstance(item, dict)]


def member(told: Any, *path: str) -> Any:
    """What stands at the end of this path, or None."""
    for name in path:
        told = cast("dict[str, Any]", told).get(name) if isinstance(told, dict) else None
    return told


def wait_asked(headers: Mapping[str, str], now: float) -> float | None:
    """What Retry-After asks for, in any of its spellings; a past date or nonsense asks for nothing."""
    asked = headers.get("retry-after", "").strip()
    waits = [_number(asked), _number(headers.get("retry-after-ms", "").strip()) / 1000]
    if asked and not waits[0]:
        # A date is meant by the clock of the service, which may not be ours.
        waits.append(_moment(asked) - (_moment(headers.get("date", "")) or now))
    longest = max(waits)
    return longest if longest > 0 else None


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else 0.0


def _moment(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return 0.0


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
