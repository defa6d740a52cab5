"""Redis as this process uses it: one address, and two ways to use it that both survive its loss.

`OptionalRedis` asks single questions and raises at once while Redis is away. `RedisConnections` keeps
connections open for the bus and opens them again after a pause that grows. Both report to `RedisServer`, so
that one log line says that Redis is lost and one that it is back, whichever of them notices. The password is
never logged.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from moot.core.errors import Invalid

CONNECTION_OPTIONS: dict[str, Any] = {
    # The library keeps deadlines of its own by `wait_for`, which in 3.11 may swallow a cancellation.
    "socket_timeout": None,
    "socket_connect_timeout": None,
    # Nothing is tried twice: what was counted, and only the answer lost, would be counted again.
    "retry": Retry(NoBackoff(), 0),
    "health_check_interval": 0,
    "protocol": 2,
    "decode_responses": False,
    "max_connections": None,
}
"""These override the options of the address."""

MIN_VERSION = 6, 2
"""The version that first had all commands that are used (GETDEL)."""

TICKS, TICK_SECONDS = 5, 0.1
PAUSE = 1.0
MAX_CONNECTIONS = 32
ASKING = "asking"
PROBE_KEY = "moot:greeting"

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 5.0
MIN_PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 1.0

log = logging.getLogger("moot")


def redis_key(kind: str, name: str) -> str:
    """A digest, since names contain clients, topics and request keys."""
    return f"moot:{kind}:{hashlib.sha256(name.encode()).hexdigest()[:32]}"


class RedisServer:
    def __init__(self, url: str) -> None:
        """Raises Invalid where the address cannot be read. Redis itself may be away."""
        try:
            options: dict[str, Any] = {**parse_url(url), **CONNECTION_OPTIONS}
            self._pool = cast("Any", ConnectionPool)(**options)
            # Options of the address are only checked when a connection is made.
            self._pool.make_connection()
        except (TypeError, ValueError):
            # The library's message might repeat the address, and with it the password.
            raise Invalid("MOOT_BUS is not the address of a Redis, such as redis://host:6379/0.") from None
        roots = options.get("ssl_ca_certs")
        if roots and not os.access(roots, os.R_OK):
            raise Invalid("MOOT_BUS names a file of root certificates (ssl_ca_certs) that cannot be read.")
        self.number = int(options.get("db", 0))
        """The number of the database."""
        self._errors: dict[str, str] = {}

    @property
    def connection_error(self) -> str:
        """Why it cannot be reached; empty where it can."""
        return next(iter(self._errors.values()), "")

    def connection(self) -> AbstractConnection:
        """A new connection that is not shared."""
        return self._pool.make_connection()

    def client(self) -> Any:
        """A client for single commands. Closing it closes the connections that it opened."""
        return cast("Any", Redis).from_pool(self._pool)

    def mark_down(self, user: str, error: Exception) -> None:
        reason = why_unreachable(error)
        if not self._errors:
            log.warning(
                "Redis cannot be reached, so events come up to a second later and limits are per process: %s",
                reason,
            )
        self._errors[user] = f"Redis cannot be reached: {reason}"

    def mark_up(self, user: str) -> None:
        """Redis counts as back when all that had lost it have it again."""
        if self._errors.pop(user, None) and not self._errors:
            log.info("Redis is reachable again")


def why_unreachable(error: BaseException) -> str:
    """Why a connection failed: in our words, where those of the library do not say what to do."""
    # The library puts an error of its own before the first cause.
    cause = error.__cause__ or error.__context__ or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        if "mismatch" in cause.verify_message:
            return "its certificate is for another host than MOOT_BUS names"
        return (
            f"its certificate is not trusted ({cause.verify_message}): name its root certificate in "
            "MOOT_BUS, rediss://…?ssl_ca_certs=FILE"
        )
    return (
        "it does not answer in time"
        if isinstance(error, TimeoutError)
        else str(error) or type(error).__name__
    )


# --- single questions ---------------------------------------------------------------------------------


class RedisUnavailable(Exception):
    """Redis does not answer."""


class RedisNoAnswer(RedisUnavailable):
    """The command was sent and may have been carried out."""


RunScript = Callable[..., Awaitable[Any]]
"""Takes the keys and the arguments of the script. Raises RedisUnavailable."""


class OptionalRedis:
    """Answers soon or raises RedisUnavailable; after a failure one caller a second tries again for all."""

    def __init__(self, server: RedisServer, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._redis = server.client()
        self._clock = clock
        self._free = asyncio.Semaphore(MAX_CONNECTIONS)
        self._again_at = float("-inf")
        self._down = self._closed = False

    @property
    def connection_error(self) -> str:
        return self._server.connection_error

    async def execute(self, *command: str | bytes | int) -> Any:
        """One command. Raises RedisUnavailable."""
        return await self._run(lambda: self._redis.execute_command(*command))

    def script(self, text: str) -> RunScript:
        registered = self._redis.register_script(text)

        async def run(keys: Sequence[str], *arguments: str | bytes | int) -> Any:
            return await self._run(lambda: registered(keys, arguments))

        return run

    async def close(self) -> None:
        self._closed = True
        with suppress(Exception):
            await _in_time(self._redis.aclose())

    async def _run(self, command: Callable[[], Awaitable[Any]]) -> Any:
        async with self._free:
            now, retrying = self._clock(), self._down
            if self._closed or (retrying and now < self._again_at):
                raise RedisUnavailable
            # While one caller retries, the others do not.
            self._again_at = now + PAUSE
            try:
                if retrying:
                    await _in_time(self._check_writable())
                answer = await _in_time(command())
            except Exception as error:
                # Event loops raise RuntimeError for a broken connection, and the client more than its own.
                self._down, self._again_at = True, self._clock() + PAUSE
                self._server.mark_down(ASKING, error)
                raise RedisNoAnswer from None
        # A late answer to a command that was sent before the loss does not mean that Redis is back.
        if retrying:
            self._down = False
            self._server.mark_up(ASKING)
        return answer

    async def _check_writable(self) -> None:
        """A Redis that can be read but not written (full, or a replica) is not back."""
        await self._redis.execute_command("SET", PROBE_KEY, "", "PX", 1)


async def _in_time(answer: Awaitable[Any]) -> Any:
    """Time is counted in ticks of this loop: if the loop itself was busy, Redis was not silent."""
    loop, left = asyncio.get_running_loop(), TICKS

    def tick() -> None:
        nonlocal left, timer
        left -= 1
        if left > 0:
            timer = loop.call_later(TICK_SECONDS, tick)
        else:
            limit.reschedule(loop.time())

    async with asyncio.timeout(None) as limit:
        timer = loop.call_later(TICK_SECONDS, tick)
        try:
            return await answer
        finally:
            timer.cancel()


# --- connections that are kept open -------------------------------------------------------------------

RedisCommand = tuple[bytes | str, ...]
UseConnection = Callable[["RedisConnection"], Awaitable[None]]


class RedisConnections:
    """All kept connections of one bus."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server
        self._tasks: list[asyncio.Task[None]] = []

    def keep_open(
        self, name: str, use: UseConnection, lost: Callable[[], None] = lambda: None
    ) -> RedisConnection:
        """`use` runs whenever there is a connection; `lost` is called whenever that ends."""
        connection = RedisConnection(self._server, name)
        task = asyncio.create_task(connection.keep_connected(use, lost), name=f"redis {name}")
        self._tasks.append(task)
        return connection

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class RedisConnection:
    def __init__(self, server: RedisServer, name: str) -> None:
        self._server = server
        self._name = name
        self._pause = 0.0
        self._connection: AbstractConnection | None = None
        self.broken = False
        """It has been tried, and there is no connection now."""

    async def keep_connected(self, use: UseConnection, lost: Callable[[], None]) -> None:
        while True:
            self._connection = self._server.connection()
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._connection.connect()
                self.broken = False
                await use(self)
            except Exception as error:
                self._failed(error)
            finally:
                self.broken = True
                lost()
                # Some event loops complain when a broken connection is closed.
                with suppress(Exception):
                    await self._connection.disconnect(nowait=True)
            await asyncio.sleep(self._pause)

    def mark_working(self) -> None:
        """The connection has done what it is for."""
        self._pause = 0.0
        self._server.mark_up(self._name)

    async def send(self, commands: Sequence[RedisCommand]) -> None:
        connection = self._connected()
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.send_packed_command(connection.pack_commands(commands), check_health=False)

    async def read(self) -> Any:
        """The next message, however long it takes."""
        connection: Any = self._connected()
        return await connection.read_response()

    async def request(self, commands: Sequence[RedisCommand]) -> None:
        """All of them in one round trip. Raises where one is refused; the connection is of no use then."""
        await self.send(commands)
        async with asyncio.timeout(ANSWER_SECONDS):
            for _ in commands:
                await self.read()

    async def disconnect(self) -> None:
        await self._connected().disconnect(nowait=True)

    def _connected(self) -> AbstractConnection:
        # The library would open a closed connection again by itself, without our subscriptions.
        if self._connection is None or not self._connection.is_connected:
            raise ConnectionError("the connection is closed")
        return self._connection

    def _failed(self, error: Exception) -> None:
        """A connection that breaks once is not reported."""
        if self._pause:
            self._server.mark_down(self._name, error)
        self._pause = min(max(2 * self._pause, MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS)
