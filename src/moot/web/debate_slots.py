"""The limit of debates that one client may have under way at the same time.

The status of each debate is read from the log each time, so that a slot is free as soon as a debate is over,
stopped or deleted. Which client opened which debate is kept in the ephemeral store only.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from uuid import uuid4

from msgspec import Struct

from moot.api.problems import Problem
from moot.core.ephemeral_store import EphemeralStore
from moot.core.errors import UnknownDebate
from moot.core.statuses import ENDED
from moot.core.terms import SESSION_FORMAT
from moot.engine.arena import Arena
from moot.rules.runner_decisions import wants_runner

PENDING = "coming "
PENDING_SECONDS = 60.0
SLOT_SECONDS = 7 * 24 * 3600.0
"""How long a slot is remembered after the last request of its client."""


class SlotClaim(Struct, frozen=True):
    objection: Problem | None
    """Why there is no free slot; None if there is one."""
    take: Callable[[str], Awaitable[object]]
    """Call it with the id of the debate that was opened."""


class DebateSlots:
    """Limits the debates of each client; a session of the turns API counts as a debate."""

    def __init__(self, most: int | None, ephemeral: EphemeralStore, arena: Arena) -> None:
        self._limit = most
        self._ephemeral = ephemeral
        self._arena = arena

    @asynccontextmanager
    async def claim(self, client: str) -> AsyncGenerator[SlotClaim]:
        if self._limit is None:
            yield SlotClaim(None, _no_claim)
            return
        counter, coming = f"debates of {client}", f"{PENDING}{uuid4().hex}"
        await self._release_ended(counter)
        try:
            # Counted and reserved in one step: two requests cannot take the same last slot.
            free = await self._ephemeral.join(counter, coming, limit=self._limit, seconds=PENDING_SECONDS)
            take = partial(self._ephemeral.join, counter, seconds=SLOT_SECONDS, replacing=coming)
            yield SlotClaim(None if free else Problem("too-many-debates"), take)
        finally:
            await self._ephemeral.leave(counter, coming)

    async def _release_ended(self, counter: str) -> None:
        """Free the slots of debates that are over, and renew the others."""
        names = await self._ephemeral.members(counter)
        debates = [name for name in names if not name.startswith(PENDING)]
        staying = [debate_id for debate_id in debates if not await self._is_over(debate_id)]
        for debate_id in set(debates).difference(staying):
            await self._ephemeral.leave(counter, debate_id)
        await self._ephemeral.renew([(counter, debate_id) for debate_id in staying], seconds=SLOT_SECONDS)

    async def _is_over(self, debate_id: str) -> bool:
        try:
            head = await self._arena.head(debate_id)
            # A session counts only while a turn is under way: there may never be another.
            between = head.format == SESSION_FORMAT and not wants_runner(await self._arena.state(debate_id))
        except UnknownDebate:
            return True
        return between or head.status in ENDED


async def _no_claim(_debate_id: str) -> None: ...
