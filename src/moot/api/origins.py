"""Under which names the server answers, and the pages of which origins may use it.

A browser on this machine reaches a local server on behalf of any page in the world. So a request must name a
host that is ours (or a name of somebody else's could be made to point here), and one that changes something
must not come from a page of another origin. Nothing is matched by prefix or suffix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

from msgspec import Struct

from moot.api.problems import Problem
from moot.core.errors import Invalid

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?", re.ASCII)
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
WILDCARDS = frozenset({"", "0.0.0.0", "::", "*"})  # noqa: S104 - named here so that they are no host's name


class WebOrigin(Struct, frozen=True):
    scheme: str
    host: str
    port: int


def parse_host(text: str) -> tuple[str, int | None] | None:
    """The name in lower case and the port of a Host header, or None if it is none."""
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
    """`null` and all that is not exactly scheme, host and port is nobody's origin."""
    scheme, separator, host = text.partition("://")
    return origin_of(scheme, host) if separator and scheme in ("http", "https") else None


class AllowedHosts:
    """The hosts for which we answer: this machine's own names, those configured, and the very address at
    which a connection came in. An address cannot be made to point elsewhere, as a name can."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = LOOPBACK | {_configured_host(host) for host in hosts if host not in WILDCARDS}

    def check(self, host: str, arrived_at: str) -> None:
        parsed = parse_host(host)
        if parsed is None or not (parsed[0] in self._hosts or parsed[0] == bracketed(arrived_at)):
            raise Problem("misdirected-request")


class AllowedOrigins:
    """The other origins that the operator allows; by default none."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = {_configured_origin(text) for text in allowed}

    def __bool__(self) -> bool:
        return bool(self._allowed)

    def allows(self, origin: str) -> bool:
        parsed = parse_origin(origin)
        return parsed is not None and parsed in self._allowed

    def check(self, origin: str | None, site: str | None, own: WebOrigin | None) -> None:
        """For whatever changes something, and for WebSockets. Programs send neither header."""
        if origin is None:
            if site in ("cross-site", "same-site"):
                raise Problem("forbidden-origin")
            return
        parsed = parse_origin(origin)
        if parsed is None or not (parsed == own or parsed in self._allowed):
            raise Problem("forbidden-origin")


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
