"""The log in PostgreSQL: for processes on several machines that hold one arena together.

Writes go through one task (`postgres_writer`), which appends what has gathered in one statement. Reads go
through a small pool. States are remembered, and caught up where a debate has moved on elsewhere.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio import Future
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from moot.core.errors import StoreError, UnknownDebate
from moot.core.events import Narrated, Recorded
from moot.core.state import Debate
from moot.store.append import MOST_FOUND, SUMMARIES, Clock, Replay, now
from moot.store.contract import (
    ALL,
    Astir,
    Deciding,
    Head,
    Invitation,
    Listener,
    Once,
    Outcome,
    Page,
    Pulse,
    Token,
    Wanted,
)
from moot.store.postgres import access_queries, queries
from moot.store.postgres.archive_queries import PostgresArchive
from moot.store.postgres.connect import Database, Params, translated
from moot.store.postgres.migrations import migrate
from moot.store.postgres.writer import Delete, Item, Writer
from moot.store.requests import Claim, Narrate, Record
from moot.store.state_cache import Known, States

STATES = 1024


class PostgresStore:
    @classmethod
    async def open(
        cls,
        url: str,
        *,
        clock: Clock = now,
        states: int = STATES,
        pool: int = 10,
        statement_seconds: float = 10.0,
    ) -> PostgresStore:
        """Makes or migrates the tables first. Raises StoreError, NewerSchema, or Invalid for the address."""
        database = await Database.open(url, pool=pool, statement_seconds=statement_seconds)
        try:
            with translated():
                await migrate(database.dial)
        except BaseException:
            await database.close()
            raise
        return cls(database, clock, states)

    def __init__(self, database: Database, clock: Clock, states: int) -> None:
        self._database = database
        self._clock = clock
        self._closed = False
        self._states = States(states)
        self._writer = Writer(database, self._states, clock)
        self.archive = PostgresArchive(database)

    def listen(self, listener: Listener) -> None:
        self._writer.listeners.append(listener)

    async def record(
        self,
        debate_id: str,
        decide: Deciding,
        *,
        epoch: int | None = None,
        owner: str = "",
        once: Once | None = None,
        bodies: Mapping[str, bytes] | None = None,
    ) -> Outcome:
        await self._warm(debate_id)
        outcome = await self._write(Record(_reply(), debate_id, decide, epoch, owner, once, bodies))
        return await self._replay(outcome) if isinstance(outcome, Replay) else outcome

    async def narrate(self, debate_id: str, events: Sequence[Narrated], *, epoch: int) -> Outcome:
        await self._warm(debate_id)
        return await self._write(Narrate(_reply(), debate_id, events, epoch))

    async def claim(self, debate_id: str, runner: str, *, seen_epoch: int, epoch: int | None = None) -> int:
        await self._warm(debate_id)
        return await self._write(Claim(_reply(), debate_id, runner, seen_epoch, epoch))

    async def delete(self, debate_id: str) -> None:
        await self._write(Delete(_reply(), debate_id))

    async def read(self, debate_id: str, after: int = 0, limit: int = 1000) -> tuple[Recorded, ...]:
        return await queries.events(self._ask, debate_id, after, max(limit, 0))

    async def state(self, debate_id: str, upto: int | None = None) -> Debate:
        stands = await queries.stands(self._ask, [debate_id])
        if not stands:
            raise UnknownDebate
        stand, known = stands[0], self._states.get(debate_id)
        if upto is not None and upto < stand.version:
            near = known and known.checked == stand.place and known.debate.seq <= upto
            return await queries.folded(self._ask, debate_id, upto, known.debate if known and near else None)
        found = await queries.caught_up(self._ask, stand, known)
        if found is None:
            raise UnknownDebate
        self._offer(found)
        return found.debate

    async def state_with(self, debate_id: str, seq: int) -> Debate:
        known = self._states.get(debate_id)
        return known.debate if known and known.debate.seq >= seq else await self.state(debate_id)

    async def head(self, debate_id: str) -> Head:
        return await queries.head(self._ask, debate_id)

    async def list(self, wanted: Wanted = ALL, *, limit: int = 20, offset: int = 0) -> Page:
        return await queries.heads(self._ask, wanted, limit, offset)

    async def find(self, mark: str, *, owner: str | None = None) -> tuple[str, ...]:
        return await queries.find(self._ask, mark, owner, MOST_FOUND)

    async def summaries(self, *, owner: str | None = None) -> AsyncGenerator[bytes, None]:
        before = sys.maxsize
        while found := await queries.summaries(self._ask, owner, before, SUMMARIES):
            page, before = found
            yield page

    async def held(self) -> tuple[Astir, ...]:
        return await queries.held(self._ask)

    async def under_way(self, since: datetime | None = None) -> tuple[Astir, ...]:
        return await queries.under_way(self._ask, since)

    async def body(self, debate_id: str, digest: str) -> bytes | None:
        return await queries.body(self._ask, debate_id, digest)

    async def pulses(self, debate_ids: Sequence[str]) -> dict[str, Pulse]:
        return await queries.pulses(self._ask, debate_ids) if debate_ids else {}

    async def stale(self, before: datetime, limit: int = 100) -> tuple[str, ...]:
        return await queries.stale(self._ask, before, limit)

    async def size(self) -> int:
        return await queries.size(self._ask)

    async def tokens(self) -> tuple[Token, ...]:
        return await access_queries.tokens(self._ask)

    async def keep_token(self, token: Token) -> None:
        await access_queries.keep_token(self._ask, token)

    async def drop_token(self, name: str) -> bool:
        return await access_queries.drop_token(self._ask, name)

    async def invite(self, invitation: Invitation) -> None:
        self._insist_open()
        async with self._database.connection() as connection, connection.transaction():
            await access_queries.invite(connection, invitation, self._clock())

    async def invitations(self, debate_id: str) -> tuple[Invitation, ...]:
        return await access_queries.invitations(self._ask, debate_id, self._clock())

    async def invitation(self, digest: str) -> Invitation | None:
        return await access_queries.invitation(self._ask, digest, self._clock())

    async def invited(self, digests: Collection[str]) -> tuple[Invitation, ...]:
        return await access_queries.among(self._ask, digests, self._clock())

    async def uninvite(self, debate_id: str, name: str) -> bool:
        return await access_queries.uninvite(self._ask, debate_id, name)

    async def changed_elsewhere(self) -> bool:
        """Never told here: processes on other machines tell each other, and the pulses tell the rest."""
        return False

    @property
    def trouble(self) -> str:
        return self._writer.trouble

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._writer.close()
            await self._database.close()

    # --- asking ---------------------------------------------------------------------------------------

    async def _ask(self, question: str, params: Params) -> list[tuple[Any, ...]]:
        self._insist_open()
        return await self._database.ask(question, params)

    def _insist_open(self) -> None:
        if self._closed:
            raise StoreError("The store is closed.")

    async def _write(self, item: Item) -> Any:
        self._writer.send(item)
        return await item.reply

    async def _warm(self, debate_id: str) -> None:
        """Have a cold debate folded here, so that the writer, for whom others wait, need not."""
        if debate_id in self._states:
            return
        for stand in await queries.stands(self._ask, [debate_id]):
            found = await queries.caught_up(self._ask, stand, None)
            if found:
                self._offer(found)

    def _offer(self, found: Known) -> None:
        """The writer may know better by now."""
        known = self._states.get(found.debate.id)
        if known is None or known.checked != found.checked or known.debate.seq <= found.debate.seq:
            self._states.put(found.debate.id, found)

    async def _replay(self, replay: Replay) -> Outcome:
        debate = await self.state(replay.debate_id, replay.last)
        records = await self.read(replay.debate_id, replay.first - 1, replay.last - replay.first + 1)
        return Outcome(debate, records, replayed=True)


def _reply() -> Future[Any]:
    return asyncio.get_running_loop().create_future()
