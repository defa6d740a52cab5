"""A model service in a process of its own, so that its CPU is not counted as ours.

`/chat`, `/responses`, `/anthropic` and `/google` send the streams of `model_streams.py` as fast as they are
read; `/paced` sends a shorter reply of `WORDS` words, one every `PACE` seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection

from tests.bench.child_process import allow_many_open_files, answer_commands, child_process
from tests.bench.model_streams import STREAMS, chat

PACE = 1 / 50
WORDS = 150
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@asynccontextmanager
async def model_service() -> AsyncGenerator[str]:
    """The base URL of a service that runs until the block ends."""
    async with child_process(_run) as service:
        yield f"http://127.0.0.1:{service.port}"


def _run(pipe: Connection) -> None:
    allow_many_open_files()
    asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    bodies = {name: b"".join(_chunks(stream)) for name, stream in STREAMS.items()}
    paced = _chunks(chat(WORDS))

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while name := await _requested_stream(reader):
            writer.write(HEAD)
            if name == "paced":
                for chunk in paced:
                    writer.write(chunk)
                    await asyncio.sleep(PACE)
            else:
                writer.write(bodies[name])
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(reply, "127.0.0.1", 0, backlog=2048)
    pipe.send(server.sockets[0].getsockname()[1])
    await answer_commands(pipe, _no_command)


async def _no_command(command: object) -> None:
    raise ValueError(f"The service knows no commands: {command!r}")


def _chunks(stream: bytes) -> list[bytes]:
    """One event a chunk, as services send them; the last one ends the reply."""
    events = [event + b"\n\n" for event in stream.split(b"\n\n") if event]
    *chunks, last = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    return [*chunks, last + b"0\r\n\r\n"]


async def _requested_stream(reader: asyncio.StreamReader) -> str:
    """The first part of the path of the next request; empty after the last one."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        return ""  # Cancelled at the end of the process; asyncio of Python 3.11 would log it.
    return head.split(b"/", 2)[1].split()[0].decode()
