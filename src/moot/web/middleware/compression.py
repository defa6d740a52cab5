"""Replies in JSON are packed for whoever can unpack them: a list of models is a tenth as large then.

Only what is read is packed, never the reply to a command, a stream, or what tells a secret beside words that
somebody else may have chosen: how well it packs would give the secret away, guess by guess.
"""

from __future__ import annotations

import asyncio
import gzip
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MIN_BYTES = 1024
"""Not worth it."""
THREAD_BYTES = 32_768
"""Packed beside the loop, which has words to pass on."""
LEVEL = 5
JSON_TYPE = "application/json"
SECRET_PATHS = re.compile(r"/(?:tokens|tickets|invitations)(?:/|$)")
REFUSED_ENCODING = re.compile(r";q=0(\.0*)?$")


class CompressionMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if not read or SECRET_PATHS.search(scope["path"]):
            await self._app(scope, receive, send)
        else:
            await self._app(
                scope, receive, CompressedReply(send, packs=accepts_gzip(Headers(scope=scope))).send
            )


class CompressedReply:
    """One reply. Its head waits for its body: only then it is known how long it will be."""

    def __init__(self, send: Send, *, packs: bool) -> None:
        self._send = send
        self._compress = packs
        self._head: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_compressible(message):
            self._head = message
            return
        if self._head is not None:
            head, self._head = self._head, None
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                message = await self._compressed(head, message)
            await self._send(head)
        await self._send(message)

    async def _compressed(self, head: Message, message: Message) -> Message:
        body: bytes = message.get("body", b"")
        if len(body) <= MIN_BYTES:
            return message
        headers = MutableHeaders(raw=head["headers"])
        headers.add_vary_header("Accept-Encoding")
        if self._compress:
            body = await asyncio.to_thread(_gzip, body) if len(body) > THREAD_BYTES else _gzip(body)
            headers["Content-Encoding"] = "gzip"
            headers["Content-Length"] = str(len(body))
        head["headers"] = headers.raw
        return {**message, "body": body}


def accepts_gzip(headers: Headers) -> bool:
    """Whether a client says that it does."""
    offers = headers.get("accept-encoding", "").lower().replace(" ", "").split(",")
    return any(offer.startswith("gzip") and not REFUSED_ENCODING.search(offer) for offer in offers)


def _is_compressible(head: Message) -> bool:
    headers = Headers(raw=head["headers"])
    return (
        headers.get("content-type", "").partition(";")[0] == JSON_TYPE and "content-encoding" not in headers
    )


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)
