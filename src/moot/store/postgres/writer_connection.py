"""The writer's own connection to the database: opened again when it breaks, for some seconds.

An append whose answer was lost may have been committed, may never have arrived, or may still be running. It
carries a number that is written with it, and the same statement is sent again. If the first one is committed,
before or while the second waits for it, the number is taken, and the lost answer is stored beside it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import datetime
from itertools import count
from typing import Any, TypeVar

import psycopg
from psycopg import errors

from moot.core.errors import StoreError
from moot.store.postgres.append_statement import Values, statement
from moot.store.postgres.connect import (
    IN_TROUBLE,
    Connection,
    Database,
    Params,
    fetch,
    is_connection_lost,
    retry_lost,
    time_limit,
    translated,
)

T = TypeVar("T")

PATIENCE = 12.0
"""Seconds for which a write is repeated."""
IN_HASTE = 5.0
"""The same where only people wait for it, who can repeat it. A runner cannot."""
KEPT = "15 minutes"
"""How long the result of an append is kept: far longer than a statement can run."""
PRUNE = 60.0
"""Seconds between two deletions of what has expired."""

AppendPositions = tuple[list[int | None], list[int | None]]
"""The position of each debate before the append, and its row number; None where it was left out."""


class WriterConnection:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._writer = uuid.uuid4()
        self._batch = 0
        self._pruned = time.monotonic()
        self.short_patience = False
        self.write_error = ""
        """Why the last write failed, until one succeeds."""

    async def query(self, question: str, params: Params = None) -> list[tuple[Any, ...]]:
        return await self.run(lambda connection: fetch(connection, question, params))

    async def append(self, values: Values) -> AppendPositions:
        self._batch += 1
        numbered = {**values, "writer_id": self._writer, "batch_number": self._batch}
        sent = count()
        return await self.run(lambda connection: _append(connection, numbered, again=next(sent) > 0))

    async def prune(self, at: datetime) -> None:
        """Now and then delete what has expired. Any process does it for all."""
        if time.monotonic() - self._pruned < PRUNE:
            return
        self._pruned = time.monotonic()
        await self.query(f"DELETE FROM landed WHERE at < now() - interval '{KEPT}'")  # noqa: S608 - our own words
        await self.query("DELETE FROM requests WHERE expires <= %s", [at])

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            await connection.close()

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Only for work that may be repeated on another connection."""
        patience = IN_TROUBLE if self.write_error else IN_HASTE if self.short_patience else PATIENCE
        try:
            done = await retry_lost(lambda left: self._attempt(work, left), patience)
        except StoreError as error:
            self.write_error = "" if is_conflict(error) else str(error)
            raise
        self.write_error = ""
        return done

    async def _attempt(self, work: Callable[[Connection], Awaitable[T]], left: float) -> T:
        if self._connection is None:
            self._connection = await self._database.open_connection()
        try:
            with translated():
                async with time_limit(self._connection, min(self._database.statement_seconds, left)):
                    return await work(self._connection)
        except StoreError as error:
            if is_connection_lost(error):
                await self.close()
            raise


async def _append(connection: Connection, values: Values, *, again: bool) -> AppendPositions:
    try:
        rows = await fetch(connection, statement(values), values)
    except errors.UniqueViolation as error:
        # The number is written first: a violation of another constraint means that nothing was committed.
        if error.diag.constraint_name != "landed_pkey":
            raise
        rows = await fetch(
            connection,
            "SELECT bases, places FROM landed WHERE writer = %s AND batch = %s",
            [values["writer_id"], values["batch_number"]],
        )
    except psycopg.Error as error:
        if again:
            # It says nothing of the first attempt, which may be committed: nothing may be decided again.
            raise psycopg.OperationalError from error
        raise
    return rows[0][0], rows[0][1]


def is_conflict(error: StoreError) -> bool:
    """Another process was faster: the batch has to be decided again."""
    return isinstance(
        error.__cause__, errors.UniqueViolation | errors.DeadlockDetected | errors.SerializationFailure
    )
