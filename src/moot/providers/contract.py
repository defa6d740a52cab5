"""What a provider promises: a request goes in, chunks come out in the provider's own order, or a Fault.

A provider yields `Began` when the service has answered, `Said` for words, `Item` for each finished segment
with all that the service told about it, `Alive` for signs of life without words, and exactly one `Done` at
the end. Anything else ends in a raised `Fault`. Closing the iterator cancels the call. Segments that have no
`Item` are made from their words.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from msgspec import Struct

from moot.terms import DeltaKind, Finish, Model, Request, Segment, Usage


class Began(Struct, frozen=True):
    response_id: str | None = None


class Said(Struct, frozen=True):
    text: str
    kind: DeltaKind = "text"
    segment: int = 0


class Item(Struct, frozen=True):
    segment: Segment


class Alive(Struct, frozen=True):
    pass


class Done(Struct, frozen=True):
    finish: Finish = "stop"
    usage: Usage | None = None
    """None where the service reports nothing."""
    response_id: str | None = None
    degraded: str = ""


Chunk = Began | Said | Item | Alive | Done


class Traits(Struct, frozen=True):
    """What a provider can do, as data."""

    chaining: bool = False
    deadlines: bool = True
    """False: slow is not broken (a local model on a busy laptop)."""
    prefill: bool = False
    schema: bool = True
    small: bool = False
    """Needs short turns and a firm hand."""


class Provider(Protocol):
    @property
    def traits(self) -> Traits: ...

    async def prepare(self, model: Model) -> None:
        """Fetch or start what a first answer would have to wait for. May raise Unavailable."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]: ...

    async def close(self) -> None: ...
