"""The sessions of `/api/debate/stream`: which one a client means, and who listens to its turns.

A session is found by its id or by a response: keys in the store find it at once. A client that has neither,
as for the second turn, means the session that it opened on this topic and that waits for this turn. What was
said is never compared: clients shorten it, and two sessions may say the same.

A client that cancels only closes its stream, and one that lost its connection is back within seconds. So a
turn is cut only when nobody has listened for a while. The client may come back to another server on the same
store: so each server announces the sessions that it streams, by a lock file on the same machine and in the
ephemeral store to all.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from moot.core.errors import Refused, StoreError, UnknownDebate
from moot.core.state import Debate
from moot.core.terms import SESSION_FORMAT
from moot.engine.arena import Arena
from moot.engine.ephemeral_store import Presence
from moot.extensions.turn_sessions.frames import AskedTurn
from moot.extensions.turn_sessions.turns import latest_turn
from moot.rules.commands import PauseDebate
from moot.rules.turn_sessions import is_empty, next_slot, response_key, row_key
from moot.store.contract import DebateFilter
from moot.store.runner_locks import RunnerLock, is_held

SAME_TURN = timedelta(seconds=15)
"""How long after its end a first turn counts as the same: a client that missed the end is back within seven
seconds."""
RECENT_SESSIONS = 20
OPENING_SECONDS = 3600.0
"""Longer than a first turn takes."""


class SessionFinder:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def by_id(self, name: str, owner: str | None) -> Debate:
        """By our id, or by the id that it had before it was imported. Raises UnknownDebate."""
        if ids := await self._arena.store.find_sessions(row_key(name), owner=owner):
            name = ids[0]
        debate = await self._arena.state(name)
        if debate.format.name != SESSION_FORMAT:
            raise UnknownDebate
        return debate

    async def by_response(self, turn_request: AskedTurn, owner: str | None) -> Debate | None:
        """The session of the response that this turn continues; None where it was given elsewhere."""
        if turn_request.previous_response_id is None:
            return None
        key = response_key(turn_request.previous_response_id)
        for debate_id in await self._arena.store.find_sessions(key, owner=owner):
            return await self._arena.state(debate_id)
        return None

    async def by_request(
        self, request_key: str, turn_request: AskedTurn, owner: str | None, client: str
    ) -> Debate | None:
        """The session that is meant by a request for a later turn that names none: the one to which the same
        request belonged before, unless the client opened another one since that waits for this turn."""
        asked = await self.recently_asked(request_key, turn_request)
        waiting = await self._waiting_for(turn_request, owner, client)
        turn = latest_turn(asked, turn_request.slot) if asked else None
        return asked if turn and (waiting is None or waiting.created_at < turn.started_at) else waiting

    async def _waiting_for(self, turn_request: AskedTurn, owner: str | None, client: str) -> Debate | None:
        """The newest session on this topic in which this turn is the next: one that this client opened, or
        else one of which nobody knows any more who did."""
        recent = DebateFilter(owner=owner, format=SESSION_FORMAT, search=turn_request.topic)
        found: Debate | None = None
        for head in (await self._arena.store.list(recent, limit=RECENT_SESSIONS)).heads:
            debate = await self._arena.state(head.id)
            if not _waits_for(debate, turn_request):
                continue
            opener = await self._arena.ephemeral.get(_opener_key(debate.id))
            if opener == client.encode():
                return debate
            found = found or (debate if opener is None else None)
        return found

    async def remember(self, request_key: str, debate_id: str) -> None:
        """`request_key` identifies the client and its request for a turn."""
        await self._arena.ephemeral.put(f"opened for {request_key}", debate_id.encode(), OPENING_SECONDS)

    async def remember_opener(self, debate_id: str, client: str) -> None:
        await self._arena.ephemeral.put(_opener_key(debate_id), client.encode(), OPENING_SECONDS)

    async def recently_asked(self, request_key: str, turn_request: AskedTurn) -> Debate | None:
        """The session to which the same request of the same client belonged; for a first turn, a moment ago,
        since it may also begin another debate."""
        if (data := await self._arena.ephemeral.get(f"opened for {request_key}")) is None:
            return None
        try:
            debate = await self._arena.state(data.decode())
        except UnknownDebate:
            return None
        turn = latest_turn(debate, turn_request.slot)
        if turn_request.slot > 0:
            return debate
        ended = turn.ended_at if turn else None
        moved_on = debate.final or any(
            other.slot > turn_request.slot for other in (*debate.turns, *debate.live)
        )
        return None if moved_on or (ended and datetime.now(UTC) - ended > SAME_TURN) else debate


def _waits_for(debate: Debate, turn_request: AskedTurn) -> bool:
    """Whether this turn of this model is the next one of the session."""
    if debate.motion != turn_request.topic or debate.final or next_slot(debate) != turn_request.slot:
        return False
    seat = debate.seat(debate.schedule[turn_request.slot].seat)
    return is_empty(seat) or turn_request.names(seat.model)


def _opener_key(debate_id: str) -> str:
    return f"opener of {debate_id}"


NOBODY_LISTENS = "nobody listens"


class TurnListeners:
    def __init__(self, arena: Arena, presence: Presence, seconds: float) -> None:
        self._arena = arena
        self._presence = presence
        self._seconds = seconds
        self._listening: Counter[str] = Counter()
        self._locks: dict[str, RunnerLock] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._interrupting: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def listening(self, session: str, left: Callable[[], bool]) -> AsyncGenerator[None]:
        """`left` says whether the listener left early: then it is waited for."""
        self._listening[session] += 1
        self._stop_timer(session)
        self._take_lock(session)
        try:
            async with self._presence.join(_presence_key(session)):
                yield
        finally:
            self._listening[session] -= 1
            if not self._listening[session]:
                del self._listening[session]
                self._release_lock(session)
                if left():
                    self.expect_listener(session)

    def expect_listener(self, session: str) -> None:
        """Interrupt the turn if nobody listens within the grace period."""
        if self._listening[session]:
            return
        self._stop_timer(session)
        loop = asyncio.get_running_loop()
        self._timers[session] = loop.call_later(self._seconds, self._on_timeout, session)

    def _take_lock(self, session: str) -> None:
        if self._arena.lock_folder is None or session in self._locks:
            return
        # A full disk must not end the stream.
        with suppress(OSError):
            self._locks[session] = RunnerLock.hold(self._arena.lock_folder, f"{session}.{uuid4().hex}")

    def _release_lock(self, session: str) -> None:
        if lock := self._locks.pop(session, None):
            lock.release()

    async def _has_listener(self, session: str) -> bool:
        if self._listening[session] or await self._arena.ephemeral.members(_presence_key(session)):
            return True
        return self._arena.lock_folder is not None and is_held(self._arena.lock_folder, f"{session}.")

    def _stop_timer(self, session: str) -> None:
        if timer := self._timers.pop(session, None):
            timer.cancel()

    def _on_timeout(self, session: str) -> None:
        self._timers.pop(session, None)
        task = asyncio.create_task(self._interrupt(session), name=f"interrupt {session}")
        self._interrupting.add(task)
        task.add_done_callback(self._interrupting.discard)

    async def _interrupt(self, session: str) -> None:
        # The session may be over or deleted, or the store out of reach.
        with suppress(Refused, UnknownDebate, StoreError):
            debate = await self._arena.state(session)
            if (debate.live or debate.running) and not await self._has_listener(session):
                await self._arena.ask(session, PauseDebate(now=True, by=NOBODY_LISTENS))


def _presence_key(session: str) -> str:
    return f"hearing {session}"
