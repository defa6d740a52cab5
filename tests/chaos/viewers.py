"""Viewers that keep every event, and reconnect after the last one whenever the connection breaks.

They speak on bare sockets, so that a line can be cut at any byte. How one asks is its `Way`: the stream, with
the last id in the header or in the address; the native log; or the WebSocket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

import httptools
import msgspec
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

AGAIN_SECONDS = 0.02
MOST_BYTES = 64 * 1024


class Told(NamedTuple):
    """An event as it came. `data` is text: not even its spelling may differ."""

    event: str
    id: str
    data: str


class Ear(Protocol):
    """Takes the bytes of one line, however they are cut, and keeps what came whole."""

    ended: bool
    """This line has been ended by the other side."""
    over: bool
    """There is nothing more to come, now or later."""

    @property
    def mid_character(self) -> bool: ...

    def opening(self) -> bytes: ...

    def hear(self, data: bytes) -> Sequence[Told]: ...


Way = Callable[[int, str, str], Ear]
"""Of a port, a debate and the last id."""


class StreamEar:
    def __init__(self, port: int, target: str, last: str = "") -> None:
        header = f"Last-Event-ID: {last}\r\n" if last else ""
        self._request = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}\r\n"
        self.ended = self.over = False
        self._parser = httptools.HttpResponseParser(self)
        self._rest = b""
        self._told: list[Told] = []

    @property
    def mid_character(self) -> bool:
        return _broken(self._rest)

    def opening(self) -> bytes:
        return self._request.encode()

    def hear(self, data: bytes) -> Sequence[Told]:
        self._parser.feed_data(data)
        told, self._told = self._told, []
        return told

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        # A server that is stopping says 503; whoever comes back finds the next one.
        assert status in (200, 204, 503), f"a viewer was told {status}"
        self.over = status == 204

    def on_message_complete(self) -> None:
        self.ended = True

    def on_body(self, body: bytes) -> None:
        *whole, self._rest = (self._rest + body).split(b"\n\n")
        self._told.extend(told for block in whole if (told := parse(block)))


class SocketEar:
    def __init__(self, port: int, target: str) -> None:
        self._protocol = ClientProtocol(parse_uri(f"ws://127.0.0.1:{port}{target}"), max_size=None)
        self._last = b""
        self.ended = self.over = False

    @property
    def mid_character(self) -> bool:
        return _broken(self._last)

    def opening(self) -> bytes:
        self._protocol.send_request(self._protocol.connect())
        return b"".join(self._protocol.data_to_send())

    def hear(self, data: bytes) -> Sequence[Told]:
        self._last = data
        self._protocol.receive_data(data)
        told = [self._tell(event) for event in self._protocol.events_received() if _is_text(event)]
        self.ended = (goodbye := self._protocol.close_rcvd) is not None
        self.over = goodbye is not None and goodbye.code == 1000
        return told

    def _tell(self, event: Frame) -> Told:
        assert event.fin
        frame = msgspec.json.decode(event.data)
        return Told(frame["event"], frame["id"], as_text(frame["data"]))


def _is_text(event: object) -> bool:
    if isinstance(event, Response):
        assert event.status_code in (101, 503), f"a viewer was told {event.status_code}"
    return isinstance(event, Frame) and event.opcode is Opcode.TEXT


def _broken(data: bytes) -> bool:
    """Whether it ends in the middle of a character."""
    for behind, byte in enumerate(reversed(data[-3:]), 1):
        if byte >= 0xC0:
            return behind < (4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2)
        if byte < 0x80:
            return False
    return False


def parse(block: bytes) -> Told | None:
    lines = [line for line in block.decode().split("\n") if line and not line.startswith(":")]
    fields = dict(line.split(": ", 1) for line in lines)
    if "data" not in fields:
        return None
    return Told(fields.get("event", ""), fields["id"], as_text(msgspec.json.decode(fields["data"])))


def as_text(data: object) -> str:
    return msgspec.json.encode(data).decode()


def place(id: str) -> tuple[int, int]:
    """Where an id stands; `7.1` comes before `7`."""
    seq, _, part = id.partition(".")
    return int(seq), int(part or 10_000)


# --- the ways ------------------------------------------------------------------------------------------


def by_header(port: int, debate_id: str, last: str) -> Ear:
    return StreamEar(port, f"/api/v1/debates/{debate_id}/stream", last)


def by_query(port: int, debate_id: str, last: str) -> Ear:
    return StreamEar(port, f"/api/v1/debates/{debate_id}/stream" + (f"?lastEventId={last}" if last else ""))


def by_log(port: int, debate_id: str, last: str) -> Ear:
    return StreamEar(port, f"/api/v1/debates/{debate_id}/events/stream", last)


def by_socket(port: int, debate_id: str, last: str) -> Ear:
    return SocketEar(port, f"/api/v1/debates/{debate_id}/ws" + (f"?after={last}" if last else ""))


class Viewer:
    def __init__(self, port: int, debate_id: str, *ways: Way, until: str = "") -> None:
        """Each line is asked for in the next of these ways, in turn. The native log never ends by itself."""
        self.until = until
        self.seen: list[Told] = []
        self.lines = self.cuts = self.cuts_in_a_character = 0
        self.over = False
        self._port = port
        self._debate_id = debate_id
        self._ways = ways

    @property
    def last(self) -> str:
        return self.seen[-1].id if self.seen else ""

    async def follow(self) -> None:
        """Until there is nothing more to come, whatever becomes of the server in between."""
        while not self.over:
            await self.look()
            if not self.over:
                await asyncio.sleep(AGAIN_SECONDS)

    async def look(self, most: int | None = None) -> None:
        """Over one line: until the other side ends it, or until so many bytes have come."""
        ear = self._ways[self.lines % len(self._ways)](self._port, self._debate_id, self.last)
        self.lines += 1
        with suppress(ConnectionError):
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            with _hung_up(writer):
                writer.write(ear.opening())
                await self._listen(reader, ear, most)
        self.over = ear.over or self._has_enough

    async def _listen(self, reader: asyncio.StreamReader, ear: Ear, most: int | None) -> None:
        left = most
        while left != 0 and not (ear.ended or self._has_enough):
            data = await reader.read(MOST_BYTES if left is None else min(left, MOST_BYTES))
            if not data:
                return
            left = None if left is None else left - len(data)
            self._keep(ear.hear(data))
        self.cuts += left == 0
        self.cuts_in_a_character += left == 0 and ear.mid_character

    @property
    def _has_enough(self) -> bool:
        return bool(self.until) and self.last == self.until

    def _keep(self, told: Sequence[Told]) -> None:
        for one in told:
            assert not self.seen or place(one.id) > place(self.last), f"{one.id} came after {self.last}"
            self.seen.append(one)


@contextmanager
def _hung_up(writer: asyncio.StreamWriter) -> Generator[None]:
    try:
        yield
    finally:
        writer.transport.abort()
