"""Server-sent events, read as they come: bytes go in at any cut, whole events come out.

The rules are WHATWG's (line ends of three kinds, a byte order mark, comments, data over several lines), with
three kindnesses to real services: an event that lacks its last blank line still counts when the stream ends;
an `error:` line, in which older llama.cpp servers wrap a failure, becomes an event of that name; and so does
bare JSON, in one line or in many, which gateways put into a stream that they give up.

Data stays bytes. A character cut in two between packets is whole again by the time an event is complete.
"""

from __future__ import annotations

import itertools

from msgspec import Struct

BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 2 * 1024 * 1024
BARE_JSON = (b"{", b"[{")
"""How JSON begins that nobody wrapped into an event."""
FIELDS = (b"data:", b"event:", b"error:", b"id:", b"retry:", b":")


class SseEvent(Struct, frozen=True, gc=False):
    data: bytes
    name: str = "message"


class EventTooLong(ValueError):
    """An event grew past what any honest service sends."""


class SseParser:
    """One stream. Feed it packets; `close` gives what is left at the end."""

    def __init__(self, longest: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = longest
        self._tail: list[bytes] = []
        self._pending = 0
        self._after_cr = False
        self._at_start = True

    def feed(self, packet: bytes) -> list[SseEvent]:
        if self._after_cr or b"\r" in packet:
            packet = self._normalise_line_ends(packet)
        if b"\n\n" not in packet and not (packet[:1] == b"\n" and self._at_line_end()):
            self._buffer(packet)
            return []
        if self._tail:
            packet = b"".join((*self._tail, packet))
            self._tail = []
        if self._at_start:
            self._at_start = False
            packet = packet.removeprefix(BOM)
        *blocks, tail = packet.split(b"\n\n")
        self._pending = 0
        if tail:
            self._buffer(tail)
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
                events.extend(_parse_block(block))
        return events

    def close(self) -> list[SseEvent]:
        """The end of the stream stands for a missing line end and a missing blank line."""
        return self.feed(b"\n\n")

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


def _parse_block(block: bytes) -> list[SseEvent]:
    lines = block.split(b"\n")
    bare = next((at for at, line in enumerate(lines) if line.startswith(BARE_JSON)), len(lines))
    loose = itertools.takewhile(lambda line: not line.startswith(FIELDS), lines[bare:])
    failure = b"\n".join(loose)
    return [*_parse_fields(lines[:bare]), *([SseEvent(failure, "error")] if failure else [])]


def _parse_fields(lines: list[bytes]) -> list[SseEvent]:
    data: list[bytes] = []
    name = ""
    for line in lines:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field in (b"data", b"error"):
            data.append(value)
        if field == b"event":
            name = value.decode(errors="replace")
        elif field == b"error":
            name = "error"
    return [SseEvent(b"\n".join(data), name or "message")] if data else []
