"""What the writer of a store is asked. Several of these are decided and written together."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from moot.core.events import Narrated
from moot.store.contract import Deciding, Once


class Record(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    decide: Deciding
    epoch: int | None
    owner: str
    once: Once | None
    bodies: Mapping[str, bytes] | None


class Narrate(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    events: Sequence[Narrated]
    epoch: int


class Claim(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    runner: str
    seen_epoch: int
    epoch: int | None


Shared = Record | Narrate | Claim
