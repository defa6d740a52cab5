"""Debates under way, by the client that opened them: nobody takes the whole machine.

What counts is asked of the log each time, so that a place is free as soon as a debate is over, stopped or
deleted. Who opened what is known to this process alone and forgotten with it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

from moot.errors import UnknownDebate
from moot.store.contract import Head
from moot.terms import Status
from moot.wire.problems import Problem

OVER: tuple[Status, ...] = ("completed", "aborted", "error")


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
            taken = self._taken.setdefault(client, set())
            yield Place(Problem("too-many-debates") if full else None, taken.add)
        finally:
            self._coming[client] -= 1
            if not self._coming[client]:
                del self._coming[client]

    async def _under_way(self, client: str) -> int:
        for debate_id in tuple(self._taken.get(client, ())):
            if await self._is_over(debate_id):
                self._taken[client].discard(debate_id)
        if not self._taken.get(client, True):
            del self._taken[client]
        return len(self._taken.get(client, ()))

    async def _is_over(self, debate_id: str) -> bool:
        try:
            return (await self._head(debate_id)).status in OVER
        except UnknownDebate:
            return True
