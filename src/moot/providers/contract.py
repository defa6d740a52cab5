"""What a provider promises: a request goes in, chunks come out in the provider's own order, or a Fault.

A provider yields `ReplyStarted` when the service has answered, `ReplyDelta` for words, `ReplySegment` for
each finished segment with all that the service told about it, `KeepAlive` for signs of life without words,
and exactly one `ReplyDone` at the end. Anything else ends in a raised `Fault`. Closing the iterator cancels
the call. Segments that have no `ReplySegment` are made from their words; where an `ReplySegment` differs from
the words that were said, the `ReplySegment` is right.

Before a call, `admit` waits for the caller's turn and is held for as long as the call lasts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from msgspec import Struct

from moot.core.terms import (
    DeltaKind,
    Effort,
    FinishReason,
    HostedTool,
    Model,
    PartStart,
    Request,
    Segment,
    Usage,
)


class ReplyStarted(Struct, frozen=True):
    response_id: str | None = None
    request_id: str = ""
    """By which the service's own people would find this call."""


class ReplyDelta(Struct, frozen=True, gc=False):
    text: str
    kind: DeltaKind = "text"
    segment: int = 0
    part: PartStart | None = None
    """With the first words of a part, where the service names and counts its items."""


class ReplySegment(Struct, frozen=True):
    segment: Segment


class KeepAlive(Struct, frozen=True):
    usage: Usage | None = None
    """The figures so far, where a reply is about to break off."""


class ReplyDone(Struct, frozen=True):
    finish: FinishReason = "stop"
    usage: Usage | None = None
    """None where the service reports nothing."""
    response_id: str | None = None
    degraded: str = ""
    """What was not as it should be, in words of `Degradation` with commas between."""
    reason: str = ""
    """Why it ended, in the service's own word."""
    model: str = ""
    """The model that answered, as the service names it."""
    stored: bool = True
    """Whether a later call may refer to this one by its id."""
    unread: int = 0
    """Events of kinds that we do not know: passed over, and counted."""


Degradation = Literal["chain", "utf8", "mended"]
"""The history was sent in full although the service could have remembered it; a broken character was
replaced; the whole text differed from the words that were streamed."""

Chunk = ReplyStarted | ReplyDelta | ReplySegment | KeepAlive | ReplyDone


class Traits(Struct, frozen=True):
    """What a model can do at an endpoint, as data."""

    chaining: bool = False
    """It remembers its responses, and the next request may refer to the last by its id."""
    deadlines: bool = True
    """False: slow is not broken (a local model on a busy laptop)."""
    prefill: bool = False
    schema: Literal["strict", "json", "words"] = "strict"
    """How it is held to JSON: to a schema, to JSON of any shape, or by nothing but what it is told."""
    small: bool = False
    """Needs short turns and a firm hand."""
    thinks: bool = False
    """It reasons before it speaks, and can be asked to show it."""
    efforts: tuple[Effort, ...] = ()
    """How hard it can be told to think. Empty: it is not to be told."""
    thinking: Literal["effort", "budget"] = "effort"
    """How it is told: by a word, or (older models) by the tokens that it may spend on it."""
    verbosity: bool = False
    sampling: bool = True
    """Takes a temperature and a seed; many reasoning models refuse them."""
    tools: bool = False
    """It may be offered tools, which we carry out."""
    hosted: tuple[HostedTool, ...] = ()
    """The tools that its service has itself."""
    context: int | None = None
    output: int | None = None
    """The most tokens it can read, and say."""


class Provider(Protocol):
    @property
    def traits(self) -> Traits: ...

    def traits_of(self, model: str) -> Traits:
        """Of one model, by its name."""
        ...

    async def prepare(self, model: Model) -> None:
        """Fetch or start what a first answer would have to wait for. May raise Unavailable."""
        ...

    def admit(self, model: Model) -> AbstractAsyncContextManager[object]:
        """Wait for a place among the calls under way; the clock of a speech does not run meanwhile."""
        ...

    def report_timeout(self, model: Model) -> None:
        """The caller's patience has ended before a word came."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]: ...

    async def close(self) -> None: ...
