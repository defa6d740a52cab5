"""Lines to Redis that are held open for ever: one that breaks is opened again, after a pause that grows.

The operator is told once when Redis cannot be reached, and once when it is back; never its password.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection

from moot.errors import Invalid

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 5.0
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0

Command = tuple[bytes | str, ...]
Talk = Callable[["Line"], Awaitable[None]]

log = logging.getLogger("moot")


class Lines:
    """All lines of one bus."""

    def __init__(self, url: str) -> None:
        pools = cast("Any", ConnectionPool)
        try:
            self._pool: ConnectionPool = pools.from_url(
                url,
                protocol=2,
                # The library keeps its own deadline by `wait_for`, which in 3.11 may swallow a cancellation.
                socket_timeout=None,
            )
            # What it is asked for behind the ? of an address is only found wrong when a connection is made.
            self._pool.make_connection()
        except (TypeError, ValueError):
            # Its own words might repeat the address, and with it the password.
            raise Invalid("MOOT_BUS is not the address of a Redis, such as redis://host:6379/0.") from None
        self._broken: dict[str, str] = {}
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def trouble(self) -> str:
        return next(iter(self._broken.values()), "")

    def open(self, name: str, talk: Talk, lost: Callable[[], None] = lambda: None) -> Line:
        """`talk` has the line whenever there is one; `lost` is called whenever that ends."""
        line = Line(self, name)
        work = line.hold(self._pool.make_connection, talk, lost)
        self._tasks.append(asyncio.create_task(work, name=f"redis {name}"))
        return line

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def broke(self, name: str, error: Exception) -> None:
        if not self._broken:
            why = str(error) or type(error).__name__
            log.warning("Redis cannot be reached, so others are heard a second later: %s", why)
        self._broken[name] = "Redis cannot be reached"

    def mended(self, name: str) -> None:
        if self._broken.pop(name, None) and not self._broken:
            log.info("Redis is back")


class Line:
    def __init__(self, lines: Lines, name: str) -> None:
        self._lines = lines
        self._name = name
        self._pause = 0.0
        self._connection: AbstractConnection | None = None
        self.broken = False
        """It has been tried, and is not there now."""

    async def hold(
        self, connect: Callable[[], AbstractConnection], talk: Talk, lost: Callable[[], None]
    ) -> None:
        while True:
            self._connection = connect()
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._connection.connect()
                self.broken = False
                await talk(self)
            except Exception as error:
                self._failed(error)
            finally:
                self.broken = True
                lost()
                # Some event loops complain when a line that has broken is closed.
                with suppress(Exception):
                    await self._connection.disconnect(nowait=True)
            await asyncio.sleep(self._pause)

    def proven(self) -> None:
        """What the line is for has been done on it."""
        self._pause = 0.0
        self._lines.mended(self._name)

    async def send(self, commands: Sequence[Command]) -> None:
        connection = self._open()
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.send_packed_command(connection.pack_commands(commands), check_health=False)

    async def read(self) -> Any:
        """Whatever comes next, however long it takes."""
        connection: Any = self._open()
        return await connection.read_response()

    async def ask(self, commands: Sequence[Command]) -> None:
        """All of them in one round trip. Raises where one is refused, and the line is of no use then."""
        await self.send(commands)
        async with asyncio.timeout(ANSWER_SECONDS):
            for _ in commands:
                await self.read()

    async def cut(self) -> None:
        await self._open().disconnect(nowait=True)

    def _open(self) -> AbstractConnection:
        # The library would open a closed one again by itself, and nobody would subscribe there.
        if self._connection is None or not self._connection.is_connected:
            raise ConnectionError("the line is closed")
        return self._connection

    def _failed(self, error: Exception) -> None:
        """A line that breaks once is nothing to speak of."""
        if self._pause:
            self._lines.broke(self._name, error)
        self._pause = min(max(2 * self._pause, FIRST_PAUSE), LONGEST_PAUSE)
