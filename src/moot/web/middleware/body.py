"""Bodies on their way in: which kinds we take, how large, how long we wait, and how to say no to one.

Who is told "too large" while still sending would never hear it if we closed at once: the connection would be
reset under the reply. So the rest is taken in and thrown away for a moment.
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
    """One media type that we read, in UTF-8, as it is."""
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
    """The body once more for the app; after it, whatever else there is to hear."""
    waiting = [body]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again


def linger(send: Send, receive: Receive) -> Send:
    """Sends the reply, but ends it only when the client had a moment to read it."""

    async def slowly(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({**message, "more_body": True})
        await _drain(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return slowly


async def _drain(receive: Receive) -> None:
    left = LINGER_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
