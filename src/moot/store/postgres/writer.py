"""The one task that writes: it takes what has gathered, decides it, and appends it in one statement.

There is no timer. While one append is under way the next batch gathers. Words are decided on the state at
hand; a command looks first where its debate stands, so that nobody is refused on account of what was. Where
another process was faster, whatever concerned that debate is decided again. Nothing is answered or told
before it is durable.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import Any

from msgspec import Struct

from moot.core import crash_points
from moot.core.errors import StoreError, UnknownDebate
from moot.core.state import Debate
from moot.store.append import CachedState, Clock, StateCache, append_events
from moot.store.batch import (
    AppendStreamed,
    Batch,
    BatchRequest,
    DebateAppend,
    Decided,
    Deleted,
    KeyedRequest,
    RecordEvents,
    WriterAnswer,
    deliver_answers,
)
from moot.store.contract import Listener, RecordResult
from moot.store.postgres import queries
from moot.store.postgres.append_statement import values
from moot.store.postgres.connect import Connection, Database, is_connection_lost
from moot.store.postgres.writer_connection import WriterConnection, is_conflict

MAX_BATCH = 512
"""Items in one append."""
MAX_ATTEMPTS = 20
"""How often others may be faster. Each time one of them gets on."""
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
        """It holds without a write: on a cached state the decision might be another one by now."""
        return not self.part.has_changes and self.part.fresh


class PostgresWriter:
    def __init__(self, database: Database, states: StateCache, clock: Clock) -> None:
        self._connection = WriterConnection(database)
        self._states = states
        self._clock = clock
        self._queue: deque[PostgresRequest] = deque()
        self._waiting = asyncio.Event()
        self._closing = False
        self.listeners: list[Listener] = []
        self._task = asyncio.create_task(self._run(), name="moot-store")

    @property
    def write_error(self) -> str:
        return self._connection.write_error

    def send(self, item: PostgresRequest) -> None:
        if self._closing:
            raise StoreError("The store is closed.")
        self._queue.append(item)
        self._waiting.set()

    async def close(self) -> None:
        """Takes nothing more. What is queued is still carried out, unless the database is away: who leaves
        does not wait for that."""
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
                for alone, share in groupby(batch, key=lambda item: isinstance(item, DeleteDebate)):
                    if alone:
                        await self._delete_all([item for item in share if isinstance(item, DeleteDebate)])
                    else:
                        await self._run_batch([item for item in share if not isinstance(item, DeleteDebate)])
                await self._prune()
        finally:
            # Where it was cut off, whoever waits for an answer would wait for ever.
            self._fail([*batch, *self._queue], StoreError("The store was closed."))
            await self._connection.close()

    async def _gather(self) -> list[PostgresRequest]:
        """What is waiting, at least one item; empty when the store closes."""
        while not self._queue and not self._closing:
            self._waiting.clear()
            await self._waiting.wait()
        return [self._queue.popleft() for _ in range(min(len(self._queue), MAX_BATCH))]

    async def _run_batch(self, items: Sequence[BatchRequest]) -> None:
        self._connection.short_patience = all(
            isinstance(item, RecordEvents) and item.epoch is None for item in items
        )
        undone, error = await self._run_together(items)
        if error is None or (isinstance(error, StoreError) and is_connection_lost(error)):
            self._fail(undone, error)
            return
        # One of them, or one debate, is at fault: the others shall not suffer for it.
        for share in _by_debate(undone):
            self._fail(*await self._run_together(share))

    async def _run_together(
        self, items: Sequence[BatchRequest]
    ) -> tuple[Sequence[BatchRequest], Exception | None]:
        """What is left undone, and why."""
        looked_up = {item.debate_id for item in items if not isinstance(item, AppendStreamed)}
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
            # By way of the loop: a listener's fault is not the writer's.
            asyncio.get_running_loop().call_soon(deliver_answers, answers, tuple(self.listeners))

    def _fail(self, items: Iterable[PostgresRequest], error: Exception | None) -> None:
        self._deliver([(item.reply, None, error) for item in items])

    # --- deciding -------------------------------------------------------------------------------------

    async def _decide(
        self, items: Sequence[BatchRequest], looked_up: set[str]
    ) -> tuple[list[BatchEntry], Batch]:
        remembered = {item.debate_id: self._states.get(item.debate_id) for item in items}
        unsure = {debate_id for debate_id, known in remembered.items() if known is None} | looked_up
        known = await self._load_states(unsure)
        at = self._clock()
        onces = [item.once for item in items if isinstance(item, RecordEvents) and item.once]
        requests = await queries.requests(self._connection.query, onces, at) if onces else {}
        batch = Batch(known.get, lambda once: requests.get((once.client, once.key)), at=at)
        for debate_id, state in remembered.items():
            batch.add_debate(debate_id, known.get(debate_id, state), fresh=debate_id in known)
        return [_entry(batch, item) for item in items], batch

    async def _load_states(self, debate_ids: set[str]) -> dict[str, CachedState | None]:
        if not debate_ids:
            return {}
        found = {
            place.id: place
            for place in await queries.read_positions(self._connection.query, list(debate_ids))
        }
        known: dict[str, CachedState | None] = dict.fromkeys(debate_ids)
        for debate_id, stand in found.items():
            known[debate_id] = await queries.catch_up(
                self._connection.query, stand, self._states.get(debate_id)
            )
        return known

    # --- writing --------------------------------------------------------------------------------------

    async def _write(
        self, entries: Sequence[BatchEntry], batch: Batch
    ) -> tuple[list[WriterAnswer], list[BatchRequest]]:
        """The answers to what is settled, and what has to be decided again."""
        parts = [part for part in batch.parts.values() if part.has_changes]
        stood = await self._append(parts, batch.at) if parts else {}
        told = await self._update_states(entries, stood, batch)
        answers: list[WriterAnswer] = []
        again: list[BatchRequest] = []
        for entry in entries:
            if entry.part.id in stood or entry.settled:
                result, error = told.get(id(entry), (entry.result, entry.error))
                answers.append((entry.item.reply, _final_result(result, stood), error))
            else:
                again.append(entry.item)
        return answers, again

    async def _append(self, parts: Sequence[DebateAppend], at: datetime) -> dict[str, int]:
        """Where each debate stood that has been written to."""
        crash_points.point("before-commit")
        try:
            bases, places = await self._connection.append(values(parts, at=at))
        except StoreError as error:
            if is_conflict(error):
                return {}
            raise
        crash_points.point("after-commit")
        stood: dict[str, int] = {}
        for part, base, place in zip(parts, bases, places, strict=True):
            if base is not None and place is not None:
                stood[part.id], part.place = base, place
        return stood

    async def _update_states(
        self, entries: Sequence[BatchEntry], stood: dict[str, int], batch: Batch
    ) -> dict[int, ResultOrError]:
        """Outcomes anew, where words of another process came in between; and the states, remembered."""
        told: dict[int, ResultOrError] = {}
        for debate_id, base in stood.items():
            part = batch.parts[debate_id]
            if base != part.stood:
                told |= await self._refold(part, base, [entry for entry in entries if entry.part is part])
            if part.debate:
                self._states.put(debate_id, CachedState(part.debate, part.epoch, part.place))
        return told

    async def _refold(
        self, part: DebateAppend, base: int, entries: Sequence[BatchEntry]
    ) -> dict[int, ResultOrError]:
        """It has been written, so whatever goes wrong now must not lead to another attempt."""
        known, part.debate = self._states.get(part.id), None
        self._states.drop(part.id)
        before = known.debate if known and known.debate.seq <= base and known.checked == part.place else None
        told: dict[int, ResultOrError] = {}
        try:
            debate = await queries.fold_state(self._connection.query, part.id, base, before)
            for entry in entries:
                if isinstance(entry.result, RecordResult):
                    outcome = _reappend(debate, entry.result)
                    told[id(entry)], debate = (outcome, None), outcome.debate
        except Exception as error:
            return {id(entry): (None, error) for entry in entries}
        part.debate = debate
        return told

    # --- beside the log -------------------------------------------------------------------------------

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
        # Nothing depends on it, and everybody on this task.
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
    shares: dict[str, list[BatchRequest]] = {}
    for item in items:
        shares.setdefault(item.debate_id, []).append(item)
    return list(shares.values())


async def _delete(connection: Connection, debate_id: str) -> None:
    """Its head first: whoever is about to append holds it. What they wrote is then there to be deleted."""
    async with connection.transaction():
        await connection.execute("DELETE FROM heads WHERE debate_id = %s", [debate_id])
        await connection.execute("DELETE FROM events WHERE debate_id = %s", [debate_id])
        # Bodies, requests, casts, marks and invitations go with it.
        await connection.execute("DELETE FROM debates WHERE id = %s", [debate_id])
