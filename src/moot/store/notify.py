"""How what was written is told: the listeners first, then whoever asked."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from moot.store.contract import Listener, RecordResult


class Deleted(Struct, frozen=True):
    debate_id: str


WriterAnswer = tuple[Future[Any], object, Exception | None]


def deliver_answers(answers: Sequence[WriterAnswer], listeners: Sequence[Listener]) -> None:
    """On the event loop. The news goes out even where the asker has gone away."""
    try:
        for _, result, _ in answers:
            for listener in listeners:
                _notify(listener, result)
    finally:
        for reply, result, error in answers:
            if reply.done():
                continue
            if error:
                reply.set_exception(error)
            else:
                reply.set_result(result)


def _notify(listener: Listener, result: object) -> None:
    if isinstance(result, RecordResult) and result.records:
        listener(result.debate.id, result.records)
    elif isinstance(result, Deleted):
        listener(result.debate_id, None)
