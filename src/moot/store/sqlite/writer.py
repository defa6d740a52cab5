"""The one thread that writes: it commits all requests that are waiting in its queue as one transaction.

There is no timer here; streamed text has waited for its tick before it comes (`engine/text_writer.py`). While
one commit waits for the disk the next batch gathers, so a write is the cheaper, the busier the process. If a
batch cannot be written its requests are tried one by one. No request is answered before it is durable, and
each event loop is woken once a batch.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec import Struct

from moot.core.crash_points import crash_point
from moot.core.errors import StoreError, UnknownDebate
from moot.store.batch import BatchRequest, Deleted, WriterAnswer, deliver_answers
from moot.store.contract import Clock, Listener, Reply
from moot.store.sql_store import StateCache
from moot.store.sqlite import queries
from moot.store.sqlite.batch import SqliteBatch
from moot.store.sqlite.connect import LOCK_WAIT_SECONDS, is_locked, translate

P = ParamSpec("P")
T = TypeVar("T")

MAX_BATCH = 512
"""Requests in one transaction."""
MAX_FRESH_EVENTS = 1000
"""Events in `fresh` before they are moved to `events`."""
NEVER = float("inf")
CHECKPOINT_WAIT_SECONDS = 0.05
"""Seconds to wait for readers of other processes before deleted text is scrubbed."""
CHECKPOINT_RETRY_SECONDS = 1.0
"""Seconds until the next attempt, if readers prevented it."""


class OwnTransaction(Struct, frozen=True):
    """Work that has a transaction to itself."""

    reply: Future[Any]
    work: Callable[[], object]


SqliteRequest = BatchRequest | OwnTransaction


class SqliteWriter:
    def __init__(self, connection: sqlite3.Connection, states: StateCache, clock: Clock) -> None:
        self._connection = connection
        self._states = states
        self._clock = clock
        self._queue: SimpleQueue[tuple[SqliteRequest, ...] | None] = SimpleQueue()
        self._closing = False
        self._data_version = self._ask_data_version()
        self.generation = 0
        """Counts the commits of other processes that were noticed."""
        self.commits = 0
        self._unsettled = 0
        self._truncate_at = NEVER
        self.listeners: list[Listener] = []
        self.write_error = ""
        """Why the last write failed, until one succeeds."""
        self._thread = Thread(target=self._run, name="moot-store", daemon=True)
        self._thread.start()

    def send(self, *items: SqliteRequest) -> None:
        """They are written together, if the file takes them; others may be written with them."""
        if self._closing:
            raise StoreError("The store is closed.")
        self._queue.put(items)

    def stop(self) -> None:
        """Accept no more requests; those in the queue are still carried out."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)

    def join(self) -> None:
        self._thread.join()

    # --- work for `OwnTransaction` --------------------------------------------------------------------

    def check_data_version(self) -> None:
        """A commit of another process changes the data version of our connection; our own commits do not."""
        version = self._ask_data_version()
        if version != self._data_version:
            self._data_version = version
            self.generation += 1

    def delete(self, debate_id: str) -> Deleted:
        self.change_and_scrub(_delete, debate_id)
        self._states.drop(debate_id)
        return Deleted(debate_id)

    def change_and_scrub(
        self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """A change that deletes: the deleted text is removed from the write-ahead log, too."""
        result = self.change(work, *args, **kwargs)
        self._truncate_wal()
        return result

    def change(
        self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run work in a transaction of its own."""
        self._begin()
        try:
            result = work(self._connection, *args, **kwargs)
            self._commit()
        except BaseException:
            self._roll_back()
            raise
        return result

    # --- the thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        while batch := self._gather():
            _deliver(self._run_batch(batch), self.listeners)
            if self._unsettled >= MAX_FRESH_EVENTS:
                self._move_fresh_events()
            if self._truncate_at <= time.monotonic():
                self._truncate_wal()
        self._truncate_wal()
        self._connection.close()

    def _gather(self) -> list[SqliteRequest]:
        """The waiting requests, at least one; empty when the store closes."""
        first = self._wait()
        if first is None:
            return []
        batch = [*first]
        while len(batch) < MAX_BATCH and not self._queue.empty():
            items = self._queue.get_nowait()
            if items is None:
                self._queue.put(None)
                break
            batch += items
        return batch

    def _wait(self) -> tuple[SqliteRequest, ...] | None:
        while self._truncate_at < NEVER:
            try:
                return self._queue.get(timeout=CHECKPOINT_RETRY_SECONDS)
            except Empty:
                self._truncate_wal()
        return self._queue.get()

    def _run_batch(self, batch: list[SqliteRequest]) -> list[WriterAnswer]:
        answers: list[WriterAnswer] = []
        for share in _groups(batch):
            last_error = answers[-1][2] if answers else None
            if isinstance(last_error, StoreError) and is_locked(last_error):
                # One wait is enough: the others would each wait as long and fail, too.
                refused = [share] if isinstance(share, OwnTransaction) else share
                answers += [(item.reply, None, last_error) for item in refused]
            elif isinstance(share, OwnTransaction):
                answers.append(self._run_alone(share))
            else:
                answers += self._run_together(share)
        self.write_error = next(
            (str(error) for _, _, error in answers if _unwritten(error)), self.write_error
        )
        return answers

    def _run_alone(self, item: OwnTransaction) -> WriterAnswer:
        try:
            return _answer(item.reply, item.work)
        except sqlite3.Error as error:
            return item.reply, None, translate(error)

    def _run_together(self, items: list[BatchRequest]) -> list[WriterAnswer]:
        try:
            self._begin()
        except sqlite3.Error as error:
            return [(item.reply, None, translate(error)) for item in items]
        try:
            return self._write(items)
        except Exception as error:
            self._roll_back()
            if len(items) == 1:
                return [(items[0].reply, None, _translated(error))]
        return [answer for item in items for answer in self._run_together([item])]

    def _write(self, items: list[BatchRequest]) -> list[WriterAnswer]:
        batch = SqliteBatch(self._connection, self._states, generation=self.generation, at=self._clock())
        try:
            answers = [_answer(item.reply, batch.decide, item) for item in items]
            batch.write()
            self._commit()
        except BaseException:
            batch.drop_from_cache()
            raise
        batch.commit_to_cache()
        self._unsettled = batch.last_fresh_row or self._unsettled
        return answers

    # --- transactions ---------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self.check_data_version()
        except BaseException:
            self._roll_back()
            raise

    def _commit(self) -> None:
        crash_point("before-commit")
        self._connection.execute("COMMIT")
        self.commits += 1
        self.write_error = ""
        crash_point("after-commit")

    def _roll_back(self) -> None:
        # After some errors, such as a full disk, SQLite has rolled back already.
        if self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _ask_data_version(self) -> int:
        return self._connection.execute("PRAGMA data_version").fetchone()[0]

    def _move_fresh_events(self) -> None:
        """Move events from `fresh` to `events`. If that fails they stay there, and are read there."""
        self._unsettled = 0
        try:
            self._begin()
            self._connection.execute(
                """
                INSERT OR ROLLBACK INTO events (debate_id, seq, at, epoch, body)
                SELECT debate_id, seq, at, epoch, body FROM fresh ORDER BY debate_id, seq
                """
            )
            self._connection.execute("DELETE FROM fresh")
            crash_point("settling")
            self._connection.execute("COMMIT")
            self.commits += 1
        except sqlite3.Error:
            self._roll_back()

    def _truncate_wal(self) -> None:
        """Empty the write-ahead log, which still holds deleted text. Other readers may prevent it."""
        self._truncate_at = time.monotonic() + CHECKPOINT_RETRY_SECONDS
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute(f"PRAGMA busy_timeout = {int(CHECKPOINT_WAIT_SECONDS * 1000)}")
            busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            self._truncate_at = self._truncate_at if busy else NEVER
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute(f"PRAGMA busy_timeout = {int(LOCK_WAIT_SECONDS * 1000)}")


def _answer(reply: Reply, work: Callable[..., object], *args: object) -> WriterAnswer:
    """A request's own errors are its answer; those of SQLite are raised: the transaction may be over."""
    try:
        return reply, work(*args), None
    except sqlite3.Error:
        raise
    except Exception as error:
        return reply, None, error


def _deliver(answers: list[WriterAnswer], listeners: list[Listener]) -> None:
    """From the writer's thread: each event loop is woken once, however many answers it gets."""
    by_loop: dict[AbstractEventLoop, list[WriterAnswer]] = {}
    for answer in answers:
        by_loop.setdefault(answer[0].get_loop(), []).append(answer)
    for loop, its_answers in by_loop.items():
        # The loop was closed: nothing waits for the answers any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver_answers, its_answers, listeners)


def _delete(connection: sqlite3.Connection, debate_id: str) -> None:
    if queries.position(connection, debate_id) is None:
        raise UnknownDebate
    # Bodies and requests go with the row in `debates`.
    connection.execute("DELETE FROM fresh WHERE debate_id = ?", (debate_id,))
    connection.execute("DELETE FROM events WHERE debate_id = ?", (debate_id,))
    connection.execute("DELETE FROM debates WHERE id = ?", (debate_id,))


def _groups(batch: list[SqliteRequest]) -> Iterator[list[BatchRequest] | OwnTransaction]:
    """Consecutive requests that may share a transaction, and each of the others by itself."""
    group: list[BatchRequest] = []
    for item in batch:
        if not isinstance(item, OwnTransaction):
            group.append(item)
            continue
        if group:
            yield group
            group = []
        yield item
    if group:
        yield group


def _unwritten(error: Exception | None) -> bool:
    """Whether the file refused it, and not the decision."""
    return isinstance(error, StoreError) and isinstance(error.__cause__, sqlite3.Error)


def _translated(error: Exception) -> Exception:
    return translate(error) if isinstance(error, sqlite3.Error) else error
