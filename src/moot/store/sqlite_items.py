"""What the writer is asked, and how its answers come back to the event loop."""

from __future__ import annotations

import contextlib
import sqlite3
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from moot.events import Narrated
from moot.store.answers import Answer, announce
from moot.store.contract import Deciding, Listener, Once
from moot.store.sqlite_draft import Draft


class Record(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    decide: Deciding
    epoch: int | None
    owner: str
    once: Once | None
    bodies: Mapping[str, bytes] | None

    def decided(self, draft: Draft) -> object:
        return draft.record(self.debate_id, self.decide, self.epoch, self.owner, self.once, self.bodies)


class Narrate(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    events: Sequence[Narrated]
    epoch: int

    def decided(self, draft: Draft) -> object:
        return draft.narrate(self.debate_id, self.events, self.epoch)


class Claim(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str
    runner: str
    seen_epoch: int
    epoch: int | None

    def decided(self, draft: Draft) -> object:
        return draft.claim(self.debate_id, self.runner, self.seen_epoch, self.epoch)


class Alone(Struct, frozen=True):
    """Something that shares its transaction with nobody."""

    reply: Future[Any]
    work: Callable[[], object]


Shared = Record | Narrate | Claim
Item = Shared | Alone


def answered(reply: Future[Any], work: Callable[..., object], *args: object) -> Answer:
    """An item's own errors stay its own. Those of SQLite may have ended the transaction: they go up."""
    try:
        return reply, work(*args), None
    except sqlite3.Error:
        raise
    except Exception as error:
        return reply, None, error


def deliver(answers: list[Answer], listeners: list[Listener]) -> None:
    """From the writer's thread: each event loop is woken once, however many wait on it."""
    by_loop: dict[AbstractEventLoop, list[Answer]] = {}
    for answer in answers:
        by_loop.setdefault(answer[0].get_loop(), []).append(answer)
    for loop, its in by_loop.items():
        # A loop that has been closed has nobody waiting.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(announce, its, listeners)
