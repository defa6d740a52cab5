"""A client that sends what it is told to, byte for byte, and reads what comes back."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from msgspec import Struct

PATIENCE = 60.0


class Reply(Struct):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/problem+json"
        told = json.loads(self.body)
        assert told["status"] == self.status
        assert told["requestId"] == self.headers["x-request-id"]
        assert self.headers["x-content-type-options"] == "nosniff"
        assert self.headers["cache-control"] == "no-store"
        return told

    @property
    def kind(self) -> str:
        return self.problem["type"].removeprefix("/errors/")


class Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, port: int, host: str = "127.0.0.1") -> Line:
        return cls(*await asyncio.open_connection(host, port))

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        # Whoever sends too much may be cut off while sending.
        with suppress(ConnectionError):
            await self.writer.drain()

    async def reply(self, *, head_only: bool = False) -> Reply:
        async with asyncio.timeout(PATIENCE):
            status = int((await self.reader.readline()).split()[1])
            headers: dict[str, str] = {}
            while (line := await self.reader.readline()).strip():
                name, _, value = line.decode("latin-1").partition(":")
                assert name.lower() not in headers, f"{name} stands twice on the reply"
                headers[name.lower()] = value.strip()
            length = 0 if head_only else int(headers.get("content-length", 0))
            return Reply(status, headers, await self.reader.readexactly(length))

    async def rest(self) -> bytes:
        """All that comes until the other side closes; then we do."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self.reader.read()
        except ConnectionError:
            return b""
        finally:
            await self.close()

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


async def exchange(port: int, *sent: bytes) -> Reply:
    """Send on a connection of its own and read one reply."""
    line = await Line.to(port)
    try:
        for data in sent:
            await line.send(data)
        return await line.reply()
    finally:
        await line.close()


def request(target: str = "/", method: str = "GET", body: bytes = b"", **headers: str | None) -> bytes:
    """A well-formed request; a header of None is left out."""
    given: dict[str, str | None] = {"Host": "127.0.0.1"}
    if body:
        given |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}\r\n" for name, value in given.items() if value is not None]
    return f"{method} {target} HTTP/1.1\r\n{''.join(lines)}\r\n".encode("latin-1") + body
