"""What the thread that writes is asked, and how its answers come back to the event loop."""

from __future__ import annotations

import contextlib
import sqlite3
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from moot.store.contract import Listener
from moot.store.notify import WriterAnswer, deliver_answers
from moot.store.requests import AppendStreamed, BatchRequest, ClaimDebate, RecordEvents
from moot.store.sqlite.batch import SqliteBatch


class OwnTransaction(Struct, frozen=True):
    """Something that shares its transaction with nobody."""

    reply: Future[Any]
    work: Callable[[], object]


SqliteRequest = BatchRequest | OwnTransaction


def run_request(item: BatchRequest, draft: SqliteBatch) -> object:
    match item:
        case RecordEvents():
            return draft.record(item.debate_id, item.decide, item.epoch, item.owner, item.once, item.bodies)
        case AppendStreamed():
            return draft.append_streamed(item.debate_id, item.events, item.epoch)
        case ClaimDebate():
            return draft.claim(item.debate_id, item.runner, item.seen_epoch, item.epoch)


def answer_to(reply: Future[Any], work: Callable[..., object], *args: object) -> WriterAnswer:
    """An item's own errors stay its own. Those of SQLite may have ended the transaction: they go up."""
    try:
        return reply, work(*args), None
    except sqlite3.Error:
        raise
    except Exception as error:
        return reply, None, error


def deliver(answers: list[WriterAnswer], listeners: list[Listener]) -> None:
    """From the writer's thread: each event loop is woken once, however many wait on it."""
    by_loop: dict[AbstractEventLoop, list[WriterAnswer]] = {}
    for answer in answers:
        by_loop.setdefault(answer[0].get_loop(), []).append(answer)
    for loop, its in by_loop.items():
        # A loop that has been closed has nobody waiting.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver_answers, its, listeners)
