"""Connections that carry replies are read once per tick."""

from __future__ import annotations

import asyncio

from moot.providers.read_pacer import ReadPacer
from tests.support.until import until


class Received(asyncio.Protocol):
    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        self.pieces.append(data)


class Every:
    def __init__(self, tick: float) -> None:
        self.tick = tick

    def tick_passed(self) -> None: ...


async def _connected() -> tuple[asyncio.Server, asyncio.StreamWriter, asyncio.Transport, Received]:
    loop = asyncio.get_running_loop()
    accepted: asyncio.Future[asyncio.StreamWriter] = loop.create_future()
    server = await asyncio.start_server(lambda _, writer: accepted.set_result(writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport, protocol = await loop.create_connection(Received, "127.0.0.1", port)
    return server, await accepted, transport, protocol


async def test_what_arrives_between_two_ticks_is_read_in_one_piece() -> None:
    server, writer, transport, received = await _connected()
    async with server:
        pacer = ReadPacer(Every(0.1))
        pacer.pause(transport)
        for word in (b"one ", b"two ", b"three"):
            writer.write(word)
            await asyncio.sleep(0.01)
        assert received.pieces == []
        await until(lambda: received.pieces)
        assert received.pieces == [b"one two three"]
        transport.close()
        writer.close()


async def test_a_connection_that_is_closed_meanwhile_is_left_alone() -> None:
    server, writer, transport, _ = await _connected()
    async with server:
        pacer = ReadPacer(Every(0.01))
        pacer.pause(transport)
        transport.close()
        await asyncio.sleep(0.03)
        pacer.pause(transport)
        writer.close()


async def test_without_a_tick_nothing_is_paused() -> None:
    server, writer, transport, received = await _connected()
    async with server:
        ReadPacer(Every(0.0)).pause(transport)
        writer.write(b"at once")
        await until(lambda: received.pieces)
        transport.close()
        writer.close()
