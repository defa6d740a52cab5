"""Server-sent events, read as they come: bytes go in at any cut, whole events come out.

The rules are WHATWG's (line ends of three kinds, a byte order mark, comments, data over several lines), with
three kindnesses to real services: an event that lacks its last blank line still counts when the stream ends;
an `error:` line, in which older llama.cpp servers wrap a failure, becomes an event of that name; and so does
a line of bare JSON, which gateways put into a stream that they give up.

Data stays bytes. A character cut in two between packets is whole again by the time an event is complete.
"""

from __future__ import annotations

from typing import NamedTuple

BOM = b"\xef\xbb\xbf"
LONGEST = 2 * 1024 * 1024


class Event(NamedTuple):
    data: bytes
    name: str = "message"


class TooLong(ValueError):
    """An event grew past what any honest service sends."""


class Reader:
    """One stream. Feed it packets; `close` gives what is left at the end."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._tail: list[bytes] = []
        self._pending = 0
        self._data: list[bytes] = []
        self._name = ""
        self._after_cr = False
        self._fresh = True

    def feed(self, packet: bytes) -> list[Event]:
        if self._after_cr or b"\r" in packet:
            packet = self._one_kind_of_line_end(packet)
        if b"\n" not in packet:
            self._tail.append(packet)
            self._hold(self._pending + len(packet))
            return []
        if self._tail:
            self._tail.append(packet)
            packet = b"".join(self._tail)
        *lines, tail = packet.split(b"\n")
        self._tail = [tail] if tail else []
        if self._fresh:
            self._fresh = False
            lines[0] = lines[0].removeprefix(BOM)
        events: list[Event] = []
        for line in lines:
            if line[:6] == b"data: ":
                self._data.append(line[6:])
            elif not line:
                self._dispatch(events)
            else:
                self._field(line)
        self._hold(len(tail) + sum(map(len, self._data)))
        return events

    def close(self) -> list[Event]:
        """The end of the stream stands for a missing line end and a missing blank line."""
        return self.feed(b"\n\n")

    def _one_kind_of_line_end(self, packet: bytes) -> bytes:
        if self._after_cr and packet:
            packet = packet.removeprefix(b"\n")
            self._after_cr = False
        if packet.endswith(b"\r"):
            self._after_cr = True
        return packet.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _hold(self, size: int) -> None:
        self._pending = size
        if size > self._longest:
            raise TooLong

    def _dispatch(self, events: list[Event]) -> None:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            events.append(Event(data, self._name or "message"))
            self._data = []
        self._name = ""

    def _field(self, line: bytes) -> None:
        if line[:1] == b"{":
            line = b"error:" + line
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
            case b"event":
                self._name = value.decode(errors="replace")
            case b"error":
                self._data.append(value)
                self._name = "error"
            case _:
                pass
