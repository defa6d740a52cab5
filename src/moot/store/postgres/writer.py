"""The one task that writes: it decides all waiting requests and appends them in one statement.

While one append is under way the next batch gathers. Where many calls speak, appends are spaced out
(`append_pacer.py`); otherwise there is no timer. What a runner writes is decided on the cached state, which
is nearly always the head; for a command of people, which may come to any process, the head is read first.
Where another process was faster, or the cached state led to a refusal, all requests for that debate are
decided again on the head. No request is answered or published before it is durable.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import Any

from msgspec import Struct

from moot.core.crash_points import crash_point
from moot.core.errors import StoreError, UnknownDebate
from moot.core.state import Debate
from moot.store.batch import (
    Batch,
    BatchRequest,
    CachedState,
    DebateAppend,
    Decided,
    Deleted,
    KeyedRequest,
    RecordEvents,
    RepeatedRequest,
    WriterAnswer,
    append_events,
    deliver_answers,
)
from moot.store.contract import AppendStreamed, Clock, IdempotencyKey, Listener, RecordResult
from moot.store.postgres import queries
from moot.store.postgres.append_pacer import AppendPacer
from moot.store.postgres.append_statement import values
from moot.store.postgres.connect import Connection, Database, is_connection_lost
from moot.store.postgres.writer_connection import WriterConnection, is_conflict
from moot.store.sql_store import StateCache

MAX_BATCH = 1024
"""Requests in one append."""
MAX_ATTEMPTS = 20
"""How often other processes may be faster."""
CLOSE_SECONDS = 1.0


ResultOrError = tuple[object, Exception | None]


class DeleteDebate(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str


PostgresRequest = BatchRequest | DeleteDebate


class BatchEntry(Struct, frozen=True):
    """What was decided on a request, and the part of the batch that has to be written for it to hold."""

    item: BatchRequest
    part: DebateAppend
    result: Decided | None
    error: Exception | None = None

    @property
    def settled(self) -> bool:
        """It holds without a write. On a cached state the decision might be another one by now, except where
        a runner finds nothing to do: it looks at the head before it leaves the debate."""
        return not self.part.has_changes and (self.part.fresh or self._is_idle_runner)

    @property
    def _is_idle_runner(self) -> bool:
        return self.error is None and isinstance(self.item, RecordEvents) and self.item.epoch is not None


class PostgresBatch(Batch):
    """All that it needs was read beforehand."""

    def __init__(
        self,
        known: Mapping[str, CachedState | None],
        requests: Mapping[tuple[str, str], RepeatedRequest],
        at: datetime,
    ) -> None:
        super().__init__(at)
        self._known = known
        self._requests = requests

    def load(self, debate_id: str) -> CachedState | None:
        return self._known.get(debate_id)

    def find_request(self, once: IdempotencyKey) -> RepeatedRequest | None:
        return self._requests.get((once.client, once.key))


class PostgresWriter:
    def __init__(self, database: Database, states: StateCache, clock: Clock) -> None:
        self._connection = WriterConnection(database)
        self._states = states
        self._clock = clock
        self._queue: deque[PostgresRequest] = deque()
        self._waiting = asyncio.Event()
        self._pacer = AppendPacer()
        self._closing = False
        self.listeners: list[Listener] = []
        self._task = asyncio.create_task(self._run(), name="moot-store")

    @property
    def write_error(self) -> str:
        return self._connection.write_error

    def send(self, *items: PostgresRequest) -> None:
        if self._closing:
            raise StoreError("The store is closed.")
        self._queue.extend(items)
        self._waiting.set()

    async def close(self) -> None:
        """Accept no more requests. Those in the queue are still carried out, unless the database is away."""
        self._closing = True
        self._waiting.set()
        _, late = await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        if late:
            self._task.cancel()
            await asyncio.wait([self._task])

    # --- the task -------------------------------------------------------------------------------------

    async def _run(self) -> None:
        batch: list[PostgresRequest] = []
        try:
            while batch := await self._gather():
                for is_delete, group in groupby(batch, key=lambda item: isinstance(item, DeleteDebate)):
                    if is_delete:
                        await self._delete_all([item for item in group if isinstance(item, DeleteDebate)])
                    else:
                        await self._run_batch([item for item in group if not isinstance(item, DeleteDebate)])
                await self._prune()
        finally:
            # If the task was cancelled, waiting requests would never be answered.
            self._fail([*batch, *self._queue], StoreError("The store was closed."))
            await self._connection.close()

    async def _gather(self) -> list[PostgresRequest]:
        """The waiting requests, at least one; empty when the store closes."""
        while not self._queue and not self._closing:
            self._waiting.clear()
            await self._waiting.wait()
        while not self._closing and (pause := self._pacer.pause(len(self._queue))):
            self._waiting.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._waiting.wait()
        return [self._queue.popleft() for _ in range(min(len(self._queue), MAX_BATCH))]

    async def _run_batch(self, items: Sequence[BatchRequest]) -> None:
        self._connection.short_patience = all(
            isinstance(item, RecordEvents) and item.epoch is None for item in items
        )
        with self._pacer.measure(sum(isinstance(item, AppendStreamed) for item in items)):
            failed, error = await self._run_together(items)
        if error is None or (isinstance(error, StoreError) and is_connection_lost(error)):
            self._fail(failed, error)
            return
        # One of the requests, or one debate, is at fault: the others are tried without it.
        for group in _by_debate(failed):
            self._fail(*await self._run_together(group))

    async def _run_together(
        self, items: Sequence[BatchRequest]
    ) -> tuple[Sequence[BatchRequest], Exception | None]:
        """The requests that were not carried out, and why."""
        looked_up = {
            item.debate_id for item in items if isinstance(item, RecordEvents) and item.epoch is None
        }
        try:
            for _ in range(MAX_ATTEMPTS):
                entries, batch = await self._decide(items, looked_up)
                settled, again = await self._write(entries, batch)
                self._deliver(settled)
                if not again:
                    return (), None
                items, looked_up = again, {item.debate_id for item in again}
        except Exception as error:
            # Trust nothing that led to it.
            for item in items:
                self._states.drop(item.debate_id)
            return items, error
        return items, StoreError("Others change this debate faster than it can be followed.")

    def _deliver(self, answers: Sequence[WriterAnswer]) -> None:
        if answers:
            # In a callback of the loop, so that an error of a listener does not stop the writer.
            asyncio.get_running_loop().call_soon(deliver_answers, answers, tuple(self.listeners))

    def _fail(self, items: Iterable[PostgresRequest], error: Exception | None) -> None:
        self._deliver([(item.reply, None, error) for item in items])

    # --- deciding -------------------------------------------------------------------------------------

    async def _decide(
        self, items: Sequence[BatchRequest], looked_up: set[str]
    ) -> tuple[list[BatchEntry], Batch]:
        cached = {item.debate_id: self._states.get(item.debate_id) for item in items}
        uncertain = {debate_id for debate_id, known in cached.items() if known is None} | looked_up
        known = await self._load_states(uncertain)
        at = self._clock()
        onces = [item.once for item in items if isinstance(item, RecordEvents) and item.once]
        requests = await queries.requests(self._connection.query, onces, at) if onces else {}
        batch = PostgresBatch(known, requests, at)
        for debate_id, state in cached.items():
            batch.add_debate(debate_id, known.get(debate_id, state), fresh=debate_id in known)
        return [_entry(batch, item) for item in items], batch

    async def _load_states(self, debate_ids: set[str]) -> dict[str, CachedState | None]:
        if not debate_ids:
            return {}
        positions = {
            position.id: position
            for position in await queries.read_positions(self._connection.query, list(debate_ids))
        }
        known: dict[str, CachedState | None] = dict.fromkeys(debate_ids)
        for debate_id, position in positions.items():
            known[debate_id] = await queries.catch_up(
                self._connection.query, position, self._states.get(debate_id)
            )
        return known

    # --- writing --------------------------------------------------------------------------------------

    async def _write(
        self, entries: Sequence[BatchEntry], batch: Batch
    ) -> tuple[list[WriterAnswer], list[BatchRequest]]:
        """The answers, and the requests that have to be decided again."""
        parts = [part for part in batch.parts.values() if part.has_changes]
        stood = await self._append(parts, batch.at) if parts else {}
        results = await self._update_states(entries, stood, batch)
        answers: list[WriterAnswer] = []
        again: list[BatchRequest] = []
        for entry in entries:
            if entry.part.id in stood or entry.settled:
                result, error = results.get(id(entry), (entry.result, entry.error))
                answers.append((entry.item.reply, _final_result(result, stood), error))
            else:
                again.append(entry.item)
        return answers, again

    async def _append(self, parts: Sequence[DebateAppend], at: datetime) -> dict[str, int]:
        """The position before the append of each debate that was written."""
        crash_point("before-commit")
        try:
            bases, places = await self._connection.append(values(parts, at=at))
        except StoreError as error:
            if is_conflict(error):
                return {}
            raise
        crash_point("after-commit")
        stood: dict[str, int] = {}
        for part, base, place in zip(parts, bases, places, strict=True):
            if base is not None and place is not None:
                stood[part.id], part.place = base, place
        return stood

    async def _update_states(
        self, entries: Sequence[BatchEntry], stood: dict[str, int], batch: Batch
    ) -> dict[int, ResultOrError]:
        """Cache the states, and compute results again where words of another process came in between."""
        results: dict[int, ResultOrError] = {}
        for debate_id, base in stood.items():
            part = batch.parts[debate_id]
            if base != part.stood:
                results |= await self._refold(part, base, [entry for entry in entries if entry.part is part])
            if part.debate:
                self._states.put(debate_id, CachedState(part.debate, part.epoch, part.place))
        return results

    async def _refold(
        self, part: DebateAppend, base: int, entries: Sequence[BatchEntry]
    ) -> dict[int, ResultOrError]:
        """The append is durable, so an error here must not lead to another attempt."""
        known, part.debate = self._states.get(part.id), None
        self._states.drop(part.id)
        before = known.debate if known and known.debate.seq <= base and known.checked == part.place else None
        results: dict[int, ResultOrError] = {}
        try:
            debate = await queries.fold_state(self._connection.query, part.id, base, before)
            for entry in entries:
                if isinstance(entry.result, RecordResult):
                    outcome = _reappend(debate, entry.result)
                    results[id(entry)], debate = (outcome, None), outcome.debate
        except Exception as error:
            return {id(entry): (None, error) for entry in entries}
        part.debate = debate
        return results

    # --- deleting -------------------------------------------------------------------------------------

    async def _delete_all(self, items: Sequence[DeleteDebate]) -> None:
        for item in items:
            self._states.drop(item.debate_id)
            try:
                if not await queries.read_positions(self._connection.query, [item.debate_id]):
                    raise UnknownDebate
                await self._connection.run(lambda connection, id=item.debate_id: _delete(connection, id))
            except Exception as error:
                self._fail([item], error)
            else:
                self._deliver([(item.reply, Deleted(item.debate_id), None)])

    async def _prune(self) -> None:
        # An error here must not end the task.
        with suppress(Exception):
            await self._connection.prune(self._clock())


def _entry(batch: Batch, item: BatchRequest) -> BatchEntry:
    part = batch.parts[item.debate_id]
    try:
        result = batch.decide(item)
    except Exception as error:
        return BatchEntry(item, part, None, error)
    # A repeated request depends on the first one, even if that concerned another debate.
    return BatchEntry(item, result.part if isinstance(result, KeyedRequest) else part, result)


def _reappend(debate: Debate, outcome: RecordResult) -> RecordResult:
    if not outcome.records:
        return RecordResult(debate, ())
    first = outcome.records[0]
    events = [recorded.event for recorded in outcome.records]
    return append_events(debate, debate.id, events, epoch=first.epoch, at=first.at)


def _final_result(result: object, stood: dict[str, int]) -> object:
    return result.at(stood[result.part.id]) if isinstance(result, KeyedRequest) else result


def _by_debate(items: Iterable[BatchRequest]) -> list[list[BatchRequest]]:
    groups: dict[str, list[BatchRequest]] = {}
    for item in items:
        groups.setdefault(item.debate_id, []).append(item)
    return list(groups.values())


async def _delete(connection: Connection, debate_id: str) -> None:
    """The head first: a process that is about to append holds it, and its events must be deleted, too."""
    async with connection.transaction():
        await connection.execute("DELETE FROM heads WHERE debate_id = %s", [debate_id])
        await connection.execute("DELETE FROM events WHERE debate_id = %s", [debate_id])
        # Bodies, requests, casts, marks and invitations go with it.
        await connection.execute("DELETE FROM debates WHERE id = %s", [debate_id])
