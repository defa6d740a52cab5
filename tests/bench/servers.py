"""Servers, each in a process of its own: ours over its log, and a bare Starlette without any.

Ours holds its log in a file by itself, or is a node or a worker of several that share one.

Both say words that are nothing but the time at which they were due, 50 a second, and tell them some 20 times
a second, so that whoever hears one knows how late it is: all processes of a machine share one clock.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any

import uvicorn
import uvloop
from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import Request as Asked
from starlette.responses import StreamingResponse

from moot.api.frames import Frame, as_sse
from moot.core.terms import Model, Request
from moot.engine.arena import Arena
from moot.processes.server import make_app
from moot.processes.startup import tune_garbage_collection
from moot.providers.keys import Secret
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, WaitCue
from moot.settings import ClusterSettings, ServerSettings, Settings
from moot.web import logging_setup
from moot.web.server.listener import UvicornServer, bind

PACE = 1 / 50
WORDS = 100
TURNS = 2
EACH = 2.5
"""Words in an event of the bare server: as many as ours has where it has time."""
FREE = ServerSettings(requests_per_minute=None, debates_per_client=None, streams_per_client=None)
TICKS = os.sysconf("SC_CLK_TCK")

Heed = Callable[[Any], Awaitable[Any]]


class House(Struct, frozen=True):
    """A server, seen from outside."""

    port: int
    pid: int
    pipe: Connection

    async def ask(self, what: Any) -> Any:
        self.pipe.send(what)
        return await asyncio.to_thread(self.pipe.recv)

    @property
    def cpu(self) -> float:
        """Seconds so far, its threads included."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def memory(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * resource.getpagesize()


@asynccontextmanager
async def house(run: Callable[..., None], *args: Any) -> AsyncGenerator[House]:
    """One of the two below, until the block ends."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=run, args=(theirs, *args), daemon=True)
    process.start()
    theirs.close()
    try:
        yield House(await asyncio.to_thread(ours.recv), process.pid or 0, ours)
    finally:
        with suppress(OSError):
            ours.send(None)
        await asyncio.to_thread(process.join)


def widen() -> None:
    """As many open files as we may have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


# --- ours ---------------------------------------------------------------------------------------------


def moot(pipe: Connection, data: str, shared: Shared | None = None) -> None:
    """With something shared, a node: others run its debates."""
    widen()
    uvloop.run(_moot(pipe, _settings(data, shared), run=shared is None))


def worker(pipe: Connection, data: str, shared: Shared) -> None:
    widen()
    uvloop.run(_worker(pipe, _settings(data, shared)))


class Shared(Struct, frozen=True):
    """The addresses of a PostgreSQL and of a Redis."""

    store: str
    bus: str


def _settings(data: str, shared: Shared | None) -> Settings:
    cluster = (
        ClusterSettings(Secret(shared.store), Secret(shared.bus), debates=1000)
        if shared
        else ClusterSettings()
    )
    return Settings(data=Path(data), scripted=True, service=FREE, cluster=cluster)


async def _worker(pipe: Connection, settings: Settings) -> None:
    async with _arena(settings, run=True):
        pipe.send(0)
        await _heed(pipe, _nothing)


async def _nothing(what: Any) -> Any:
    return what


@asynccontextmanager
async def _arena(settings: Settings, *, run: bool) -> AsyncGenerator[Arena]:
    scripted = {"scripted": ScriptedProvider(_stamps)}
    tune_garbage_collection()
    with open(os.devnull, "w") as nowhere:
        logging_setup.set_up_logging(settings, stream=nowhere)
        async with Arena.open(settings, providers=scripted, recover=run, run=run) as arena:
            yield arena


async def _moot(pipe: Connection, settings: Settings, *, run: bool) -> None:
    async with _arena(settings, run=run) as arena:
        listeners = bind("127.0.0.1", 0)
        port = listeners[0].getsockname()[1]
        server = UvicornServer(
            make_app(arena), FREE, end_streams=arena.followers.close, ready=lambda: pipe.send(port)
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(listeners))
            await _heed(pipe, lambda what: _debates(arena, what))
            server.should_exit = True


