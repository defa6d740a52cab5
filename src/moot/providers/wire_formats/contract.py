"""What a wire format is: a request builder and a decoder, both pure.

A `WireFormat` says where to ask, with which headers and body, and which decoder reads the reply. A `Decoder`
takes packets in `feed` and returns chunks; `end` returns the last ones and `ReplyDone`, or raises a `Fault`.
It never touches the network, so any recorded stream can be put through it. Here is what all decoders share;
each wire format adds how its service's events are read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from moot.core.errors import Fault
from moot.core.sse_reader import SseEvent
from moot.core.terms import FinishReason, Request, TokenOdds, Usage
from moot.providers.contract import (
    Chunk,
    Degradation,
    KeepAlive,
    ReplyDelta,
    ReplyDone,
    ReplySegment,
    ReplyStarted,
    Traits,
)
from moot.providers.error_replies import fault_from_error
from moot.providers.lenient_json import get_path, parse_or_text
from moot.providers.wire_formats.reply_events import MAX_MISSES, EventShape, ReplyEvents, in_parts, shape_of
from moot.providers.wire_formats.split_characters import CharacterJoiner, mark_halves
from moot.providers.wire_formats.think_tags import ThoughtSorter

T = TypeVar("T")
MAX_TOKENS = 100_000_000
read_object = msgspec.json.Decoder(dict[str, Any]).decode
"""For the rare events that are read whole, with `Decoder._parse`."""


class WireFormat(Struct, frozen=True):
    name: str
    url: Callable[[str, str], str]
    """The address, from the base URL and the model's name."""
    headers: Callable[[str], Mapping[str, str]]
    """The headers that carry the key."""
    body: Callable[[Request, Traits], dict[str, Any]]
    decoder: Callable[[Request, Traits], Decoder]
    list_url: Callable[[str], str] = lambda base: f"{base}/models"
    """The address of its list of models, from the base URL."""


def bearer(key: str) -> Mapping[str, str]:
    """The usual `headers` of a wire format."""
    return {"Authorization": f"Bearer {key}"} if key else {}


