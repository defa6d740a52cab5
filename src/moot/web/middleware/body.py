"""Request bodies: which media types and sizes are accepted, how long we wait, and how one is refused.

A client that is refused while it still sends would never read the reply if the connection were closed at
once: the system would reset it. So the remaining body is read and dropped for a moment. (Starlette's
RequestBodyLimitMiddleware knows no deadline, does not read on, and answers in plain text.)
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from email.message import Message as Mail

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Send
from uvicorn.protocols.utils import ClientDisconnected

from moot.api.problems import Problem

MEDIA_TYPES = frozenset({"application/json"})
MAX_BODY_BYTES = 128 * 1024
LINGER_SECONDS = 0.5
LINGER_BYTES = 4 * 1024 * 1024


def check_content_type(headers: Headers, media_types: Collection[str]) -> None:
    """Raises Problem unless there is one Content-Type, accepted, in UTF-8, and no Content-Encoding."""
    types = headers.getlist("content-type")
    if len(types) != 1 or headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Problem("unsupported-media-type")
    mail = Mail()
    mail["content-type"] = types[0]
    charset = mail.get_param("charset", "utf-8")
    utf8 = isinstance(charset, str) and charset.lower() in ("utf-8", "utf8")
    if mail.get_content_type() not in media_types or not utf8:
        raise Problem("unsupported-media-type")


async def read_body(receive: Receive, length: int, seconds: float) -> bytes:
    """Raises Problem for a body that is too large or too slow; `length` is what its header says."""
    if length > MAX_BODY_BYTES:
        raise Problem("payload-too-large")
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnected
                body += message.get("body", b"")
                if len(body) > MAX_BODY_BYTES:
                    raise Problem("payload-too-large")
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise Problem("request-timeout") from None


def replay_body(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body, and after it the further messages of the connection."""
    unread = [body]

    async def receive_again() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return receive_again


def linger(send: Send, receive: Receive) -> Send:
    """A `send` that ends the reply only after the client had a moment to read it."""

    async def send_and_drain(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({**message, "more_body": True})
        await _drain(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return send_and_drain


async def _drain(receive: Receive) -> None:
    left = LINGER_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
