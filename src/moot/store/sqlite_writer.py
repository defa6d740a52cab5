"""The one thread that writes: it takes what has gathered in its queue and commits it as one transaction.

There is no timer. While one commit waits for the disk the next batch gathers, so the busier the process, the
cheaper a write. If a batch cannot be written its items are tried one by one. Nothing is answered before it
is durable, and each event loop is woken once a batch.
"""

from __future__ import annotations

import contextlib
import sqlite3
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from msgspec import Struct

from moot import crash
from moot.errors import StoreError, UnknownDebate
from moot.events import Narrated
from moot.store import sqlite_read
from moot.store.append import Clock
from moot.store.contract import Deciding, Listener, Once, Outcome
from moot.store.sqlite_connect import PATIENCE, translate
from moot.store.sqlite_draft import Draft
from moot.store.states import States

MOST = 512
"""Items in one transaction."""
SWEEP_PATIENCE = 0.2
"""Seconds to wait for readers before a deleted text is scrubbed; after that it is tried again later."""


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

    def decided(self, draft: Draft) -> object:
        return draft.claim(self.debate_id, self.runner, self.seen_epoch)


class Alone(Struct, frozen=True):
    """Something that shares its transaction with nobody."""

    reply: Future[Any]
    work: Callable[[], object]


Shared = Record | Narrate | Claim
Item = Shared | Alone
Answer = tuple[Future[Any], object, Exception | None]


class Writer:
    def __init__(self, connection: sqlite3.Connection, states: States, clock: Clock) -> None:
        self._connection = connection
        self._states = states
        self._clock = clock
        self._queue: SimpleQueue[Item | None] = SimpleQueue()
        self._closing = False
        self._data_version = self._ask_data_version()
        self._generation = 0
        self._seen_elsewhere = False
        self._unswept = False
        self.listeners: list[Listener] = []
        self._thread = Thread(target=self._run, name="moot-store", daemon=True)
        self._thread.start()

    def send(self, item: Item) -> None:
        if self._closing:
            raise StoreError("The store is closed.")
        self._queue.put(item)

    def stop(self) -> None:
        """Take nothing more; what is queued is still carried out."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)

    def join(self) -> None:
        self._thread.join()

    # --- work for `Alone` -----------------------------------------------------------------------------

    def changed_elsewhere(self) -> bool:
        self._look()
        seen, self._seen_elsewhere = self._seen_elsewhere, False
        return seen

    def delete(self, debate_id: str) -> None:
        self._begin()
        try:
            if sqlite_read.pulse(self._connection, debate_id) is None:
                raise UnknownDebate
            # Bodies and requests go with the row in `debates`.
            self._connection.execute("DELETE FROM events WHERE debate_id = ?", (debate_id,))
            self._connection.execute("DELETE FROM debates WHERE id = ?", (debate_id,))
            self._commit()
        except BaseException:
            self._roll_back()
            raise
        self._states.drop(debate_id)
        self._sweep()

    # --- the thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        while batch := self._gather():
            self._carry_out(batch)
        self._sweep()
        self._connection.close()

    def _gather(self) -> list[Item]:
        """What is waiting, at least one item; empty when the store closes."""
        first = self._wait()
        if first is None:
            return []
        batch: list[Item] = [first]
        for _ in range(min(self._queue.qsize(), MOST - 1)):
            item = self._queue.get_nowait()
            if item is None:
                self._queue.put(None)
                break
            batch.append(item)
        return batch

    def _wait(self) -> Item | None:
        while self._unswept:
            try:
                return self._queue.get(timeout=1)
            except Empty:
                self._sweep()
        return self._queue.get()

    def _carry_out(self, batch: list[Item]) -> None:
        answers: list[Answer] = []
        for alone, items in groupby(batch, key=lambda item: isinstance(item, Alone)):
            if alone:
                answers += [self._alone(item) for item in items if isinstance(item, Alone)]
            else:
                answers += self._together([item for item in items if not isinstance(item, Alone)])
        self._deliver(answers)

    def _deliver(self, answers: list[Answer]) -> None:
        by_loop: dict[AbstractEventLoop, list[Answer]] = {}
        for answer in answers:
            by_loop.setdefault(answer[0].get_loop(), []).append(answer)
        for loop, its in by_loop.items():
            # A loop that has been closed has nobody waiting.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, its, self.listeners)

    def _alone(self, item: Alone) -> Answer:
        try:
            return _answer(item.reply, item.work)
        except sqlite3.Error as error:
            return item.reply, None, translate(error)

    def _together(self, items: list[Shared]) -> list[Answer]:
        try:
            self._begin()
        except sqlite3.Error as error:
            return [(item.reply, None, translate(error)) for item in items]
        try:
            return self._write(items)
        except Exception as error:
            if len(items) == 1:
                return [(items[0].reply, None, _ours(error))]
        return [answer for item in items for answer in self._together([item])]

    def _write(self, items: list[Shared]) -> list[Answer]:
        draft = Draft(self._connection, self._states, generation=self._generation, at=self._clock())
        try:
            answers = [_answer(item.reply, item.decided, draft) for item in items]
            draft.write()
            self._commit()
        except BaseException:
            self._roll_back()
            draft.forget()
            raise
        draft.remember()
        return answers

    # --- transactions ---------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._look()
        except BaseException:
            self._roll_back()
            raise

    def _commit(self) -> None:
        crash.point("before-commit")
        self._connection.execute("COMMIT")
        crash.point("after-commit")

    def _roll_back(self) -> None:
        # SQLite has done it already after some errors, such as a full disk.
        if self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _look(self) -> None:
        """Another process's commit moves the data version of our connection; our own commits do not."""
        version = self._ask_data_version()
        if version != self._data_version:
            self._data_version = version
            self._generation += 1
            self._seen_elsewhere = True

    def _ask_data_version(self) -> int:
        return self._connection.execute("PRAGMA data_version").fetchone()[0]

    def _sweep(self) -> None:
        """Empty the write-ahead log, which still holds what was deleted. Readers may make that wait."""
        try:
            self._connection.execute(f"PRAGMA busy_timeout = {int(SWEEP_PATIENCE * 1000)}")
            busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            self._unswept = bool(busy)
            self._connection.execute(f"PRAGMA busy_timeout = {int(PATIENCE * 1000)}")
        except sqlite3.Error:
            self._unswept = True


def _answer(reply: Future[Any], work: Callable[..., object], *args: object) -> Answer:
    """An item's own errors stay its own. Those of SQLite may have ended the transaction: they go up."""
    try:
        return reply, work(*args), None
    except sqlite3.Error:
        raise
    except Exception as error:
        return reply, None, error


def _ours(error: Exception) -> Exception:
    return translate(error) if isinstance(error, sqlite3.Error) else error


def _settle(answers: list[Answer], listeners: list[Listener]) -> None:
    """On the event loop. The news goes out even where the asker has gone away."""
    for _, result, _ in answers:
        if isinstance(result, Outcome) and result.records:
            for listener in listeners:
                listener(result.debate.id, result.records)
    for reply, result, error in answers:
        if reply.done():
            continue
        if error:
            reply.set_exception(error)
        else:
            reply.set_result(result)
