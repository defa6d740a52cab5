"""Debates under way, by the client that opened them: nobody takes the whole machine.

What counts is asked of the log each time, so that a place is free as soon as a debate is over, stopped or
deleted. Who opened what is known to this process alone and forgotten with it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

from msgspec import Struct

from moot.errors import UnknownDebate
from moot.store.contract import ENDED, Head
from moot.wire.problems import Problem


class Place(Struct, frozen=True):
    objection: Problem | None
    """Why there is none."""
    take: Callable[[str], None]
    """To be called with the id of the debate that was opened."""


class Slots:
    def __init__(self, most: int | None, head: Callable[[str], Awaitable[Head]]) -> None:
        self._most = most
        self._head = head
        self._taken: dict[str, set[str]] = {}
        self._coming: dict[str, int] = {}

    @asynccontextmanager
    async def taking(self, client: str) -> AsyncGenerator[Place]:
        if self._most is None:
            yield Place(None, lambda _id: None)
            return
        # Reserved before anything is awaited: two requests cannot take the same last place.
        self._coming[client] = self._coming.get(client, 0) + 1
        try:
            full = await self._under_way(client) + self._coming[client] > self._most
            yield Place(Problem("too-many-debates") if full else None, partial(self._take, client))
        finally:
            self._coming[client] -= 1
            if not self._coming[client]:
                del self._coming[client]

    def _take(self, client: str, debate_id: str) -> None:
        self._taken.setdefault(client, set()).add(debate_id)

    async def _under_way(self, client: str) -> int:
        for debate_id in tuple(self._taken.get(client, ())):
            if await self._is_over(debate_id):
                self._free(client, debate_id)
        return len(self._taken.get(client, ()))

    def _free(self, client: str, debate_id: str) -> None:
        taken = self._taken.get(client, set())
        taken.discard(debate_id)
        if not taken:
            self._taken.pop(client, None)

    async def _is_over(self, debate_id: str) -> bool:
        try:
            return (await self._head(debate_id)).status in ENDED
        except UnknownDebate:
            return True
