"""The log in one SQLite file: nothing to install, durable at every answer, shared by several processes.

Writes go to one thread (`sqlite_writer`), which decides and commits them in groups. Reads go to a few
threads with a connection each, page by page, and keep no transaction open. States are folded outside the
write transaction, on a reader.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from asyncio import Future
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

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
from moot.store.requests import Claim, Narrate, Record
from moot.store.sqlite import invitation_queries, queries, token_queries
from moot.store.sqlite.archive_queries import SqliteArchive
from moot.store.sqlite.connect import connect, prepare, translated
from moot.store.sqlite.writer import Writer
from moot.store.sqlite.writer_requests import Alone
from moot.store.state_cache import States

READERS = 3
STATES = 1024

P = ParamSpec("P")
T = TypeVar("T")


class SqliteStore:
    @classmethod
    def open(cls, path: str | Path, *, clock: Clock = now, states: int = STATES) -> SqliteStore:
        """Opens the file, making or migrating it first. Raises StoreError or NewerSchema."""
        path = Path(path)
        prepare(path)
        with translated():
            return cls(path, clock, states)

    def __init__(self, path: Path, clock: Clock, states: int) -> None:
        self._path = path
        self._clock = clock
        self._closed = False
        self._states = States(states)
        self._connections: list[sqlite3.Connection] = []
        self._watch = self._connect(reader=True)
        self._watched = self._data_version()
        self._here = threading.local()
        self._readers = ThreadPoolExecutor(READERS, "moot-store-reader")
        self._writer = Writer(self._connect(), self._states, clock)
        self.archive = SqliteArchive(
            ask=self._ask,
            change=lambda work: self._alone(lambda: self._writer.change(work)),
            scrub=lambda work: self._alone(lambda: self._writer.scrub(work)),
        )

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
        reply = _reply()
        self._writer.send(Record(reply, debate_id, decide, epoch, owner, once, bodies))
        outcome = await reply
        return await self._replay(outcome) if isinstance(outcome, Replay) else outcome

    async def narrate(self, debate_id: str, events: Sequence[Narrated], *, epoch: int) -> Outcome:
        if debate_id not in self._states:
            await self._warm(debate_id)
        reply = _reply()
        self._writer.send(Narrate(reply, debate_id, events, epoch))
        return await reply

    async def claim(self, debate_id: str, runner: str, *, seen_epoch: int, epoch: int | None = None) -> int:
        await self._warm(debate_id)
        reply = _reply()
        self._writer.send(Claim(reply, debate_id, runner, seen_epoch, epoch))
        return await reply

    async def delete(self, debate_id: str) -> None:
        await self._alone(lambda: self._writer.delete(debate_id))

    async def read(self, debate_id: str, after: int = 0, limit: int = 1000) -> tuple[Recorded, ...]:
        return await self._ask(queries.events, debate_id, after, max(limit, 0))

    async def state(self, debate_id: str, upto: int | None = None) -> Debate:
        return await self._ask(self._fold, debate_id, upto)

    async def state_with(self, debate_id: str, seq: int) -> Debate:
        return await self.state(debate_id)

    async def head(self, debate_id: str) -> Head:
        return await self._ask(queries.head, debate_id)

    async def list(self, wanted: Wanted = ALL, *, limit: int = 20, offset: int = 0) -> Page:
        return await self._ask(queries.heads, wanted, limit, offset)

    async def find(self, mark: str, *, owner: str | None = None) -> tuple[str, ...]:
        return await self._ask(queries.find, mark, owner, MOST_FOUND)

    async def summaries(self, *, owner: str | None = None) -> AsyncGenerator[bytes, None]:
        before = sys.maxsize
        while found := await self._ask(queries.summaries, owner, before, SUMMARIES):
            page, before = found
            yield page

    async def held(self) -> tuple[Astir, ...]:
        return await self._ask(queries.held)

    async def under_way(self, since: datetime | None = None) -> tuple[Astir, ...]:
        return await self._ask(queries.under_way, since)

    async def body(self, debate_id: str, digest: str) -> bytes | None:
        return await self._ask(queries.body, debate_id, digest)

    async def pulses(self, debate_ids: Sequence[str]) -> dict[str, Pulse]:
        return await self._ask(queries.pulses, debate_ids)

    async def stale(self, before: datetime, limit: int = 100) -> tuple[str, ...]:
        return await self._ask(queries.stale, before, limit)

    async def size(self) -> int:
        return await self._ask(queries.size)

    async def tokens(self) -> tuple[Token, ...]:
        return await self._ask(token_queries.every)

    async def keep_token(self, token: Token) -> None:
        await self._alone(lambda: self._writer.change(token_queries.keep, token))

    async def drop_token(self, name: str) -> bool:
        return await self._alone(lambda: self._writer.change(token_queries.drop, name))

    async def invite(self, invitation: Invitation) -> None:
        await self._alone(lambda: self._writer.change(invitation_queries.invite, invitation, self._clock()))

    async def invitations(self, debate_id: str) -> tuple[Invitation, ...]:
        return await self._ask(invitation_queries.every, debate_id, self._clock())

    async def invitation(self, digest: str) -> Invitation | None:
        return await self._ask(invitation_queries.find, digest, self._clock())

    async def invited(self, digests: Collection[str]) -> tuple[Invitation, ...]:
        return await self._ask(invitation_queries.among, digests, self._clock())

    async def uninvite(self, debate_id: str, name: str) -> bool:
        return await self._alone(lambda: self._writer.change(invitation_queries.uninvite, debate_id, name))

    async def changed_elsewhere(self) -> bool:
        """A look at a counter (4 µs) while nobody writes; after commits of our own the writer is asked."""
        with translated():
            version = self._data_version()
        if version == self._watched:
            return False
        self._watched = version
        return await self._alone(self._writer.changed_elsewhere)

    @property
    def trouble(self) -> str:
        return self._writer.trouble

    async def close(self) -> None:
        self._closed = True
        self._writer.stop()
        await asyncio.to_thread(self._join)

    # --- asking the threads ---------------------------------------------------------------------------

    async def _alone(self, work: Callable[[], T]) -> T:
        reply: Future[T] = _reply()
        self._writer.send(Alone(reply, work))
        return await reply

    async def _ask(
        self, question: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        def answer() -> T:
            with translated():
                return question(self._reader(), *args, **kwargs)

        if self._closed:
            raise StoreError("The store is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._readers, answer)

    async def _warm(self, debate_id: str) -> None:
        """Have a cold debate folded by a reader, so that the writer need not."""
        if debate_id not in self._states:
            await self._ask(self._fold_if_known, debate_id)

    async def _replay(self, replay: Replay) -> Outcome:
        debate = await self.state(replay.debate_id, replay.last)
        records = await self.read(replay.debate_id, replay.first - 1, replay.last - replay.first + 1)
        return Outcome(debate, records, replayed=True)

    # --- in the reader threads ------------------------------------------------------------------------

    def _fold(self, connection: sqlite3.Connection, debate_id: str, upto: int | None) -> Debate:
        pulse = queries.pulse(connection, debate_id)
        if pulse is None:
            raise UnknownDebate
        goal = pulse.version if upto is None else min(upto, pulse.version)
        known = self._states.get(debate_id)
        base = known.debate if known and known.debate.seq <= goal else None
        debate = queries.folded(connection, debate_id, goal, base)
        if goal == pulse.version:
            self._states.offer(debate)
        return debate

    def _fold_if_known(self, connection: sqlite3.Connection, debate_id: str) -> None:
        if queries.pulse(connection, debate_id):
            self._fold(connection, debate_id, None)

    def _reader(self) -> sqlite3.Connection:
        """This thread's own connection."""
        if not hasattr(self._here, "connection"):
            self._here.connection = self._connect(reader=True)
        return self._here.connection

    # --- connections ----------------------------------------------------------------------------------

    def _connect(self, *, reader: bool = False) -> sqlite3.Connection:
        connection = connect(self._path, reader=reader)
        self._connections.append(connection)
        return connection

    def _data_version(self) -> int:
        return self._watch.execute("PRAGMA data_version").fetchone()[0]

    def _join(self) -> None:
        self._writer.join()
        self._readers.shutdown()
        for connection in self._connections:
            connection.close()


def _reply() -> Future[Any]:
    return asyncio.get_running_loop().create_future()
