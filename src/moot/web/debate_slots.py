"""Debates under way, by the client that opened them: nobody takes the whole machine.

What counts is asked of the log each time, so that a place is free as soon as a debate is over, stopped or
deleted. Who opened what is known to the commons, and forgotten with them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from uuid import uuid4

from msgspec import Struct

from moot.api.problems import Problem
from moot.core.errors import UnknownDebate
from moot.core.shared_state import Commons
from moot.engine.arena import Arena
from moot.engine.placement import wants_runner
from moot.rules import turn_sessions
from moot.store.contract import ENDED

COMING = "coming "
COMING_SECONDS = 60.0
LASTING_SECONDS = 7 * 24 * 3600.0
"""So long a place is remembered of a client that asks for no other."""


class Place(Struct, frozen=True):
    objection: Problem | None
    """Why there is none."""
    take: Callable[[str], Awaitable[object]]
    """To be called with the id of the debate that was opened."""


class Slots:
    """At most so many for each client; a session of the API of turns counts like any debate."""

    def __init__(self, most: int | None, commons: Commons, arena: Arena) -> None:
        self._most = most
        self._commons = commons
        self._arena = arena

    @asynccontextmanager
    async def taking(self, client: str) -> AsyncGenerator[Place]:
        if self._most is None:
            yield Place(None, _nothing)
            return
        room, coming = f"debates of {client}", f"{COMING}{uuid4().hex}"
        await self._free(room)
        try:
            # Reserved in one step with the counting: two requests cannot take the same last place.
            free = await self._commons.enter(room, coming, most=self._most, seconds=COMING_SECONDS)
            take = partial(self._commons.enter, room, seconds=LASTING_SECONDS, instead=coming)
            yield Place(None if free else Problem("too-many-debates"), take)
        finally:
            await self._commons.leave(room, coming)

    async def _free(self, room: str) -> None:
        """The places of those that are over; for the others the time begins anew."""
        names = await self._commons.inside(room)
        debates = [name for name in names if not name.startswith(COMING)]
        staying = [debate_id for debate_id in debates if not await self._is_over(debate_id)]
        for debate_id in set(debates).difference(staying):
            await self._commons.leave(room, debate_id)
        await self._commons.stay([(room, debate_id) for debate_id in staying], seconds=LASTING_SECONDS)

    async def _is_over(self, debate_id: str) -> bool:
        try:
            head = await self._arena.head(debate_id)
            # A session is under way while somebody speaks in it; whether it goes on, its client alone knows.
            between = head.format == turn_sessions.NAME and not wants_runner(
                await self._arena.state(debate_id)
            )
        except UnknownDebate:
            return True
        return between or head.status in ENDED


async def _nothing(_debate_id: str) -> None: ...
