"""What the writer of a store is asked. Several of these are decided and written together."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from moot.core.events import StreamedEvent
from moot.store.contract import DecideOnHead, IdempotencyKey


class RecordEvents(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    decide: DecideOnHead
    epoch: int | None
    owner: str
    once: IdempotencyKey | None
    bodies: Mapping[str, bytes] | None


class AppendStreamed(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    events: Sequence[StreamedEvent]
    epoch: int


class ClaimDebate(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    runner: str
    seen_epoch: int
    epoch: int | None


BatchRequest = RecordEvents | AppendStreamed | ClaimDebate
