"""A load balancer before several nodes: each connection goes to the next node that is ready.

Bytes are passed on unchanged, so that streams and WebSockets work. The health route of each node says whether
it is ready; if a node has stopped since then and refuses a connection, the next node gets it. A connection
that breaks is not repaired: the client reconnects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count

ASK_SECONDS = 0.25
PATIENCE_SECONDS = 2.0
MOST_BYTES = 64 * 1024
NOBODY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"

Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Porter:
    """Use `standing`."""

    def __init__(self, nodes: Sequence[int]) -> None:
        self.nodes = tuple(nodes)
        self.ready: tuple[int, ...] = ()
        self.port = 0
        self._turn = count()
        self._lines: set[asyncio.Task[None]] = set()

    async def look(self) -> None:
        found = await asyncio.gather(*(_is_ready(port) for port in self.nodes))
        self.ready = tuple(port for port, well in zip(self.nodes, found, strict=True) if well)

    async def keep_looking(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(ASK_SECONDS)

    def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = asyncio.create_task(self._show_in((reader, writer)), name="a line through the porter")
        self._lines.add(line)
        line.add_done_callback(self._lines.discard)

    async def close(self) -> None:
        lines = tuple(self._lines)
        for line in lines:
            line.cancel()
        await asyncio.gather(*lines, return_exceptions=True)

    async def _show_in(self, caller: Line) -> None:
        node = None
        try:
            node = await self._next()
            if node is None:
                caller[1].write(NOBODY)
                await caller[1].drain()
                return
            await _joined(caller, node)
        except OSError:
            return
        finally:
            for line in (caller, node):
                if line is not None:
                    line[1].close()

    async def _next(self) -> Line | None:
        """Those that are ready first, then the others: the last answers may be old."""
        turn = next(self._turn)
        for ports in (self.ready, [port for port in self.nodes if port not in self.ready]):
            for n in range(len(ports)):
                with suppress(OSError, TimeoutError):
                    async with asyncio.timeout(PATIENCE_SECONDS):
                        return await asyncio.open_connection("127.0.0.1", ports[(turn + n) % len(ports)])
        return None


async def _joined(one: Line, other: Line) -> None:
    """Until either side has hung up."""
    ways = [asyncio.create_task(_carry(one[0], other[1])), asyncio.create_task(_carry(other[0], one[1]))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(MOST_BYTES):
        writer.write(data)
        await writer.drain()


async def _is_ready(port: int) -> bool:
    ask = f"GET /health/ready HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(ask.encode())
                return b" 200 " in await reader.readline()
            finally:
                writer.close()
    return False


@asynccontextmanager
async def standing(nodes: Sequence[int], port: int = 0) -> AsyncGenerator[Porter]:
    porter = Porter(nodes)
    await porter.look()
    server = await asyncio.start_server(porter.receive, "127.0.0.1", port)
    porter.port = server.sockets[0].getsockname()[1]
    looking = asyncio.create_task(porter.keep_looking(), name="the porter")
    try:
        yield porter
    finally:
        server.close()
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        await porter.close()
