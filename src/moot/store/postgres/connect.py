"""Connections to PostgreSQL: a small pool for readers, one for the writer, and our words for their errors.

    database = await Database.open("postgresql://…", pool=10, statement_seconds=10.0)
    # Repeated for some seconds where the connection breaks.
    rows = await database.query("SELECT id FROM debates WHERE owner = %s", [owner])
    # Autocommit; for several statements in one transaction: `async with connection.transaction()`.
    async with database.connection() as connection:
        rows = await fetch(connection, "…", params)

All functions raise StoreError and no error of psycopg. No session state is kept and nothing is prepared, so a
pgbouncer may stand in between. A NUL, which PostgreSQL cannot store, is written and searched as U+FFFD.

psycopg's own pool is not used: it connects in the background, with growing pauses while the server is away,
so that readers wait long after it is back, and logs the address each time.
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
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.string import StrDumperUnknown
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from moot.core.errors import Invalid, StoreError
from moot.store.sql import Row, Statement, Steps, Values, postgres_text

T = TypeVar("T")
Connection = AsyncConnection[tuple[Any, ...]]
Params = Sequence[object] | Mapping[str, object] | None

CONNECT_SECONDS = 5
"""How long it may take to connect."""
CANCEL_SECONDS = 1.0
WAKE_SECONDS = 60.0
"""How often a connection that waits for the server looks at its socket unasked."""
PATIENCE = 6.0
"""Seconds for which a query is repeated, so that a server may be restarted."""
IN_TROUBLE = 2.0
"""The same after a query that failed, so that those that queue do not each wait as long."""
PAUSES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
ROWS_AT_ONCE = 100
"""Rows that one insert writes."""
LOST_ERRORS = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, TimeoutError, OSError)
"""Errors of the connection, not of the query."""


class Database:
    @classmethod
    async def open(cls, url: str, *, pool: int, statement_seconds: float) -> Database:
        """Raises StoreError where no server answers, Invalid where the address cannot be read."""
        database = cls(url, pool, statement_seconds)
        database._idle.append(await database.open_connection())
        return database

    def __init__(self, url: str, pool: int, statement_seconds: float) -> None:
        self._url = url
        self.statement_seconds = statement_seconds
        # The writer has a connection of its own beside these.
        self._free = asyncio.Semaphore(max(pool - 1, 1))
        self._idle: list[Connection] = []
        self._unreachable = False
        self._closed = False

    async def close(self) -> None:
        """A connection that is in use is closed when it is returned."""
        self._closed = True
        await self._close_idle()

    async def open_connection(self) -> Connection:
        """A connection outside the pool."""
        return await open_connection(self._url)

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """A connection of the pool. A statement that takes too long is cancelled, its connection closed."""
        async with self._pool_slot():
            connection = self._idle.pop() if self._idle else await self.open_connection()
            try:
                with translated():
                    async with time_limit(connection, self.statement_seconds):
                        yield connection
            finally:
                await self._return_connection(connection)

    async def query(self, question: LiteralString | str, params: Params = None) -> list[tuple[Any, ...]]:
        """All rows. Only for statements that may be run twice."""

        async def attempt(_left: float) -> list[tuple[Any, ...]]:
            async with self.connection() as connection:
                return await fetch(connection, question, params)

        try:
            rows = await retry_lost(
                attempt, min(IN_TROUBLE if self._unreachable else PATIENCE, self.statement_seconds)
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
        if self._free.locked():
            try:
                async with asyncio.timeout(self.statement_seconds):
                    await self._free.acquire()
            except TimeoutError:
                raise StoreError("All connections to the database are in use.") from None
        else:
            await self._free.acquire()
        try:
            yield
        finally:
            self._free.release()

    async def _return_connection(self, connection: Connection) -> None:
        """Close it where a statement was cut off: no one else can use such a connection."""
        if self._closed or connection.pgconn.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            await connection.close()
            # If one connection broke the others may have, too: a restarted server knows none of them.
            await self._close_idle()
        else:
            self._idle.append(connection)

    async def _close_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()


class CancellableConnection(AsyncConnection[tuple[Any, ...]]):
    """When a task is cancelled psycopg asks the server to cancel its statement and waits for that. A frozen
    server does not answer, so the socket is closed; otherwise the task would hang for ten seconds."""

    async def wait(self, gen: PQGen[T], interval: float = WAKE_SECONDS, timeout: float | None = None) -> T:
        """psycopg's own interval wakes a connection that listens ten times a second, to notice Ctrl-C."""
        return await super().wait(gen, interval, timeout)

    async def cancel_safe(self, *, timeout: float = CANCEL_SECONDS) -> None:
        try:
            await super().cancel_safe(timeout=min(timeout, CANCEL_SECONDS))
        except psycopg.Error:
            _shut_socket(self)
            raise


