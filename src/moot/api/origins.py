"""The host names that the server answers to, and the web origins whose pages may use it.

A browser on this machine reaches a local server on behalf of any web page. So a request must name one of our
hosts (otherwise a foreign DNS name could be pointed here), and a request that changes something must not come
from a page of another origin. Nothing is matched by prefix or suffix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal

from msgspec import Struct

from moot.api.problems import Problem
from moot.core.errors import Invalid

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?", re.ASCII)
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
WILDCARDS = frozenset({"", "0.0.0.0", "::", "*"})  # noqa: S104 - named here so that they are no host's name


OriginRelation = Literal["own", "allowed", "foreign"]
"""A page of this server or a program; a page that the operator allows; any other page."""


class WebOrigin(Struct, frozen=True):
    scheme: str
    host: str
    port: int


@lru_cache(maxsize=256)
def parse_host(text: str) -> tuple[str, int | None] | None:
    """The name in lower case and the port of a Host header; None for an invalid header."""
    match = _HOST.fullmatch(text)
    if match is None:
        return None
    return match[1].lower(), int(match[2]) if match[2] else None


def origin_of(scheme: str, host: str) -> WebOrigin | None:
    parsed = parse_host(host)
    if parsed is None or scheme not in _PORTS:
        return None
    scheme = {"ws": "http", "wss": "https"}.get(scheme, scheme)
    return WebOrigin(scheme, parsed[0], parsed[1] or _PORTS[scheme])


def parse_origin(text: str) -> WebOrigin | None:
    """None for `null` and for anything but scheme, host and port."""
    scheme, separator, host = text.partition("://")
    return origin_of(scheme, host) if separator and scheme in ("http", "https") else None


class AllowedHosts:
    """The hosts that we answer to: the loopback names, those configured, and the address that the connection
    reached. (An address cannot be pointed elsewhere, as a name can.) Starlette's TrustedHostMiddleware knows
    neither that address nor problem replies."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = LOOPBACK | {_configured_host(host) for host in hosts if host not in WILDCARDS}

    def check(self, host: str, arrived_at: str) -> None:
        parsed = parse_host(host)
        if parsed is None or not (parsed[0] in self._hosts or parsed[0] == bracketed(arrived_at)):
            raise Problem("misdirected-request")


class AllowedOrigins:
    """The other origins that the operator allows; none by default."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = {_configured_origin(text) for text in allowed}

    def __bool__(self) -> bool:
        return bool(self._allowed)

    def relation(self, origin: str | None, site: str | None, own: WebOrigin | None) -> OriginRelation:
        """Where a request comes from, by its Origin and Sec-Fetch-Site headers. Programs send neither."""
        if origin is None:
            return "foreign" if site in ("cross-site", "same-site") else "own"
        parsed = parse_origin(origin)
        if parsed in self._allowed:
            return "allowed"
        return "own" if parsed is not None and parsed == own else "foreign"


def bracketed(address: str) -> str:
    """An address as a Host header writes it."""
    return f"[{address.partition('%')[0].lower()}]" if ":" in address else address


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _configured_host(host: str) -> str:
    parsed = parse_host(bracketed(host) if host.count(":") > 1 and not host.startswith("[") else host)
    if parsed is None:
        raise Invalid(f"MOOT_HOSTS holds names such as moot.example.org; {host!r} is none.")
    return parsed[0]


def _configured_origin(text: str) -> WebOrigin:
    parsed = parse_origin(text.rstrip("/"))
    if parsed is None:
        raise Invalid(f"MOOT_ORIGINS holds origins such as https://app.example.org; {text!r} is none.")
    return parsed
