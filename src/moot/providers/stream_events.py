"""The events of a reply, however the service frames them; what it is sent as is seen from its first byte.

Most send server-sent events. Some answer a wish for a stream with JSON: a whole completion, an error under
the wrong label, an array that grows (Gemini), one object a line (Ollama). `ReplyEvents` looks at the first
byte that is not blank and reads either; a page for people is no reply at all.
"""

from __future__ import annotations

import re

from moot.core.errors import Fault
from moot.providers.sse import BOM, MAX_EVENT_BYTES, EventTooLong, SseEvent, SseParser

BLANK = b" \t\r\n"
JSON_MARKS = re.compile(rb'\\.|["{}\[\]]', re.DOTALL)


class ReplyEvents:
    """One reply. Bytes go in at any cut, whole events come out."""

    def __init__(self, longest: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = longest
        self._head = b""
        self._reader: SseParser | JsonObjects | None = None

    def feed(self, packet: bytes) -> list[SseEvent]:
        reader = self._reader
        try:
            return reader.feed(packet) if reader is not None else self._begin(packet)
        except EventTooLong as error:
            raise Fault("malformed", "unusable", detail="an event without end") from error

    @property
    def is_json(self) -> bool:
        return isinstance(self._reader, JsonObjects)

    def close(self) -> list[SseEvent]:
        return self._reader.close() if self._reader is not None else []

    def _begin(self, packet: bytes) -> list[SseEvent]:
        self._head += packet
        shown = self._head.removeprefix(BOM).lstrip(BLANK)
        if not shown or BOM.startswith(self._head):
            if len(self._head) > self._max_bytes:
                raise EventTooLong
            return []
        if shown.startswith(b"<"):
            raise Fault("malformed", "unusable", detail="a page for people, not a stream")
        self._reader = JsonObjects(self._max_bytes) if shown[:1] in b"{[" else SseParser(self._max_bytes)
        head, self._head = self._head, b""
        return self._reader.feed(shown if isinstance(self._reader, JsonObjects) else head)


class JsonObjects:
    """JSON objects one after the other, or inside one array: each is an event."""

    def __init__(self, longest: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = longest
        self._parts: list[bytes] = []
        self._size = 0
        self._depth = 0
        self._array = False
        self._quoted = False
        self._cut = b""

    def feed(self, packet: bytes) -> list[SseEvent]:
        packet = self._cut + packet
        whole = packet.rstrip(b"\\")
        # A backslash belongs to the character after it, which may come with the next packet.
        packet, self._cut = whole, packet[len(whole) :]
        if len(self._cut) > self._max_bytes:
            raise EventTooLong
        events: list[SseEvent] = []
        start = 0
        for mark in JSON_MARKS.finditer(packet):
            start = self._step(packet, mark, start, events)
        if self._depth:
            self._hold(packet[start:])
        return events

    def close(self) -> list[SseEvent]:
        """An object that was never closed is handed on as it is: its reader will say what is wrong."""
        return [SseEvent(b"".join(self._parts))] if self._parts else []

    def _step(self, packet: bytes, mark: re.Match[bytes], start: int, events: list[SseEvent]) -> int:
        at, sign = mark.start(), mark.group()
        if sign == b'"':
            self._quoted = not self._quoted
        if self._quoted or sign[:1] in b'"\\':
            return start
        if sign in b"{[":
            if self._depth == 0:
                start = at
                if sign == b"[" and not self._array:
                    self._array = True
                    return start
            self._depth += 1
        elif self._depth:
            self._depth -= 1
            if self._depth == 0:
                self._hold(packet[start : at + 1])
                events.append(SseEvent(b"".join(self._parts)))
                self._parts, self._size = [], 0
        return start

    def _hold(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._max_bytes:
            raise EventTooLong
