"""A small server that sends prepared bytes and closes the connection where the test says.

It keeps every request as it came, so that a test can look at what a client really sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
HANG_UP = b""
"""Answered to nobody: the line breaks before the first byte."""


class ReceivedRequest(Struct, frozen=True):
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class CannedServer:
    def __init__(self, answers: Sequence[bytes]) -> None:
        self.answers = list(answers)
        self.requests: list[ReceivedRequest] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.requests.append(await _request(reader))
            writer.write(self.answers.pop(0))
            await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def serve_answers(*answers: bytes) -> AsyncGenerator[CannedServer]:
    """One answer for each connection, in this order."""
    made = CannedServer(answers)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield made


async def _request(reader: asyncio.StreamReader) -> ReceivedRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *rest = head.rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    return ReceivedRequest(
        method, target, headers, await reader.readexactly(int(headers.get("content-length", 0)))
    )


def answer(status: str, body: bytes = b"", media_type: str = "application/json", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media_type}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


def problem(status: str, body: bytes, **headers: str) -> bytes:
    return answer(status, body, "application/problem+json", **headers)
