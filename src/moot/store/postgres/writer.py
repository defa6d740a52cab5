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
from moot.store.append import Clock, Replay, append
from moot.store.contract import Listener, Once, Outcome
from moot.store.notify import Answer, Deleted, announce
from moot.store.postgres import queries
from moot.store.postgres.append_statement import values
from moot.store.postgres.batch import Asked, Draft, Entry, Part
from moot.store.postgres.connect import Connection, Database, is_lost
from moot.store.postgres.writer_connection import Line, is_conflict
from moot.store.requests import Narrate, Record, Shared
from moot.store.state_cache import Known, States

MOST = 512
"""Items in one append."""
TRIES = 20
"""How often others may be faster. Each time one of them gets on."""
CLOSE_SECONDS = 1.0


Told = tuple[object, Exception | None]


class Delete(Struct, frozen=True):
    reply: Future[Any]
    debate_id: str


Item = Shared | Delete


class Writer:
    def __init__(self, database: Database, states: States, clock: Clock) -> None:
        self._line = Line(database)
        self._states = states
        self._clock = clock
        self._queue: deque[Item] = deque()
        self._waiting = asyncio.Event()
        self._closing = False
        self.listeners: list[Listener] = []
        self._task = asyncio.create_task(self._run(), name="moot-store")

    @property
    def trouble(self) -> str:
        return self._line.trouble

    def send(self, item: Item) -> None:
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
        batch: list[Item] = []
        try:
            while batch := await self._gather():
                for alone, share in groupby(batch, key=lambda item: isinstance(item, Delete)):
                    if alone:
                        await self._delete_all([item for item in share if isinstance(item, Delete)])
                    else:
                        await self._carry_out([item for item in share if not isinstance(item, Delete)])
                await self._tidy()
        finally:
            # Where it was cut off, whoever waits for an answer would wait for ever.
            self._fail([*batch, *self._queue], StoreError("The store was closed."))
            await self._line.close()

    async def _gather(self) -> list[Item]:
        """What is waiting, at least one item; empty when the store closes."""
        while not self._queue and not self._closing:
            self._waiting.clear()
            await self._waiting.wait()
        return [self._queue.popleft() for _ in range(min(len(self._queue), MOST))]

    async def _carry_out(self, items: Sequence[Shared]) -> None:
        self._line.in_haste = all(isinstance(item, Record) and item.epoch is None for item in items)
        undone, error = await self._together(items)
        if error is None or (isinstance(error, StoreError) and is_lost(error)):
            self._fail(undone, error)
            return
        # One of them, or one debate, is at fault: the others shall not suffer for it.
        for share in _by_debate(undone):
            self._fail(*await self._together(share))

    async def _together(self, items: Sequence[Shared]) -> tuple[Sequence[Shared], Exception | None]:
        """What is left undone, and why."""
        looked_up = {item.debate_id for item in items if not isinstance(item, Narrate)}
        try:
            for _ in range(TRIES):
                entries, draft = await self._decide(items, looked_up)
                settled, again = await self._write(entries, draft)
                self._tell(settled)
                if not again:
                    return (), None
                items, looked_up = again, {item.debate_id for item in again}
        except Exception as error:
            # Trust nothing that led to it.
            for item in items:
                self._states.drop(item.debate_id)
            return items, error
        return items, StoreError("Others change this debate faster than it can be followed.")

    def _tell(self, answers: Sequence[Answer]) -> None:
        if answers:
            # By way of the loop: a listener's fault is not the writer's.
            asyncio.get_running_loop().call_soon(announce, answers, tuple(self.listeners))

    def _fail(self, items: Iterable[Item], error: Exception | None) -> None:
        self._tell([(item.reply, None, error) for item in items])

    # --- deciding -------------------------------------------------------------------------------------

    async def _decide(self, items: Sequence[Shared], looked_up: set[str]) -> tuple[list[Entry], Draft]:
        remembered = {item.debate_id: self._states.get(item.debate_id) for item in items}
        unsure = {debate_id for debate_id, known in remembered.items() if known is None} | looked_up
        known = await self._look(unsure)
        at = self._clock()
        onces = [item.once for item in items if isinstance(item, Record) and item.once]
        draft = Draft(known, await self._requests(onces, at), at=at)
        for debate_id, found in remembered.items():
            if debate_id not in known:
                draft.remember(debate_id, found)
        return [draft.decide(item) for item in items], draft

    async def _look(self, debate_ids: set[str]) -> dict[str, Known | None]:
        if not debate_ids:
            return {}
        found = {place.id: place for place in await queries.stands(self._line.ask, list(debate_ids))}
        known: dict[str, Known | None] = dict.fromkeys(debate_ids)
        for debate_id, stand in found.items():
            known[debate_id] = await queries.caught_up(self._line.ask, stand, self._states.get(debate_id))
        return known

    async def _requests(self, onces: Sequence[Once], at: datetime) -> dict[tuple[str, str], Replay]:
        return await queries.requests(self._line.ask, onces, at) if onces else {}

    # --- writing --------------------------------------------------------------------------------------

    async def _write(self, entries: Sequence[Entry], draft: Draft) -> tuple[list[Answer], list[Shared]]:
        """The answers to what is settled, and what has to be decided again."""
        parts = [part for part in draft.parts.values() if part.moved]
        stood = await self._land(parts, draft) if parts else {}
        told = await self._folded(entries, stood, draft)
        answers: list[Answer] = []
        again: list[Shared] = []
        for entry in entries:
            if entry.part.id in stood or entry.settled:
                result, error = told.get(id(entry), (entry.result, entry.error))
                answers.append((entry.item.reply, _final(result, stood), error))
            else:
                again.append(entry.item)
        return answers, again

    async def _land(self, parts: Sequence[Part], draft: Draft) -> dict[str, int]:
        """Where each debate stood that has been written to."""
        crash_points.point("before-commit")
        try:
            bases, places = await self._line.append(values(parts, at=draft.at))
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

    async def _folded(self, entries: Sequence[Entry], stood: dict[str, int], draft: Draft) -> dict[int, Told]:
        """Outcomes anew, where words of another process came in between; and the states, remembered."""
        told: dict[int, Told] = {}
        for debate_id, base in stood.items():
            part = draft.parts[debate_id]
            if base != part.stood:
                told |= await self._refolded(part, base, [entry for entry in entries if entry.part is part])
            if part.debate:
                self._states.put(debate_id, Known(part.debate, part.epoch, part.place))
        return told

    async def _refolded(self, part: Part, base: int, entries: Sequence[Entry]) -> dict[int, Told]:
        """It has been written, so whatever goes wrong now must not lead to another attempt."""
        known, part.debate = self._states.get(part.id), None
        self._states.drop(part.id)
        before = known.debate if known and known.debate.seq <= base and known.checked == part.place else None
        told: dict[int, Told] = {}
        try:
            debate = await queries.folded(self._line.ask, part.id, base, before)
            for entry in entries:
                if isinstance(entry.result, Outcome):
                    outcome = _again(debate, entry.result)
                    told[id(entry)], debate = (outcome, None), outcome.debate
        except Exception as error:
            return {id(entry): (None, error) for entry in entries}
        part.debate = debate
        return told

    # --- beside the log -------------------------------------------------------------------------------

    async def _delete_all(self, items: Sequence[Delete]) -> None:
        for item in items:
            self._states.drop(item.debate_id)
            try:
                if not await queries.stands(self._line.ask, [item.debate_id]):
                    raise UnknownDebate
                await self._line.through(lambda connection, id=item.debate_id: _delete(connection, id))
            except Exception as error:
                self._fail([item], error)
            else:
                self._tell([(item.reply, Deleted(item.debate_id), None)])

    async def _tidy(self) -> None:
        # Nothing depends on it, and everybody on this task.
        with suppress(Exception):
            await self._line.prune(self._clock())


def _again(debate: Debate, outcome: Outcome) -> Outcome:
    if not outcome.records:
        return Outcome(debate, ())
    first = outcome.records[0]
    events = [recorded.event for recorded in outcome.records]
    return append(debate, debate.id, events, epoch=first.epoch, at=first.at)


def _final(result: object, stood: dict[str, int]) -> object:
    if not isinstance(result, Asked):
        return result
    base = stood[result.part.id]
    return Replay(result.once.body_hash, result.part.id, base + result.first, base + result.last)


def _by_debate(items: Iterable[Shared]) -> list[list[Shared]]:
    shares: dict[str, list[Shared]] = {}
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