async def open_connection(url: str) -> Connection:
    """Raises StoreError where no server answers, Invalid where the address cannot be read."""
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # The message quotes the part that it did not understand, which may be the password.
        raise Invalid("The address of the store is not one of PostgreSQL.") from None
    with translated():
        connection = await CancellableConnection.connect(url, **_CONNECT_OPTIONS)
    connection.adapters.register_dumper(str, _Text)
    return connection


async def fetch(connection: Connection, question: str, params: Params = None) -> list[tuple[Any, ...]]:
    # As text, times would have the format that the server is set to, and psycopg reads only one.
    cursor = await connection.execute(question.encode(), params, binary=True)
    return await cursor.fetchall() if cursor.description else []


async def run_steps(run: Callable[[Statement], Awaitable[list[Row]]], steps: Steps[T]) -> T:
    """Run statements of `store/sql.py` one after the other. The caller holds the transaction, if any."""
    try:
        statement = next(steps)
        while True:
            statement = steps.send(await run(statement))
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


def name_connections(name: str) -> None:
    """Connections that are opened from now on are shown under this name by the database (pg_stat_activity),
    unless the address has a name of its own (application_name)."""
    _CONNECT_OPTIONS["fallback_application_name"] = name


def application_name() -> str:
    return _CONNECT_OPTIONS["fallback_application_name"]


_CONNECT_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "fallback_application_name": "moot",
    # A pgbouncer may give the next statement to another backend, which knows nothing of the prepared ones.
    "prepare_threshold": None,
    "connect_timeout": CONNECT_SECONDS,
    "client_encoding": "utf8",
    # A connection may be idle for hours, and a firewall in between would drop it silently.
    "keepalives_idle": 60,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


