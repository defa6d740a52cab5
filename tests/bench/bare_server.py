"""A Starlette application on uvicorn that sends the same frames as ours: the least that such a server needs.

It keeps no log, knows no cursors and asks for no tokens. `/0`, `/1` … are live streams; `/page` sends the
bytes of its last command, once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse

from moot.api.frames import Frame, as_sse
from moot.web.server.listener import bind
from tests.bench.child_process import allow_many_open_files, answer_commands
from tests.bench.moot_server import TOKENS, due_times

WORDS_PER_EVENT = 2.5
"""As many as an event of ours has while the machine keeps up."""


def run_bare_server(pipe: Connection) -> None:
    """Commands: a number makes as many streams and returns their names; a list of names starts all of them;
    bytes become the content of `/page`."""
    allow_many_open_files()
    uvloop.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    streams, app = BareStreams(), Starlette()
    app.add_route("/{name}", streams.respond)
    server = uvicorn.Server(uvicorn.Config(app, http="httptools", log_config=None, access_log=False))
    listeners = bind("127.0.0.1", 0)
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(listeners))
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        pipe.send(listeners[0].getsockname()[1])
        await answer_commands(pipe, streams.answer)
        server.should_exit = True


class BareStreams:
    def __init__(self) -> None:
        self._streams: list[BareStream] = []
        self._page = b""
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(self, command: int | list[str] | bytes) -> list[str]:
        if isinstance(command, bytes):
            self._page = command
            return ["page"]
        if isinstance(command, int):
            self._streams = [BareStream() for _ in range(command)]
            return [str(number) for number in range(command)]
        self._tasks = {asyncio.create_task(stream.speak()) for stream in self._streams}
        return command

    async def respond(self, request: Request) -> StreamingResponse:
        name = request.path_params["name"]
        body = self._page_once() if name == "page" else self._streams[int(name)].frames()
        return StreamingResponse(body, media_type="text/event-stream")

    async def _page_once(self) -> AsyncIterator[bytes]:
        yield self._page


class BareStream:
    """The latest frame, and an event that is set for the next one."""

    def __init__(self) -> None:
        self._frame = b""
        self._ended = False
        self._next = asyncio.Event()

    async def frames(self) -> AsyncIterator[bytes]:
        while not self._ended:
            await self._next.wait()
            yield self._frame

    async def speak(self) -> None:
        words: list[str] = []
        seq = 0
        for number, due in enumerate(due_times(TOKENS), 1):
            await asyncio.sleep(max(0.0, due - monotonic()))
            words.append(f"{due:.4f} ")
            if number >= (seq + 1) * WORDS_PER_EVENT:
                seq += 1
                self._ended = number == TOKENS
                self._publish(as_sse(Frame("participant", _members("".join(words), seq)), str(seq)))
                words.clear()

    def _publish(self, frame: bytes) -> None:
        self._frame = frame
        current, self._next = self._next, asyncio.Event()
        current.set()


def _members(chunk: str, seq: int) -> dict[str, Any]:
    """The members that such a frame of ours has."""
    return {
        "participantId": "p1",
        "participantName": "Proposition",
        "roundNumber": 1,
        "chunk": chunk,
        "done": False,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "seq": seq,
        "turn": 1,
        "speech": 1,
        "phase": "exchange",
        "attempt": 1,
    }
