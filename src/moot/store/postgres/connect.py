"""The ways to PostgreSQL: a few lines for those who ask, one of its own for the writer, and our words for
whatever goes wrong on them.

    database = await Database.open("postgresql://…", pool=10, statement_seconds=10.0)
    # Asked again for some seconds where the line breaks.
    rows = await database.ask("SELECT id FROM debates WHERE owner = %s", [owner])
    # Autocommit; for several statements in one transaction: `async with connection.transaction()`.
    async with database.connection() as connection:
        rows = await fetch(connection, "…", params)

Everything raises StoreError and nothing else of psycopg. No session state is kept, nothing is prepared and
nothing is listened to, so a pgbouncer may stand in between. A NUL, which PostgreSQL has no place for, is
written and looked for as U+FFFD.

Lines are dialled by whoever needs one, not behind the scenes as psycopg's pool does: that one tries ever more
seldom while the server is away, so that readers wait long after it is back, and tells the address each time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import AsyncConnection, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.string import StrDumperUnknown
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from moot.core.errors import Invalid, StoreError
from moot.store.sql import Row, Statement, Steps, Values, postgres_text

T = TypeVar("T")
Connection = AsyncConnection[tuple[Any, ...]]
Params = Sequence[object] | Mapping[str, object] | None

CONNECT_SECONDS = 5
"""How long a connection may take to come about."""
CANCEL_SECONDS = 1.0
PATIENCE = 6.0
"""Seconds for which a question is asked again: a server that is started anew is waited for."""
IN_TROUBLE = 2.0
"""The same after one that came to nothing, so that those who queue do not each wait as long."""
PAUSES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
ROWS_AT_ONCE = 100
"""Rows that one insert writes."""
LOST_ERRORS = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, TimeoutError, OSError)
"""The line, not the question, is at fault."""


class Database:
    @classmethod
    async def open(cls, url: str, *, pool: int, statement_seconds: float) -> Database:
        """Raises StoreError where nobody answers there, Invalid where it is no address."""
        database = cls(url, pool, statement_seconds)
        database._idle.append(await database.open_connection())
        return database

    def __init__(self, url: str, pool: int, statement_seconds: float) -> None:
        self._url = url
        self.statement_seconds = statement_seconds
        # The writer has a line of its own beside these.
        self._free = asyncio.Semaphore(max(pool - 1, 1))
        self._idle: list[Connection] = []
        self._unreachable = False
        self._closed = False

    async def close(self) -> None:
        """A line that is in use is hung up when it comes back."""
        self._closed = True
        await self._close_idle()

    async def open_connection(self) -> Connection:
        """A line for one who keeps it."""
        return await open_connection(self._url)

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """What takes longer than a statement may is given up, and its line with it."""
        async with self._pool_slot():
            connection = self._idle.pop() if self._idle else await self.open_connection()
            try:
                with translated():
                    async with time_limit(connection, self.statement_seconds):
                        yield connection
            finally:
                await self._return_connection(connection)

    async def query(self, question: LiteralString | str, params: Params = None) -> list[tuple[Any, ...]]:
        """All rows. Only for what may be asked twice."""

        async def asked(_left: float) -> list[tuple[Any, ...]]:
            async with self.connection() as connection:
                return await fetch(connection, question, params)

        try:
            rows = await retry_lost(
                asked, min(IN_TROUBLE if self._unreachable else PATIENCE, self.statement_seconds)
            )
        except StoreError as error:
            self._unreachable = is_connection_lost(error)
            raise
        self._unreachable = False
        return rows

    @contextlib.asynccontextmanager
    async def _pool_slot(self) -> AsyncGenerator[None]:
        if self._closed:
            raise StoreError("The store is closed.")
        try:
            async with asyncio.timeout(self.statement_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise StoreError("All connections to the database are in use.") from None
        try:
            yield
        finally:
            self._free.release()

    async def _return_connection(self, connection: Connection) -> None:
        """Whoever is cut off in mid-statement leaves a line that nobody else can use."""
        if self._closed or connection.pgconn.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            await connection.close()
            # If one line broke the others may have, too: a server that was started anew knows none of them.
            await self._close_idle()
        else:
            self._idle.append(connection)

    async def _close_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()


class CancellableConnection(AsyncConnection[tuple[Any, ...]]):
    """psycopg asks the server to let go of a statement whose asker is cancelled, and waits until it does. One
    that is frozen hears nothing: it is hung up on, or whoever leaves would be kept for ten seconds."""

    async def cancel_safe(self, *, timeout: float = CANCEL_SECONDS) -> None:
        try:
            await super().cancel_safe(timeout=min(timeout, CANCEL_SECONDS))
        except psycopg.Error:
            _shut_socket(self)
            raise


async def open_connection(url: str) -> Connection:
    """Raises StoreError where nobody answers there, Invalid where it is no address."""
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # It quotes the part that it did not understand, which may be the password.
        raise Invalid("The address of the store is not one of PostgreSQL.") from None
    with translated():
        connection = await CancellableConnection.connect(url, **_CONNECT_OPTIONS)
    connection.adapters.register_dumper(str, _Text)
    return connection


async def fetch(connection: Connection, question: str, params: Params = None) -> list[tuple[Any, ...]]:
    # As text, moments would come in the style that a server is set to, and psycopg reads but one of them.
    cursor = await connection.execute(question.encode(), params, binary=True)
    return await cursor.fetchall() if cursor.description else []


async def run_steps(connection: Connection, steps: Steps[T]) -> T:
    """Run statements of `store/sql.py` one after the other. The caller holds the transaction."""
    try:
        statement = next(steps)
        while True:
            statement = steps.send(await run_statement(connection, statement))
    except StopIteration as finished:
        return finished.value


async def run_statement(connection: Connection, statement: Statement) -> list[Row]:
    """Run a statement of `store/sql.py` and return all rows."""
    text = postgres_text(statement.text)
    if statement.many is None:
        return await fetch(connection, text, adapted(statement.values))
    rows = _VALUES.search(text)
    if rows is None:
        async with connection.cursor() as cursor:
            await cursor.executemany(text.encode(), statement.many)
        return []
    # An insert of many rows at once takes a third of the time.
    names = _NAME.findall(rows[1])
    row = "(" + _NAME.sub("%s", rows[1]) + ")"
    for start in range(0, len(statement.many), ROWS_AT_ONCE):
        some = statement.many[start : start + ROWS_AT_ONCE]
        insert = text[: rows.start(1) - 1] + ", ".join([row] * len(some)) + text[rows.end(1) + 1 :]
        await connection.execute(insert.encode(), [values[name] for values in some for name in names])
    return []


_VALUES, _NAME = re.compile(r"\bVALUES \((.*)\)"), re.compile(r"%\((\w+)\)s")


def adapted(values: Values) -> dict[str, object]:
    """A list of pairs becomes two arrays, as `pairs(:name)` expects them."""
    arrays: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            arrays |= {f"{name}_{n}": [*column] for n, column in enumerate(zip(*value, strict=True))}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        else:
            arrays[name] = value
    return arrays


_CONNECT_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    # A pgbouncer may give the next statement to another backend, which knows nothing of the prepared ones.
    "prepare_threshold": None,
    "connect_timeout": CONNECT_SECONDS,
    "client_encoding": "utf8",
    # A line may be idle for hours, and what stands in between would forget it without a word.
    "keepalives_idle": 60,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


class _Text(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd"))


# --- patience, and its end ----------------------------------------------------------------------------


async def retry_lost(attempt: Callable[[float], Awaitable[T]], seconds: float) -> T:
    """Tries again where a line breaks, for so long. Each attempt is told how much of it is left."""
    deadline, pauses = time.monotonic() + seconds, chain(PAUSES, repeat(PAUSES[-1]))
    while True:
        try:
            return await attempt(max(deadline - time.monotonic(), 1.0))
        except StoreError as error:
            pause = next(pauses)
            if not is_connection_lost(error) or time.monotonic() + pause >= deadline:
                raise
        await asyncio.sleep(pause)


@contextlib.asynccontextmanager
async def time_limit(connection: Connection, seconds: float) -> AsyncGenerator[None]:
    clock = asyncio.create_task(_cancel_after(connection, seconds), name="moot-store limit")
    try:
        yield
    finally:
        clock.cancel()


async def _cancel_after(connection: Connection, seconds: float) -> None:
    """Asks the server to let it be, so that it does not land when nobody expects it any more; then hangs
    up."""
    await asyncio.sleep(seconds)
    with contextlib.suppress(psycopg.Error):
        await connection.cancel_safe(timeout=CANCEL_SECONDS)
        await asyncio.sleep(CANCEL_SECONDS)
    _shut_socket(connection)


def _shut_socket(connection: Connection) -> None:
    hung_up = contextlib.suppress(psycopg.Error, OSError)
    with hung_up, socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


# --- what went wrong ----------------------------------------------------------------------------------

OCCUPIED = "The database has tables of another program: give Moot a database of its own"
REASONS: dict[type[Exception], str] = {
    errors.DiskFull: "The database's disk is full",
    errors.ReadOnlySqlTransaction: "The database may only be read",
    errors.InsufficientPrivilege: "The database does not allow this",
    errors.TooManyConnections: "The database takes no more connections",
    errors.UndefinedTable: "The database lacks tables of Moot",
    errors.DuplicateTable: OCCUPIED,
    errors.DuplicateObject: OCCUPIED,
    errors.UndefinedColumn: OCCUPIED,
    errors.LockNotAvailable: "Something keeps the database locked",
    errors.DeadlockDetected: "Something keeps the database locked",
    errors.QueryCanceled: "The database took too long",
    PoolTimeout: "The database cannot be reached, or all connections to it are in use",
    TooManyRequests: "All connections to the database are in use",
    PoolClosed: "The store is closed",
    TimeoutError: "The database took too long",
    psycopg.OperationalError: "The database cannot be reached",
    OSError: "The database cannot be reached",
}


NOT_LET_IN = "The database does not let us in: look at its name, at the user and at the password"
_NOT_LET_IN = ("authentication failed", "no password supplied", "pg_hba.conf", "does not exist")
"""Whoever is not let in is told why in words alone. In another language we do not know them."""


def translate(error: Exception) -> StoreError:
    """The same in our words; the original, which may name the host and the user, stays its cause."""
    reason = next((said for kind, said in REASONS.items() if isinstance(error, kind)), None)
    if _is_refusal(error):
        reason = NOT_LET_IN
    translation = StoreError(f"{reason or 'The log cannot be reached'}.")
    translation.__cause__ = error
    return translation


def _is_refusal(error: BaseException | None) -> bool:
    return type(error) is psycopg.OperationalError and any(said in str(error) for said in _NOT_LET_IN)


@contextlib.contextmanager
def translated() -> Generator[None]:
    task = asyncio.current_task()
    asked = task.cancelling() if task else 0
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed, TooManyRequests, TimeoutError, OSError) as error:
        # psycopg waits for the statement of one that is cancelled; where the line breaks meanwhile, it tells
        # of that alone. Whoever cancelled would wait for ever for one that tries again.
        if task and task.cancelling() > asked:
            raise asyncio.CancelledError from error
        raise translate(error) from error


def is_unreachable(error: StoreError) -> bool:
    """Whether nobody answers who could: one that does not let us in is there."""
    return is_connection_lost(error) and not _is_refusal(error.__cause__)


def is_connection_lost(error: StoreError) -> bool:
    """Whether the line broke, or nobody answered: what was asked may or may not have been done."""
    cause = error.__cause__
    if isinstance(cause, psycopg.Error) and cause.sqlstate is not None:
        return isinstance(cause, _LOST_SERVER_ERRORS)
    return isinstance(cause, LOST_ERRORS)


# The server says these before it hangs up, while it comes up, when it was told to let go, or when another has
# taken its place and it may only be read: whoever dials again reaches that one.
_LOST_SERVER_ERRORS = (
    errors.ReadOnlySqlTransaction,
    errors.QueryCanceled,
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleSessionTimeout,
    errors.TooManyConnections,
    errors.ConnectionException,
)
