"""A service in a process of its own, so that its CPU is not ours.

`/chat`, `/responses`, `/anthropic` and `/google` send the streams of `streams.py` as fast as they are read;
`/paced` sends a shorter reply of `WORDS` words, one every `PACE` seconds.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection

from tests.bench.streams import STREAMS, chat

PACE = 1 / 50
WORDS = 150
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@asynccontextmanager
async def serving() -> AsyncGenerator[str]:
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        port = await asyncio.to_thread(ours.recv)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await asyncio.to_thread(process.join)


def _serve(pipe: Connection) -> None:
    asyncio.run(_serving(pipe))


async def _serving(pipe: Connection) -> None:
    bodies = {name: b"".join(_chunks(stream)) for name, stream in STREAMS.items()}
    paced = _chunks(chat(WORDS))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while name := await _asked(reader):
            writer.write(HEAD)
            if name == "paced":
                for chunk in paced:
                    writer.write(chunk)
                    await asyncio.sleep(PACE)
            else:
                writer.write(bodies[name])
            await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    pipe.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _chunks(stream: bytes) -> list[bytes]:
    """One event a chunk, as services send them; the last one ends the reply."""
    events = [event + b"\n\n" for event in stream.split(b"\n\n") if event]
    *chunks, last = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    return [*chunks, last + b"0\r\n\r\n"]


async def _asked(reader: asyncio.StreamReader) -> str:
    """The first name in the path; empty when nobody asks any more."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))
    except (asyncio.IncompleteReadError, ConnectionError):
        return ""
    return head.split(b"/", 2)[1].split()[0].decode()
