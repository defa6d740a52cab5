"""A service that does what its script says, on raw sockets of this machine.

    async with FaultServer(Script({2: overloaded, 3: broken_off})) as server:
        Client(openai_chat_request.wire_format(), server.url, key=server.key)

A script names what happens at which call; every other call gets a good answer made from the request: a
speech, or a ballot where one is asked for. What happens is an *act* on the `Line` of that call, or something
at the `Door`, before a request could be sent at all. The server keeps its own ledger: what came, over which
connection, with which key, and what it would bill.

It is made of sockets alone because it must be able to do what no HTTP server does.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from tests.faults import wire_formats
from tests.faults.certificates import Certificates
from tests.faults.wire_formats import Answer, Asked, Bill, Frame

KEY = "sk-canary-0123456789abcdef"
KEPT_IN = ("authorization", "x-api-key", "x-goog-api-key")
"""The headers in which a key may travel."""
SSE = "text/event-stream; charset=utf-8"


class Call(Struct):
    """One line of the ledger. A connection that never became a request has no path, and where nobody listened
    there is no connection."""

    number: int
    at: float
    connection: int
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    """The key is blotted out."""
    keyed: bool = False
    """The right key came in the one header it belongs to."""
    leaks: list[str] = field(default_factory=list[str])
    """Where else the key was found."""
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    asked: Asked | None = None
    answer: Answer | None = None
    """The good answer to it, whether or not it was given."""
    billed: Bill = Bill()
    reported: bool = False
    """The bill stood in the answer."""
    abandoned: bool = False
    """The client hung up before the end."""
    dropped: bool = False
    """We hung up without a word."""

    @property
    def previous(self) -> str | None:
        return self.asked.previous if self.asked else None


class Door(Struct, frozen=True):
    """What happens to the next connection, before it can carry a request."""

    certificate: Literal["good", "expired", "wrong_host", "self_signed"] = "good"
    hangs: bool = False
    away: float = 0.0
    """Nobody listens for so many seconds."""


class Line:
    """One call, from the server's end."""

    def __init__(
        self, server: FaultServer, call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server = server
        self.call = call
        self.kept = False
        """The reply is complete and the connection may serve another call."""
        self._reader = reader
        self._writer = writer
        self._chunked = False

    @property
    def answer(self) -> Answer:
        assert self.call.answer is not None
        return self.call.answer

    async def reply(self, *given: Frame, **changes: Any) -> None:
        """A whole stream: these frames, or the good answer with these changes."""
        self.call.answer = answer = replace(self.answer, **changes)
        await self.head()
        await self.send(*map(wire_formats.sse, given or wire_formats.frames(answer)))
        self.bill(answer.bill)
        self.server.remember(self.call, answer)
        await self.end()

    async def head(self, status: int = 200, kind: str = SSE, size: int | None = None, **more: str) -> None:
        self._chunked = size is None
        headers = {
            "Content-Type": kind,
            "x-request-id": f"req_{self.call.number}",
            **({"Transfer-Encoding": "chunked"} if size is None else {"Content-Length": str(size)}),
            **({"Connection": "close"} if self.server.wants_new_connection else {}),
            **{name.replace("_", "-"): value for name, value in more.items()},
        }
        lines = [f"HTTP/1.1 {status} So"] + [f"{name}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def send(self, *packets: bytes, pause: float = 0.0) -> None:
        """With a pause, each packet travels alone."""
        if not pause:
            await self.raw(b"".join(map(self._chunk, packets)))
            return
        for packet in packets:
            await self.raw(self._chunk(packet))
            await asyncio.sleep(pause)

    def _chunk(self, packet: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(packet), packet) if self._chunked else packet

    async def end(self) -> None:
        if self._chunked:
            await self.raw(b"0\r\n\r\n")
        self.kept = not self.server.wants_new_connection

    async def say(self, status: int, body: bytes | dict[str, Any], kind: str = "", **headers: str) -> None:
        """A whole answer that is no stream."""
        packed = body if isinstance(body, bytes) else json.dumps(body).encode()
        await self.head(status, kind or "application/json", len(packed), **headers)
        await self.raw(packed)
        await self.end()

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        try:
            await self._writer.drain()
        except OSError:
            self.call.abandoned = True
            raise

    def bill(self, bill: Bill, *, reported: bool = True) -> None:
        self.call.billed, self.call.reported = bill, reported

    async def hang(self) -> None:
        """Say nothing more until the client has had enough."""
        await self._reader.read()
        self.call.abandoned = True

    def reset(self) -> None:
        reset(self._writer)


Act = Callable[[Line], Awaitable[None]]


async def good(line: Line) -> None:
    if line.server.knows(line.call.previous):
        await line.reply()
    else:
        await line.say(400, FORGOTTEN)


FORGOTTEN = {
    "error": {
        "message": "Previous response not found.",
        "type": "invalid_request_error",
        "param": "previous_response_id",
        "code": "previous_response_not_found",
    }
}


class Script(Struct, frozen=True):
    """What happens at which call, counted from one; all else is well."""

    plays: Mapping[int, Act | Door] = {}
    usual: Act = good


class FaultServer:
    def __init__(
        self,
        script: Script = Script(),  # noqa: B008 - frozen
        *,
        key: str = KEY,
        certificates: Certificates | None = None,
    ) -> None:
        self.script = script
        self.key = key
        self.calls: list[Call] = []
        self.connections = 0
        self._certificates = certificates
        self._port = 0
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[Any]] = set()
        self._idle: set[asyncio.StreamWriter] = set()
        self._remembered: dict[str, str] = {}
        self._schema: dict[str, Any] | None = None

    async def __aenter__(self) -> FaultServer:
        await self._listen()
        await self._prepare()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for talk in tuple(self._talks):
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    @property
    def host(self) -> str:
        return f"localhost:{self._port}"

    @property
    def url(self) -> str:
        return f"{'https' if self._certificates else 'http'}://{self.host}/v1"

    @property
    def requests(self) -> list[Call]:
        return [call for call in self.calls if call.path]

    @property
    def wants_new_connection(self) -> bool:
        """What comes next happens at the door, so the connections that there are must not be used again."""
        return isinstance(self._next(), Door)

    def _next(self) -> Act | Door | None:
        return self.script.plays.get(len(self.calls) + 1)

    # --- connections ----------------------------------------------------------------------------------

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", self._port, limit=2**22)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
        self.connections += 1
        number = self.connections
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if await self._opened(number, reader, writer):
                await self._converse(number, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # The stream's own callback stumbles over a task that ends as cancelled.
            pass
        finally:
            self._talks.discard(task)
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _opened(
        self, connection: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        door = self._next()
        at_the_door = door if isinstance(door, Door) else Door()
        if isinstance(door, Door):
            self.calls.append(Call(len(self.calls) + 1, monotonic(), connection))
        if at_the_door.hangs:
            await reader.read()
            return False
        if self._certificates is None:
            return True
        context: ssl.SSLContext = getattr(self._certificates, at_the_door.certificate)
        await writer.start_tls(context)
        return True

    async def _converse(
        self, connection: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            self._idle.add(writer)
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            finally:
                self._idle.discard(writer)
            call = await self._noted(connection, head, reader)
            act = self.script.plays.get(call.number, self.script.usual)
            line = Line(self, call, reader, writer)
            assert not isinstance(act, Door)
            await act(line)
            await self._prepare()
            if not line.kept:
                return

    async def _prepare(self) -> None:
        """Make sure that the next call knocks at the door where something waits for it there."""
        door = self._next()
        if not isinstance(door, Door):
            return
        for writer in tuple(self._idle):
            writer.close()
        if door.away:
            self.calls.append(Call(len(self.calls) + 1, monotonic(), 0))
            self.leave()
            self._talks.add(task := asyncio.create_task(self._return(door.away), name="return"))
            task.add_done_callback(self._talks.discard)

    def leave(self) -> None:
        """From now on nobody listens."""
        assert self._server is not None
        self._server.close()
        for writer in tuple(self._idle):
            writer.close()

    async def come_back(self) -> None:
        await self._listen()

    async def _return(self, after: float) -> None:
        await asyncio.sleep(after)
        await self.come_back()

    # --- the ledger -----------------------------------------------------------------------------------

    async def _noted(self, connection: int, head: bytes, reader: asyncio.StreamReader) -> Call:
        first, *lines = head.decode().rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        said = await reader.readexactly(int(headers.get("content-length", "0")))
        call = Call(
            number=len(self.calls) + 1,
            at=monotonic(),
            connection=connection,
            path=first.split()[1],
            headers={name: value.replace(self.key, "KEY") for name, value in headers.items()},
            keyed=any(headers.get(name, "").removeprefix("Bearer ") == self.key for name in KEPT_IN),
            leaks=[name for name, value in headers.items() if self.key in value and name not in KEPT_IN],
            body=json.loads(said),
        )
        if self.key in first or self.key in said.decode():
            call.leaks.append("address or body")
        self.calls.append(call)
        self._consider(call)
        return call

    def _consider(self, call: Call) -> None:
        """What a good answer would be, and what it would cost."""
        call.asked = asked = wire_formats.asked(call.path, call.body)
        seed = f"{call.number} {asked.words}"
        schema = asked.schema
        if schema is None and '"winner"' in asked.words:
            schema = self._schema
        self._schema = schema or self._schema
        text = wire_formats.speech(seed) if schema is None else wire_formats.ballot(schema, seed)
        thought = f"Thinking of {wire_formats.speech(seed, 1)}" if schema is None else ""
        read = asked.words + self._remembered.get(asked.previous or "", "")
        reasoning = wire_formats.tokens(thought)
        bill = Bill(wire_formats.tokens(read), wire_formats.tokens(text) + reasoning, reasoning)
        call.answer = Answer(asked.wire, f"resp_{call.number}_{self._port}", text, thought, bill)

    def knows(self, response_id: str | None) -> bool:
        return response_id is None or response_id in self._remembered

    def remember(self, call: Call, answer: Answer) -> None:
        assert call.asked is not None
        if not answer.id:
            return
        so_far = self._remembered.get(call.asked.previous or "", "")
        self._remembered[answer.id] = f"{so_far}\n{call.asked.fresh}\n{answer.text}"


@contextmanager
def in_a_thread(script: Script) -> Generator[FaultServer]:
    """The server on a thread of its own, where its work is not counted as ours."""
    loop, server = asyncio.new_event_loop(), FaultServer(script)
    thread = threading.Thread(target=loop.run_forever, name="fault server")
    thread.start()
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(5)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """A hard end: the other side's next read or write fails."""
    line = writer.get_extra_info("socket")
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
