"""Reads server-sent events incrementally: bytes go in at any cut, whole events come out.

The rules are WHATWG's: line ends of three kinds, a byte order mark, comments, data over several lines. An
event counts once its blank line has come. Data stays bytes; a character cut in two between packets is whole
again by the time its event is complete.
"""

from __future__ import annotations

from math import inf

from msgspec import Struct

BOM = b"\xef\xbb\xbf"


class SseEvent(Struct, frozen=True, gc=False):
    data: bytes
    name: str = "message"
    id: str = ""
    """Empty: it has none, and a reader that comes back cannot ask for what follows it."""


class EventTooLong(ValueError):
    """An event is longer than the reader accepts."""


class SseReader:
    """Reads one stream. `retry` is the pause in seconds that the server wants before a reconnection."""

    def __init__(self, max_bytes: float = inf) -> None:
        self.retry: float | None = None
        self._max_bytes = max_bytes
        self._tail: list[bytes] = []
        self._pending = 0
        self._after_cr = False
        self._at_start = True

    def feed(self, packet: bytes) -> list[SseEvent]:
        """The events that are complete with this packet. Raises EventTooLong."""
        return self.parse(self.take_whole(packet))

    def take_whole(self, packet: bytes) -> bytes:
        """The events that are complete with this packet, unparsed; the rest is kept. Raises EventTooLong."""
        if self._after_cr or b"\r" in packet:
            packet = self._normalise_line_ends(packet)
        if b"\n\n" not in packet and not (packet[:1] == b"\n" and self._at_line_end()):
            self._buffer(packet)
            return b""
        if self._tail:
            packet = b"".join((*self._tail, packet))
            self._tail = []
        if self._at_start:
            self._at_start = False
            packet = packet.removeprefix(BOM)
        self._pending = 0
        end = packet.rfind(b"\n\n") + 2
        if end < len(packet):
            self._buffer(packet[end:])
        return packet[:end]

    def parse(self, whole: bytes) -> list[SseEvent]:
        """The events in what `take_whole` returned."""
        blocks = whole.split(b"\n\n")
        if not blocks[-1]:
            blocks.pop()
        events: list[SseEvent] = []
        for block in blocks:
            # Nearly all events are one line of data, perhaps below one line with a name.
            if block[:6] == b"data: " and b"\n" not in block:
                events.append(SseEvent(block[6:]))
                continue
            name, _, data = block.partition(b"\n")
            if name[:7] == b"event: " and data[:6] == b"data: " and b"\n" not in data:
                events.append(SseEvent(data[6:], name[7:].decode(errors="replace") or "message"))
            else:
                events.extend(self._parse_lines(block.split(b"\n")))
        return events

    def _parse_lines(self, lines: list[bytes]) -> list[SseEvent]:
        data: list[bytes] = []
        name = id = ""
        for line in lines:
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            match field:
                case b"data":
                    data.append(value)
                case b"event":
                    name = value.decode(errors="replace")
                case b"id" if b"\0" not in value:
                    id = value.decode(errors="replace")
                case b"retry" if value.isdigit():
                    self.retry = int(value) / 1000
                case _:
                    pass  # a comment, or a field of another standard
        return [SseEvent(b"\n".join(data), name or "message", id)] if data else []

    def _buffer(self, packet: bytes) -> None:
        if packet:
            self._tail.append(packet)
        self._pending += len(packet)
        if self._pending > self._max_bytes:
            raise EventTooLong

    def _at_line_end(self) -> bool:
        return bool(self._tail) and self._tail[-1].endswith(b"\n")

    def _normalise_line_ends(self, packet: bytes) -> bytes:
        if self._after_cr and packet:
            packet = packet.removeprefix(b"\n")
            self._after_cr = False
        if packet.endswith(b"\r"):
            self._after_cr = True
        return packet.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
