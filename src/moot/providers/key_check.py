"""Tests a key of a service with one cheap request, and says in words what came of it.

The list of models is asked for, which costs nothing; where a service shows that list without a key, another
address is (`Endpoint.key_path`). The reply names the cause and the remedy, never the key or a part of it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct

from moot.core.errors import Fault
from moot.providers import error_replies, transport
from moot.providers.endpoints import Endpoint, key_hint, needs_key, proxy_to
from moot.providers.keys import SETTINGS_FILE, ApiKey
from moot.providers.wire_formats import load_wire_format

TIMEOUT = aiohttp.ClientTimeout(total=15)
MAX_REPLY_BYTES = 64 * 1024


class KeyCheck(Struct, frozen=True):
    """What a test of a key has shown."""

    ok: bool
    message: str
    fix: str = ""
    """What to do where it was not accepted."""


async def check_key(endpoint: Endpoint, key: ApiKey | None, environ: Mapping[str, str]) -> KeyCheck:
    """Ask the service whether it accepts the key. Raises Invalid for a proxy that is no address."""
    if not endpoint.base_url:
        return KeyCheck(
            False, f"The address of {endpoint.title} is not set.", f"Set {endpoint.url_variable}."
        )
    if key is None and needs_key(endpoint):
        return KeyCheck(False, f"No key is set for {endpoint.title}.", key_hint(endpoint))
    wire_format = load_wire_format(endpoint.wire_format, endpoint.accent)
    url = (
        endpoint.base_url + endpoint.key_path
        if endpoint.key_path
        else wire_format.list_url(endpoint.base_url)
    )
    try:
        await _ask(url, wire_format.headers(key.secret.reveal() if key else ""), proxy_to(url, environ))
    except Fault as fault:
        return _failed(endpoint, key, fault)
    if key is None:
        return KeyCheck(True, f"{endpoint.title} answers at {_host(endpoint)} without a key.")
    return KeyCheck(True, f"{endpoint.title} accepted {_named(key)}.")


async def _ask(url: str, headers: Mapping[str, str], proxy: str | None) -> None:
    """Raises Fault unless the reply is a success."""
    try:
        async with (
            transport.open_session() as session,
            session.get(url, headers=headers, allow_redirects=False, proxy=proxy, timeout=TIMEOUT) as reply,
        ):
            if reply.status == 200:
                return
            body = await transport.read_body(reply, MAX_REPLY_BYTES)
            raise error_replies.fault_from_response(reply.status, reply.headers, body, time.time())
    except (aiohttp.ClientError, OSError) as error:
        raise transport.fault_from_exception(error, began=False) from None


def _failed(endpoint: Endpoint, key: ApiKey | None, fault: Fault) -> KeyCheck:
    title, host = endpoint.title, _host(endpoint)
    named = _named(key) if key else "a request without a key"
    status = f" ({fault.http_status})" if fault.http_status else ""
    address = endpoint.url_variable or f"[endpoints.{endpoint.name}] in {SETTINGS_FILE}"
    wait = f"Wait {fault.retry_after:.0f} s, then test again." if fault.retry_after else "Test again later."
    match fault.kind:
        case "bad_key" | "forbidden":
            return KeyCheck(False, f"{title} rejected {named}{status}.", _replace_key(endpoint, key))
        case "billing":
            message = f"{title} accepts no more calls with {named}{status}: its quota or credit is used up."
            return KeyCheck(False, message, f"Look at your account with {title}, or save another key.")
        case "rate_limited" | "overloaded":
            return KeyCheck(False, f"{title} refuses further requests for now{status}.", wait)
        case "unreachable" | "timeout" | "stalled" | "disconnected":
            fix = f"Check the network, a proxy (HTTPS_PROXY) and the address ({address})."
            return KeyCheck(False, f"{host} cannot be reached.", fix)
        case "tls":
            return KeyCheck(
                False, f"The certificate of {host} is not valid.", f"Check the address ({address})."
            )
        case "unknown_model" | "redirected" | "bad_request":
            message = f"{host} has no list of models at this address{status}, so {named} was not tested."
            return KeyCheck(False, message, f"Check the address ({address}).")
        case _:
            return KeyCheck(False, f"{title} failed to answer{status}.", wait)


def _replace_key(endpoint: Endpoint, key: ApiKey | None) -> str:
    check = "Check that the key is complete and belongs to this service."
    command = f"`moot keys set {endpoint.name}`"
    match key.origin if key else None:
        case "environment":
            return f"{check} Replace it in Settings, with {command} or in the environment."
        case "file":
            return f"{check} Replace it in Settings, with {command} or in {SETTINGS_FILE}."
        case _:
            return f"{check} Save another one in Settings or with {command}."


def _named(key: ApiKey) -> str:
    """How messages call a key, without showing it."""
    return f"the key in {key.source}" if key.source == SETTINGS_FILE else key.source


def _host(endpoint: Endpoint) -> str:
    return urlsplit(endpoint.base_url).netloc
