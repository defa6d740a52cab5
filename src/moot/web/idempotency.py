"""Idempotency-Key: a POST that is sent again is not carried out again.

The key of a command is stored in the transaction of its events (`store.IdempotencyKey`), and a repeated
request is answered from the log. This module has the rules of the header, the requests under way, and recent
replies about things that are not in the log, such as tokens. Such a reply contains a secret: it is shared
with other processes only encrypted, with the token and the key of the request. On a server without tokens it
is not shared, only that there was one: a key may be as simple as 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct
from starlette.requests import Request

from moot.api.auth import ANYONE
from moot.api.problems import Problem
from moot.core.ephemeral_store import EphemeralStore
from moot.core.errors import KeyReused
from moot.core.json_types import encode_value
from moot.store.contract import IdempotencyKey

MAX_KEY_LENGTH = 255
MAX_SAVED = 1_000
SAVED_SECONDS = 24 * 3600.0
IN_FLIGHT_SECONDS = 60.0
"""Longer than any request takes; after this time a process that died is no longer waited for."""

REPLY_NOT_KEPT = "This was done already, and who did it told the secret once; do it anew under another key"

SavedReply = tuple[str, dict[str, Any] | None]
"""The fingerprint of a request and its reply; None if only the process that sent the reply has it."""


class IdempotencyKeys:
    def __init__(self, ephemeral: EphemeralStore) -> None:
        self._ephemeral = ephemeral
        self._saved: dict[str, SavedReply] = {}
        """Replies of this process: a Redis may lose them."""

    @asynccontextmanager
    async def in_flight(self, request: Request, body: bytes) -> AsyncGenerator[IdempotencyKey | None]:
        """Reserve the idempotency key of the request, if it has one, until the request is done."""
        key = key_of(request)
        if key is None:
            yield None
            return
        client: str = request.scope["state"]["client"]
        once = IdempotencyKey(client, key, fingerprint(request.method, request.url.path, body))
        counter, name = f"under way {_storage_key(once)}", uuid4().hex
        try:
            if not await self._ephemeral.join(counter, name, limit=1, seconds=IN_FLIGHT_SECONDS):
                raise Problem("idempotency-in-flight")
            yield once
        finally:
            await self._ephemeral.leave(counter, name)

    async def saved_reply(self, request: Request, once: IdempotencyKey | None) -> dict[str, Any] | None:
        """The reply to the same request, if it was sent before. Raises KeyReused and Problem."""
        if once is None:
            return None
        saved = self._saved.get(_storage_key(once)) or await self._shared_reply(request, once)
        if saved is None:
            return None
        body_hash, shape = saved
        if body_hash != once.body_hash:
            raise KeyReused
        if shape is None:
            raise Problem("conflict", REPLY_NOT_KEPT)
        return shape

    async def _shared_reply(self, request: Request, once: IdempotencyKey) -> SavedReply | None:
        data = await self._ephemeral.get(f"said {_storage_key(once)}", secret=_sealing_secret(request, once))
        return None if data is None else msgspec.json.decode(data, type=SavedReply)

    async def remember(self, request: Request, once: IdempotencyKey | None, reply: Struct) -> None:
        if once is None:
            return
        shape = msgspec.to_builtins(reply, enc_hook=encode_value)
        word = _sealing_secret(request, once)
        data = msgspec.json.encode((once.body_hash, shape if word else None))
        await self._ephemeral.put(f"said {_storage_key(once)}", data, SAVED_SECONDS, secret=word)
        self._saved[_storage_key(once)] = (once.body_hash, shape)
        if len(self._saved) > MAX_SAVED:
            del self._saved[next(iter(self._saved))]


def _storage_key(once: IdempotencyKey) -> str:
    return f"{once.client}\n{once.key}"


def _sealing_secret(request: Request, once: IdempotencyKey) -> str:
    """Empty on a server without tokens: what such a request has in its headers may be easy to guess."""
    if request.scope["state"]["who"] == ANYONE:
        return ""
    return f"{request.headers.get('authorization', '')}\n{once.key}"


def key_of(request: Request) -> str | None:
    values = request.headers.getlist("idempotency-key")
    if not values:
        return None
    if len(values) > 1:
        raise Problem("malformed-request", "There is more than one Idempotency-Key")
    return usable_key(values[0])


def usable_key(key: str) -> str:
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise Problem("malformed-request", f"An idempotency key has 1 to {MAX_KEY_LENGTH} characters")
    if not (key.isascii() and key.isprintable()):
        raise Problem("malformed-request", "An idempotency key has printable ASCII characters only")
    return key


def fingerprint(method: str, path: str, body: bytes) -> str:
    """A hash of the request: equal only for equal requests."""
    return hashlib.sha256(b"\n".join((method.encode(), path.encode(), body))).hexdigest()
