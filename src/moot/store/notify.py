"""How what was written is told: the listeners first, then whoever asked."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from moot.store.contract import Listener, Outcome


class Deleted(Struct, frozen=True):
    debate_id: str


Answer = tuple[Future[Any], object, Exception | None]


def announce(answers: Sequence[Answer], listeners: Sequence[Listener]) -> None:
    """On the event loop. The news goes out even where the asker has gone away."""
    try:
        for _, result, _ in answers:
            for listener in listeners:
                _tell(listener, result)
    finally:
        for reply, result, error in answers:
            if reply.done():
                continue
            if error:
                reply.set_exception(error)
            else:
                reply.set_result(result)


def _tell(listener: Listener, result: object) -> None:
    if isinstance(result, Outcome) and result.records:
        listener(result.debate.id, result.records)
    elif isinstance(result, Deleted):
        listener(result.debate_id, None)