async def _debates(arena: Arena, what: int | list[str]) -> list[str]:
    """A number of debates to be created, or those that are to begin."""
    if isinstance(what, list):
        for debate_id in what:
            await arena.start(debate_id)
        return what
    model = Model("scripted", "demo")
    setup = await arena.setup("How late is a word?", model=model, turns=TURNS, judge="none")
    return [(await arena.create(setup)).debate.id for _ in range(what)]


def _stamps(_request: Request) -> Iterable[Cue]:
    for due in _dues(WORDS):
        yield WaitCue(max(0.0, due - monotonic()))
        yield SayCue(f"{due:.4f} ")


def _dues(words: int) -> Iterator[float]:
    """No word waits for the one before it: a server that is late does not slow its provider down."""
    began = monotonic()
    return (began + number * PACE for number in range(1, words + 1))


async def _heed(pipe: Connection, heed: Heed) -> None:
    with suppress(EOFError):
        while (what := await asyncio.to_thread(pipe.recv)) is not None:
            pipe.send(await heed(what))


# --- the bare one -------------------------------------------------------------------------------------


class Stream:
    """The last frame, and a bell for the next: the least that any server must have."""

    def __init__(self) -> None:
        self.frame = b""
        self.over = False
        self.bell = asyncio.Event()

    async def heard(self) -> AsyncIterator[bytes]:
        while not self.over:
            await self.bell.wait()
            yield self.frame

    async def speak(self) -> None:
        spoken: list[str] = []
        told = 0
        for number, due in enumerate(_dues(TURNS * WORDS), 1):
            await asyncio.sleep(max(0.0, due - monotonic()))
            spoken.append(f"{due:.4f} ")
            if number >= (told + 1) * EACH:
                told += 1
                self.over = number == TURNS * WORDS
                self._tell(as_sse(Frame("participant", _members("".join(spoken), told)), str(told)))
                spoken.clear()

    def _tell(self, frame: bytes) -> None:
        self.frame = frame
        bell, self.bell = self.bell, asyncio.Event()
        bell.set()


def _members(chunk: str, seq: int) -> dict[str, Any]:
    """As in one of ours."""
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


class Bare:
    """`/0`, `/1` … are live; `/page` sends what it was given, once."""

    def __init__(self) -> None:
        self._streams: list[Stream] = []
        self._page = b""
        self._speaking: set[asyncio.Task[None]] = set()

    async def heed(self, what: int | list[str] | bytes) -> list[str]:
        if isinstance(what, bytes):
            self._page = what
            return ["page"]
        if isinstance(what, int):
            self._streams = [Stream() for _ in range(what)]
            return [str(number) for number in range(what)]
        self._speaking = {asyncio.create_task(stream.speak()) for stream in self._streams}
        return what

    async def listen(self, asked: Asked) -> StreamingResponse:
        name = asked.path_params["name"]
        body = self._once() if name == "page" else self._streams[int(name)].heard()
        return StreamingResponse(body, media_type="text/event-stream")

    async def _once(self) -> AsyncIterator[bytes]:
        yield self._page


def bare(pipe: Connection) -> None:
    widen()
    uvloop.run(_bare(pipe))


async def _bare(pipe: Connection) -> None:
    peer, app = Bare(), Starlette()
    app.add_route("/{name}", peer.listen)
    server = uvicorn.Server(uvicorn.Config(app, http="httptools", log_config=None, access_log=False))
    listeners = bind("127.0.0.1", 0)
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(listeners))
        while not server.started:  # noqa: ASYNC110 - uvicorn has no bell to ring
            await asyncio.sleep(0.01)
        pipe.send(listeners[0].getsockname()[1])
        await _heed(pipe, peer.heed)
        server.should_exit = True
