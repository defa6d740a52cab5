"""The ways to PostgreSQL: a pool for those who ask, a line of their own for those who write, and our words
for whatever goes wrong on them.

    database = await Database.open("postgresql://…", pool=10, statement_seconds=10.0)
    # Asked once more where the line breaks.
    rows = await database.ask("SELECT id FROM debates WHERE owner = %s", [owner])
    # Autocommit; for several statements in one transaction: `async with connection.transaction()`.
    async with database.connection() as connection:
        rows = await fetch(connection, "…", params)

Everything raises StoreError and nothing else of psycopg. No session state is kept, nothing is prepared and
nothing is listened to, so a pgbouncer may stand in between. A NUL, which PostgreSQL has no place for, is
written and looked for as U+FFFD.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.string import StrDumperUnknown
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from moot.errors import Invalid, StoreError

Connection = AsyncConnection[tuple[Any, ...]]
Params = Sequence[object] | Mapping[str, object] | None

CONNECT_SECONDS = 5
"""How long a connection may take to come about."""
LOST = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, TimeoutError, OSError)
"""The line, not the question, is at fault."""


class Database:
    @classmethod
    async def open(cls, url: str, *, pool: int = 10, statement_seconds: float = 10.0) -> Database:
        """Raises StoreError where nobody answers there, Invalid where it is no address."""
        try:
            conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            # It quotes the part that it did not understand, which may be the password.
            raise Invalid("The address of the store is not one of PostgreSQL.") from None
        database = cls(url, pool, statement_seconds)
        try:
            await database._begin()
        except BaseException:
            await database.close()
            raise
        return database

    def __init__(self, url: str, pool: int, statement_seconds: float) -> None:
        self._url = url
        self.statement_seconds = statement_seconds
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            kwargs=_MANNERS,
            configure=_configure,
            # The writer has a line of its own beside these.
            min_size=1,
            max_size=max(pool - 1, 1),
            open=False,
            timeout=statement_seconds,
            reconnect_timeout=statement_seconds,
            name="moot-store",
        )

    async def _begin(self) -> None:
        # The pool would try for ever, and tell nobody why: the first line says what is wrong.
        first = await self.dial()
        await first.close()
        with translated():
            await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    async def dial(self) -> Connection:
        """A line outside the pool, for one who keeps it."""
        with translated():
            connection = await AsyncConnection.connect(self._url, **_MANNERS)
            await _configure(connection)
            return connection

    @contextlib.asynccontextmanager
    async def connection(self, *, seconds: float | None = None) -> AsyncGenerator[Connection]:
        """One of the pool. What takes longer (than a statement may) is given up, and its line with it."""
        with translated():
            connection = await self._pool.getconn()
            try:
                async with _limit(connection, seconds or self.statement_seconds):
                    yield connection
            finally:
                await self._pool.putconn(connection)

    async def ask(self, question: LiteralString | str, params: Params = None) -> list[tuple[Any, ...]]:
        """All rows. Only for what may be asked twice: a line that breaks is replaced once."""
        try:
            return await self._asked(question, params)
        except StoreError as error:
            if not is_lost(error) or isinstance(error.__cause__, TimeoutError | PoolTimeout):
                raise
        # If one line broke the others may have, too: a server that was started anew knows none of them.
        with translated():
            await self._pool.check()
        return await self._asked(question, params)

    async def _asked(self, question: str, params: Params) -> list[tuple[Any, ...]]:
        async with self.connection() as connection:
            return await fetch(connection, question, params)


async def fetch(connection: Connection, question: str, params: Params = None) -> list[tuple[Any, ...]]:
    cursor = await connection.execute(question.encode(), params)
    return await cursor.fetchall() if cursor.description else []


@contextlib.asynccontextmanager
async def _limit(connection: Connection, seconds: float) -> AsyncGenerator[None]:
    """Whoever is cut off in mid-statement leaves a line that nobody else can use."""
    try:
        async with asyncio.timeout(seconds):
            yield
    finally:
        if connection.pgconn.transaction_status in _UNFINISHED:
            await connection.close()


_MANNERS: dict[str, Any] = {
    "autocommit": True,
    # A pgbouncer may give the next statement to another backend, which knows nothing of the prepared ones.
    "prepare_threshold": None,
    "connect_timeout": CONNECT_SECONDS,
    "client_encoding": "utf8",
}
_UNFINISHED = (psycopg.pq.TransactionStatus.ACTIVE, psycopg.pq.TransactionStatus.INERROR)


class _Text(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd"))


async def _configure(connection: Connection) -> None:
    connection.adapters.register_dumper(str, _Text)


# --- what went wrong ----------------------------------------------------------------------------------

REASONS: dict[type[Exception], str] = {
    errors.DiskFull: "The database's disk is full",
    errors.ReadOnlySqlTransaction: "The database may only be read",
    errors.InsufficientPrivilege: "The database does not allow this",
    errors.InvalidPassword: "The database does not accept the user or the password",
    errors.InvalidAuthorizationSpecification: "The database does not accept the user or the password",
    errors.InvalidCatalogName: "There is no such database",
    errors.TooManyConnections: "The database takes no more connections",
    errors.UndefinedTable: "The database lacks tables of Moot",
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


def translate(error: Exception) -> StoreError:
    """The same in our words; the original, which may name the host and the user, stays its cause."""
    reason = next((said for kind, said in REASONS.items() if isinstance(error, kind)), None)
    translation = StoreError(f"{reason or 'The log cannot be reached'}.")
    translation.__cause__ = error
    return translation


@contextlib.contextmanager
def translated() -> Generator[None]:
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed, TooManyRequests, TimeoutError, OSError) as error:
        raise translate(error) from error


def is_lost(error: StoreError) -> bool:
    """Whether the line broke, or nobody answered: what was asked may or may not have been done."""
    cause = error.__cause__
    if isinstance(cause, psycopg.Error) and cause.sqlstate is not None:
        return isinstance(cause, _GOING)
    return isinstance(cause, LOST)


# The server says these before it hangs up, while it comes up, when it was told to let go, or when another has
# taken its place and it may only be read: whoever dials again reaches that one.
_GOING = (
    errors.ReadOnlySqlTransaction,
    errors.QueryCanceled,
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleSessionTimeout,
    errors.TooManyConnections,
    errors.ConnectionException,
)