class Decoder(ABC):
    """One reply. Subclasses say in `_on_event` what an event means, in `_flush` what is open at the end."""

    def __init__(self) -> None:
        self.started = False
        self.over = False
        """The service has said that nothing more will come."""
        self.complete = False
        """The reply is complete, even if the service gave no reason to stop."""
        self.has_output = False
        """The model has produced something."""
        self.usage_is_final = False
        """The service has reported its figures together with its failure."""
        self.request_id = ""
        self._events = ReplyEvents()
        self._sorter: ThoughtSorter | None = ThoughtSorter()
        """None where a wire format looks for thoughts in the text by itself."""
        self._joiner: CharacterJoiner | None = None
        """None until half a character comes."""
        self._response_id: str | None = None
        self._model = ""
        self._finish: FinishReason | None = None
        self._reason = ""
        self._usage: Usage | None = None
        self._stored = True
        self._unread = 0
        self._tokens: list[TokenOdds] = []
        self._refusal_category = ""
        self._unbilled = False
        self._service_tier = ""
        self._marks: set[Degradation] = set()
        self._fault: Fault | None = None
        self._shape: EventShape | None = None
        """Of the last event, if it brought words and nothing else."""
        self._misses = 0

    @property
    def usage(self) -> Usage | None:
        """The figures reported so far."""
        return self._usage

    @property
    def finished(self) -> bool:
        """The service has said why the model stopped: only figures may follow."""
        return self._finish is not None or self.complete

    def feed(self, packet: bytes) -> list[Chunk]:
        """The chunks that this packet completes, at least a `KeepAlive`. Raises Fault."""
        out: list[Chunk] = []
        for whole in in_parts(self._events.take_whole(packet)):
            shape = self._shape
            words = shape.words(whole) if shape is not None else None
            if shape is None or words is None:
                self._shape = None
                self._decode_all(whole, out)
            elif words:
                self._misses = 0
                self._on_repeated(words, shape.number, whole, out)
            if self._fault is not None:
                break
        if self._sorter is not None:
            out = self._sorter.sort(out)
        if self._joiner is not None:
            out = self._joiner.join(out)
        if not self.has_output:
            self.has_output = any(isinstance(chunk, ReplyDelta | ReplySegment) for chunk in out)
        return out or [KeepAlive()]

    def _decode_all(self, whole: bytes, out: list[Chunk]) -> None:
        on_event = self._on_event
        event, chunks_before = None, 0
        try:
            for event in self._events.parse(whole):
                chunks_before = len(out)
                if event.data[:1] == b"{" and event.name != "error":
                    on_event(event, out)
                else:
                    self.decode(event, out)
        except Fault as fault:
            if not out:
                raise
            # The words before it are returned first; `end` raises it.
            self._fault, self.over = fault, True
        if event is not None and self._misses < MAX_MISSES:
            self._note_shape(whole, event, out[chunks_before:])

    def _note_shape(self, whole: bytes, event: SseEvent, chunks: list[Chunk]) -> None:
        """Remember the last event, which made these chunks, if others may repeat it with other words."""
        if len(chunks) == 1 and isinstance(chunks[0], ReplyDelta):
            self._misses += 1
            if member := self._words_member(event):
                self._shape = shape_of(whole, event.data, member, chunks[0].text)

    def end(self) -> list[Chunk]:
        """The last chunks, when the stream is over. Raises Fault, also if the reply was cut off."""
        if self._fault is not None:
            raise self._fault
        out: list[Chunk] = []
        for event in self._events.close():
            self.decode(event, out)
        if not self.finished and self._unread and self._events.is_json:
            raise Fault("malformed", "unusable", billed=False, detail="JSON, but no reply")
        if not self.finished:
            raise Fault("disconnected", billed=self.started)
        self._flush(out)
        if self._sorter is not None:
            out = [*self._sorter.sort(out), *self._sorter.close()]
        if self._joiner is not None:
            out = [*self._joiner.join(out), *self._joiner.flush()]
            if self._joiner.broken:
                self._marks.add("utf8")
        done = ReplyDone(
            finish=self._finish or "unknown",
            usage=self._usage,
            response_id=self._response_id,
            degraded=",".join(sorted(self._marks)),
            reason=self._reason,
            model=self._model,
            stored=self._stored,
            unread=self._unread,
            tokens=tuple(self._tokens),
            refusal_category=self._refusal_category,
            unbilled=self._unbilled,
            service_tier=self._service_tier,
        )
        return [*out, *(self._joiner.join([done]) if self._joiner is not None else [done])]

    def decode(self, event: SseEvent, out: list[Chunk]) -> None:
        """Read an event that may be none of its own: an error, or the sign of the end."""
        data = event.data.strip()
        if event.name == "error":
            raise fault_from_error(parse_or_text(data))
        if data.strip(b'[]" ').upper() == b"DONE":
            self.over = True
            self.complete = self.complete or self._is_complete()
        elif data and not self.over:
            self._on_event(event, out)

    @abstractmethod
    def _on_event(self, event: SseEvent, out: list[Chunk]) -> None: ...

    def _words_member(self, event: SseEvent) -> bytes:
        """The member whose text this event, the last one, has passed on as it is, if it did nothing else."""
        return b""

    def _on_repeated(self, words: str, number: int, whole: bytes, out: list[Chunk]) -> None:
        """Handle the events of `whole`, which differ from the one before them only in their text and their
        sequence number. `words` is their joined text, `number` their last sequence number."""
        raise NotImplementedError

    def _is_complete(self) -> bool:
        """Whether a reply that ended with `[DONE]` but without a reason to stop is complete.

        `[DONE]` alone is no proof: proxies send it after a reply that was cut off.
        """
        return False

    def _flush(self, out: list[Chunk]) -> None:  # noqa: B027 - most wire formats leave no segment open
        """Complete the segments that the service never ended."""

    def _begin(self, response_id: str | None, out: list[Chunk]) -> None:
        if not self.started:
            self.started = True
            self._response_id = response_id
            out.append(ReplyStarted(response_id, self.request_id))

    def _set_finish(self, finish: FinishReason, reason: str) -> None:
        self._finish, self._reason = finish, reason

    def _parse(self, read: Callable[[bytes], T], data: bytes) -> T:
        """JSON as this wire format types it. Half a character waits for the other half. Raises Fault."""
        try:
            return read(data)
        except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
            repaired = mark_halves(data)
            if repaired == data:
                raise Fault("malformed", detail=str(error)) from error
        try:
            parsed = read(repaired)
        except (msgspec.DecodeError, RecursionError) as error:
            raise Fault("malformed", detail=str(error)) from error
        self._joiner = self._joiner or CharacterJoiner()
        return parsed


def max_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    """The larger of each figure: they only grow, but some services omit at the end what they sent before."""
    if one is None or other is None:
        return one or other
    return Usage(
        input=max(one.input, other.input),
        output=max(one.output, other.output),
        reasoning=max(one.reasoning, other.reasoning),
        cached=max(one.cached, other.cached),
        cache_write=max(one.cache_write, other.cache_write),
        suspect=one.suspect or other.suspect,
    )


class ReportedUsage:
    """Token counts as reported. A figure that cannot be true counts as 0, and makes all `suspect`."""

    def __init__(self, fields: Any) -> None:
        self._fields = fields
        self.suspect = False

    def get(self, *path: str) -> int:
        value = get_path(self._fields, *path)
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_TOKENS:
            self.suspect = True
            return 0
        return value
