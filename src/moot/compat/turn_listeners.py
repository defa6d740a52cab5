"""Who listens to a turn that somebody asked for, and an end for turns that nobody listens to any more.

A client that cancels just closes its stream. One that has lost its line comes back within seconds and finds
the turn where it is; so a turn is cut only when nobody has listened for a while. It may come back to another
server on the same store: so each says which sessions are listened to there, by a lock to those on the same
machine, and in the commons to all.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from uuid import uuid4

from moot.core.errors import Refused, StoreError, UnknownDebate
from moot.engine.arena import Arena
from moot.engine.presence import Presence
from moot.rules.commands import Pause
from moot.store.runner_locks import RunnerLock, is_held

NOBODY_LISTENS = "nobody listens"


class TurnListeners:
    def __init__(self, arena: Arena, presence: Presence, seconds: float) -> None:
        self._arena = arena
        self._presence = presence
        self._seconds = seconds
        self._listening: Counter[str] = Counter()
        self._locks: dict[str, RunnerLock] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._cuts: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def listening(self, session: str, left: Callable[[], bool]) -> AsyncGenerator[None]:
        """`left`: whether the listener went by itself. One to whom all was told is not waited for."""
        self._listening[session] += 1
        self._forget(session)
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
        """Somebody should be listening from now on."""
        if self._listening[session]:
            return
        self._forget(session)
        loop = asyncio.get_running_loop()
        self._timers[session] = loop.call_later(self._seconds, self._time_is_up, session)

    def _take_lock(self, session: str) -> None:
        if self._arena.lock_folder is None or session in self._locks:
            return
        # A disk that has no room for it is no reason to tell a client nothing.
        with suppress(OSError):
            self._locks[session] = RunnerLock.hold(self._arena.lock_folder, f"{session}.{uuid4().hex}")

    def _release_lock(self, session: str) -> None:
        if lock := self._locks.pop(session, None):
            lock.release()

    async def _is_heard(self, session: str) -> bool:
        if self._listening[session] or await self._arena.shared_state.members(_presence_key(session)):
            return True
        return self._arena.lock_folder is not None and is_held(self._arena.lock_folder, f"{session}.")

    def _forget(self, session: str) -> None:
        if timer := self._timers.pop(session, None):
            timer.cancel()

    def _time_is_up(self, session: str) -> None:
        self._timers.pop(session, None)
        task = asyncio.create_task(self._cut(session), name=f"cut of {session}")
        self._cuts.add(task)
        task.add_done_callback(self._cuts.discard)

    async def _cut(self, session: str) -> None:
        # It may be over or deleted, and what cannot be written now cannot be cut now.
        with suppress(Refused, UnknownDebate, StoreError):
            debate = await self._arena.state(session)
            if (debate.live or debate.running) and not await self._is_heard(session):
                await self._arena.ask(session, Pause(now=True, by=NOBODY_LISTENS))


def _presence_key(session: str) -> str:
    return f"hearing {session}"
