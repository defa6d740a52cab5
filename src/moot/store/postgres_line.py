"""The writer's own line to the database: dialled again when it breaks, and patient for some seconds.

An append whose answer was lost may have landed, may never have arrived, or may be landing at this moment. It
carries a number, written with it, so the very same statement is sent again: where the first one landed, or
lands while the second waits for it, the number is taken, and what stands beside it is the lost answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, TypeVar

import psycopg
from psycopg import errors

from moot.errors import StoreError
from moot.store.postgres_append import Values, statement
from moot.store.postgres_connect import Connection, Database, Params, fetch, is_lost, translated

T = TypeVar("T")

PATIENCE = 12.0
"""Seconds for which a write is tried again."""
IN_TROUBLE = 2.0
"""The same after one that came to nothing, so that those who queue do not each wait as long."""
PAUSES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
KEPT = "15 minutes"
"""How long it is remembered what an append did: far longer than a statement can be under way."""
PRUNE = 60.0
CANCEL_SECONDS = 1.0

Landed = tuple[list[int | None], list[int | None]]
"""Where each debate stood, and its place; None where it has been left out."""


class Line:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._writer = uuid.uuid4()
        self._batch = 0
        self._pruned = time.monotonic()
        self.trouble = ""
        """Why the last one failed, until one succeeds."""

    async def ask(self, question: str, params: Params = None) -> list[tuple[Any, ...]]:
        return await self.through(lambda connection: fetch(connection, question, params))

    async def append(self, values: Values) -> Landed:
        self._batch += 1
        numbered = {**values, "writer": self._writer, "batch": self._batch}
        return await self.through(lambda connection: _append(connection, numbered))

    async def prune(self) -> None:
        """Now and then. Any process does it for all."""
        if time.monotonic() - self._pruned < PRUNE:
            return
        self._pruned = time.monotonic()
        await self.ask(f"DELETE FROM landed WHERE at < now() - interval '{KEPT}'")  # noqa: S608 - our own words

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            await connection.close()

    async def through(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Only for work that may be begun anew on another line."""
        deadline = time.monotonic() + (IN_TROUBLE if self.trouble else PATIENCE)
        attempt = 0
        while True:
            try:
                done = await self._attempt(work, deadline)
            except StoreError as error:
                pause = PAUSES[min(attempt, len(PAUSES) - 1)]
                if not is_lost(error) or time.monotonic() + pause >= deadline:
                    self.trouble = "" if is_conflict(error) else str(error)
                    raise
                attempt += 1
                await asyncio.sleep(pause)
            else:
                self.trouble = ""
                return done

    async def _attempt(self, work: Callable[[Connection], Awaitable[T]], deadline: float) -> T:
        if self._connection is None:
            self._connection = await self._database.dial()
        seconds = min(self._database.statement_seconds, max(deadline - time.monotonic(), 1.0))
        try:
            with translated():
                async with _limit(self._connection, seconds):
                    return await work(self._connection)
        except StoreError as error:
            if is_lost(error):
                await self.close()
            raise


@contextlib.asynccontextmanager
async def _limit(connection: Connection, seconds: float) -> AsyncGenerator[None]:
    clock = asyncio.create_task(_give_up(connection, seconds), name="moot-store limit")
    try:
        yield
    finally:
        clock.cancel()


async def _give_up(connection: Connection, seconds: float) -> None:
    """Asks the server to let it be, so that it does not land when nobody expects it any more; then hangs up,
    since a server that is frozen hears nothing."""
    await asyncio.sleep(seconds)
    with contextlib.suppress(psycopg.Error):
        await connection.cancel_safe(timeout=CANCEL_SECONDS)
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


async def _append(connection: Connection, values: Values) -> Landed:
    try:
        rows = await fetch(connection, statement(values), values)
    except errors.UniqueViolation as error:
        if error.diag.constraint_name != "landed_pkey":
            raise
        rows = await fetch(
            connection,
            "SELECT bases, places FROM landed WHERE writer = %(writer)s AND batch = %(batch)s",
            {"writer": values["writer"], "batch": values["batch"]},
        )
    return rows[0][0], rows[0][1]


def is_conflict(error: StoreError) -> bool:
    """Another process was faster: to look again and decide again is all it takes."""
    return isinstance(
        error.__cause__, errors.UniqueViolation | errors.DeadlockDetected | errors.SerializationFailure
    )
