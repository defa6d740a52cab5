"""Idempotency-Key: a POST that is sent again is not carried out again.

What was done under a key is remembered in the log's own transaction (`store.Once`) and the reply is projected
from there once more. Here are the rules of the header, and what is under way in this process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from contextlib import contextmanager

from starlette.requests import Request

from moot.store.contract import Once
from moot.wire.problems import Problem

LONGEST = 255


class Repeats:
    def __init__(self) -> None:
        self._under_way: set[tuple[str, str]] = set()

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
