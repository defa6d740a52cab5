"""What the decoders of all families do alike; each adds how its service's events are to be read.

Packets go into `feed`, chunks come out; `end` gives the last ones and `Done`, or raises a `Fault`. A decoder
never touches the network, so that any recorded stream can be put through it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from moot.core.errors import Fault
from moot.core.terms import Finish, Usage
from moot.providers.contract import Alive, Began, Chunk, Done, Item, Mark, Said
from moot.providers.error_replies import complaint
from moot.providers.lenient_json import loosely, member
from moot.providers.sse import Event
from moot.providers.stream_events import Frames
from moot.providers.think_tags import Sorter

T = TypeVar("T")
ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""Of a character in two halves, of half a character, and of whatever else begins with a backslash."""
MOST_TOKENS = 100_000_000


class Decoder(ABC):
    """One reply. A family says in `_hear` what an event means, and in `_close` what the end leaves open."""

    def __init__(self) -> None:
        self.began = False
        self.over = False
        """The service has said that nothing more will come."""
        self.whole = False
        """All of the reply has come, also where no reason to stop was told."""
        self.spoke = False
        """Something of the model's own has come."""
        self.request_id = ""
        self._frames = Frames()
        self._sorter: Sorter | None = Sorter()
        """None where a family looks for thoughts in the text by itself."""
        self._response_id: str | None = None
        self._model = ""
        self._finish: Finish | None = None
        self._reason = ""
        self._usage: Usage | None = None
        self._stored = True
        self._unread = 0
        self._marks: set[Mark] = set()
        self._broke: Fault | None = None

    @property
    def usage(self) -> Usage | None:
        """As far as it has been told."""
        return self._usage

    @property
    def finished(self) -> bool:
        """The model has said why it stopped: only figures may follow."""
        return self._finish is not None or self.whole

    def feed(self, packet: bytes) -> list[Chunk]:
        said: list[Chunk] = []
        hear = self._hear
        try:
            for event in self._frames.feed(packet):
                if event.data[:1] == b"{" and event.name != "error":
                    hear(event, said)
                else:
                    self.decode(event, said)
        except Fault as fault:
            if not said:
                raise
            # The words before it are handed on first; `end` raises it.
            self._broke, self.over = fault, True
        if self._sorter is not None:
            said = self._sorter.sort(said)
        if not self.spoke:
            self.spoke = any(isinstance(chunk, Said | Item) for chunk in said)
        return said or [Alive()]

    def end(self) -> list[Chunk]:
        """The stream is over. Without a reason to stop, the model was cut off."""
        if self._broke is not None:
            raise self._broke
        said: list[Chunk] = []
        for event in self._frames.close():
            self.decode(event, said)
        if not self.finished and self._unread and self._frames.is_json:
            raise Fault("malformed", "unusable", detail="JSON, but no reply")
        if not self.finished:
            raise Fault("disconnected")
        self._close(said)
        if self._sorter is not None:
            said = [*self._sorter.sort(said), *self._sorter.close()]
        done = Done(
            finish=self._finish or "unknown",
            usage=self._usage,
            response_id=self._response_id,
            degraded=",".join(sorted(self._marks)),
            reason=self._reason,
            model=self._model,
            stored=self._stored,
            unread=self._unread,
        )
        return [*said, done]

    def decode(self, event: Event, said: list[Chunk]) -> None:
        """An event that need not be one of the family's own."""
        told = event.data.strip()
        if event.name == "error":
            raise complaint(loosely(told))
        if told.strip(b'[]" ').upper() == b"DONE":
            self.over = True
            self.whole = self.whole or self._is_whole()
        elif told and not self.over:
            self._hear(event, said)

    @abstractmethod
    def _hear(self, event: Event, said: list[Chunk]) -> None: ...

    def _is_whole(self) -> bool:
        """Whether a reply with a farewell and without a reason to stop has come whole. The farewell alone is
        no proof: proxies send theirs behind a reply that was cut."""
        return False

    def _close(self, said: list[Chunk]) -> None:  # noqa: B027 - most families leave nothing open
        """Hand out what never got an end of its own."""

    def _begin(self, response_id: str | None, said: list[Chunk]) -> None:
        if not self.began:
            self.began = True
            self._response_id = response_id
            said.append(Began(response_id, self.request_id))

    def _stop(self, finish: Finish, reason: str) -> None:
        self._finish, self._reason = finish, reason

    def _read(self, read: Callable[[bytes], T], data: bytes) -> T:
        """JSON as this family types it; a broken character is replaced and marked."""
        try:
            return read(data)
        except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
            mended = ESCAPES.sub(_mended, data.decode(errors="replace").encode())
            if mended == data:
                raise Fault("malformed", detail=str(error)) from error
        try:
            told = read(mended)
        except (msgspec.DecodeError, RecursionError) as error:
            raise Fault("malformed", detail=str(error)) from error
        self._marks.add("utf8")
        return told


def _mended(escape: re.Match[bytes]) -> bytes:
    """A character may be cut in two between deltas; then each half comes alone."""
    return rb"\ufffd" if escape["half"] else escape[0]


def larger(one: Usage | None, other: Usage | None) -> Usage | None:
    """Figures only grow, but some services forget in the end what they have told before."""
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


class Counts:
    """Token counts as reported; figures that cannot be true are held within reason and marked."""

    def __init__(self, told: Any) -> None:
        self._told = told
        self.suspect = False

    def get(self, *path: str) -> int:
        value = member(self._told, *path)
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_TOKENS:
            self.suspect = True
            return 0
        return value