class _Text(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd"))


# --- retries and time limits --------------------------------------------------------------------------


async def retry_lost(attempt: Callable[[float], Awaitable[T]], seconds: float) -> T:
    """Repeat the attempt where a connection breaks, for so long. It is called with the seconds left."""
    deadline, pauses = time.monotonic() + seconds, chain(PAUSES, repeat(PAUSES[-1]))
    while True:
        try:
            return await attempt(max(deadline - time.monotonic(), 1.0))
        except StoreError as error:
            pause = next(pauses)
            if not is_connection_lost(error) or time.monotonic() + pause >= deadline:
                raise
        await asyncio.sleep(pause)


class time_limit:  # noqa: N801 - used like a function
    """Cancels the statement that runs on the connection when the time is up, and then closes it."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        self._connection = connection
        self._seconds = seconds
        self._cancelling: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        # A timer, not a task: nearly all statements end in time.
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._time_is_up)

    async def __aexit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._cancelling is not None:
            self._cancelling.cancel()

    def _time_is_up(self) -> None:
        self._cancelling = asyncio.create_task(_cancel(self._connection), name="moot-store limit")


async def _cancel(connection: Connection) -> None:
    """Ask the server to cancel the statement, so that it has no effect later; then close the socket."""
    with contextlib.suppress(psycopg.Error):
        await connection.cancel_safe(timeout=CANCEL_SECONDS)
        await asyncio.sleep(CANCEL_SECONDS)
    _shut_socket(connection)


def _shut_socket(connection: Connection) -> None:
    closed = contextlib.suppress(psycopg.Error, OSError)
    with closed, socket.socket(fileno=os.dup(connection.fileno())) as raw_socket:
        raw_socket.shutdown(socket.SHUT_RDWR)


# --- what went wrong ----------------------------------------------------------------------------------

OCCUPIED = "The database has tables of another program: give Moot a database of its own"
FULL = (
    "The database takes no more connections: raise its limit (max_connections, or CONNECTION LIMIT of the "
    "user or the database), or lower MOOT_POOL"
)
REASONS: dict[type[Exception], str] = {
    errors.DiskFull: "The database's disk is full",
    errors.ReadOnlySqlTransaction: "The database may only be read",
    errors.InsufficientPrivilege: "The database does not allow this",
    errors.TooManyConnections: FULL,
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


REFUSED = "The database does not let us in: look at its name, at the user and at the password"
_NO_ROOT = (
    "The certificate of the database cannot be checked, because the file with the root certificates to trust "
    "is missing or holds none: name one in the address (sslrootcert=FILE, or sslrootcert=system for those of "
    "this machine)"
)
_WAITING_HELPS: dict[str, str] = {"too many connections|too many clients|connection slots": FULL}
_WAITING_DOES_NOT_HELP: dict[str, str] = {
    "root certificate file": _NO_ROOT,
    "certificate verify failed": (
        "The certificate of the database is not trusted: name its root certificate in the address "
        "(sslrootcert=FILE), or renew the certificate if it has expired"
    ),
    "does not match host name": "The certificate of the database is for another host than the address names",
    "does not support SSL": "The database offers no encryption, which the address requires (sslmode)",
    "certificate file|private key": (
        "The certificate or the key that we show to the database cannot be used: look at sslcert and sslkey "
        "in the address"
    ),
    r"pg_hba\.conf.*no encryption": (
        "The database does not let this machine in, or not without encryption: add sslmode=require to the "
        "address, or look at pg_hba.conf of the database"
    ),
    r"pg_hba\.conf": (
        "The database does not let this user in from this machine: look at pg_hba.conf of the database"
    ),
    "authentication failed|no password supplied|FATAL: .* does not exist": REFUSED,
}
"""Why a connection was not made. libpq and the server give the reason only in words, and we do not recognise
those of the server in another language."""


def translate(error: Exception) -> StoreError:
    """The error in our words. The original, which may name the host and the user, stays its cause."""
    reason = next((text for kind, text in REASONS.items() if isinstance(error, kind)), None)
    reason = _told(_WAITING_HELPS | _WAITING_DOES_NOT_HELP, error) or reason
    translation = StoreError(f"{reason or 'The log cannot be reached'}.")
    translation.__cause__ = error
    return translation


def _told(reasons: Mapping[str, str], error: BaseException | None) -> str:
    """The reason that the words of a failed connection give; empty where they give none of these."""
    if type(error) is not psycopg.OperationalError:
        return ""
    return next((reason for words, reason in reasons.items() if re.search(words, str(error))), "")


@contextlib.contextmanager
def translated() -> Generator[None]:
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed, TooManyRequests, TimeoutError, OSError) as error:
        # When a task is cancelled psycopg waits for its statement, and if the connection breaks meanwhile it
        # raises only that. A task that tried again then would never end.
        if task and task.cancelling() > before:
            raise asyncio.CancelledError from error
        raise translate(error) from error


def is_unreachable(error: StoreError) -> bool:
    """Whether no server answers, or none has room for us. One that refuses us is there."""
    return is_connection_lost(error) and not _told(_WAITING_DOES_NOT_HELP, error.__cause__)


def is_connection_lost(error: StoreError) -> bool:
    """Whether the connection broke or no server answered: the statement may or may not have been run."""
    cause = error.__cause__
    if isinstance(cause, psycopg.Error) and cause.sqlstate is not None:
        return isinstance(cause, _LOST_SERVER_ERRORS)
    return isinstance(cause, LOST_ERRORS)


# The server raises these before it closes a connection, while it starts, when a statement was cancelled, or
# when another server has become the primary and this one is read-only: a new connection reaches that one.
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
