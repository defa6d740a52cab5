"""Server-sent events as a viewer needs them, with their ids: bytes go in at any cut, whole events come out.

An event counts when its blank line has come; what a broken connection leaves unfinished is forgotten, and
asked for again by the id of the last whole one. The rules are WHATWG's.
"""

from __future__ import annotations

from msgspec import Struct

BOM = b"\xef\xbb\xbf"


class SseMessage(Struct, frozen=True, gc=False):
    name: str
    id: str
    """Empty where it has none: then it has no place in the log, and cannot be asked for again."""
    data: bytes


class SseReader:
    """One connection. `retry` is how long to wait before the next one, in seconds, once the server tells."""

    def __init__(self) -> None:
        self.retry: float | None = None
        self._parts: list[bytes] = []
        self._fresh = True
        self._after_cr = False
        self._forget()

    def feed(self, packet: bytes) -> list[SseMessage]:
        packet = self._one_kind_of_line_end(packet)
        self._parts.append(packet)
        if b"\n" not in packet:
            return []
        *lines, rest = b"".join(self._parts).split(b"\n")
        self._parts = [rest]
        if self._fresh:
            self._fresh = False
            lines[0] = lines[0].removeprefix(BOM)
        return [message for line in lines if (message := self._take(line))]

    def _take(self, line: bytes) -> SseMessage | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"data":
                self._data.append(value)
            case b"event":
                self._name = value.decode(errors="replace")
            case b"id" if b"\0" not in value:
                self._id = value.decode(errors="replace")
            case b"retry" if value.isdigit():
                self.retry = int(value) / 1000
            case _:
                pass  # a comment, which only shows that somebody is there, or a field that nobody knows
        return None

    def _dispatch(self) -> SseMessage | None:
        name, id, data = self._name, self._id, self._data
        self._forget()
        return SseMessage(name or "message", id, b"\n".join(data)) if data else None

    def _forget(self) -> None:
        self._name = self._id = ""
        self._data: list[bytes] = []

    def _one_kind_of_line_end(self, packet: bytes) -> bytes:
        if self._after_cr and packet:
            packet = packet.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" not in packet:
            return packet
        self._after_cr = packet.endswith(b"\r")
        return packet.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
