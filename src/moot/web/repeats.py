"""Idempotency-Key: a POST that is sent again is not carried out again.

What was done under a key is remembered in the log's own transaction (`store.Once`) and the reply is projected
from there once more. Here are the rules of the header, what is under way in this process, and what it has
said lately about things that are kept beside the log.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from starlette.requests import Request

from moot.errors import KeyReused
from moot.store.contract import Once
from moot.wire.problems import Problem

LONGEST = 255
MOST_SAID = 1_000


class Repeats:
    def __init__(self) -> None:
        self._under_way: set[tuple[str, str]] = set()
        self._said: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}

    @contextmanager
    def doing(self, request: Request, body: bytes) -> Generator[Once | None]:
        """Under the key that the request has, if it has one."""
        key = key_of(request)
        if key is None:
            yield None
            return
        client: str = request.scope["state"]["client"]
        if (client, key) in self._under_way:
            raise Problem("idempotency-in-flight")
        self._under_way.add((client, key))
        try:
            yield Once(client, key, fingerprint(request.method, request.url.path, body))
        finally:
            self._under_way.discard((client, key))

    def said(self, once: Once | None) -> dict[str, Any] | None:
        """What was answered to the same request before."""
        body_hash, shape = self._said.get((once.client, once.key), ("", None)) if once else ("", None)
        if once and shape is not None and body_hash != once.body_hash:
            raise KeyReused
        return shape

    def remember(self, once: Once | None, shape: dict[str, Any]) -> None:
        if once is None:
            return
        self._said[once.client, once.key] = (once.body_hash, shape)
        if len(self._said) > MOST_SAID:
            del self._said[next(iter(self._said))]


def key_of(request: Request) -> str | None:
    given = request.headers.getlist("idempotency-key")
    if not given:
        return None
    if len(given) > 1:
        raise Problem("malformed-request", "There is more than one Idempotency-Key")
    return usable_key(given[0])


def usable_key(key: str) -> str:
    if not 1 <= len(key) <= LONGEST:
        raise Problem("malformed-request", f"An idempotency key has 1 to {LONGEST} characters")
    if not (key.isascii() and key.isprintable()):
        raise Problem("malformed-request", "An idempotency key has printable ASCII characters only")
    return key


def fingerprint(method: str, path: str, body: bytes) -> str:
    """The same request, and no other, has the same."""
    return hashlib.sha256(b"\n".join((method.encode(), path.encode(), body))).hexdigest()
