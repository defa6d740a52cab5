"""Lines to Redis that are held open for ever: one that breaks is opened again, after a pause that grows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from redis.asyncio.connection import AbstractConnection

from moot.cluster.redis_server import RedisServer

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 5.0
MIN_PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 1.0

RedisCommand = tuple[bytes | str, ...]
UseConnection = Callable[["RedisConnection"], Awaitable[None]]


class RedisConnections:
    """All lines of one bus."""

    def __init__(self, reach: RedisServer) -> None:
        self._reach = reach
        self._tasks: list[asyncio.Task[None]] = []

    def keep_open(
        self, name: str, talk: UseConnection, lost: Callable[[], None] = lambda: None
    ) -> RedisConnection:
        """`talk` has the line whenever there is one; `lost` is called whenever that ends."""
        line = RedisConnection(self._reach, name)
        self._tasks.append(asyncio.create_task(line.keep_connected(talk, lost), name=f"redis {name}"))
        return line

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class RedisConnection:
    def __init__(self, reach: RedisServer, name: str) -> None:
        self._reach = reach
        self._name = name
        self._pause = 0.0
        self._connection: AbstractConnection | None = None
        self.broken = False
        """It has been tried, and is not there now."""

    async def keep_connected(self, talk: UseConnection, lost: Callable[[], None]) -> None:
        while True:
            self._connection = self._reach.connection()
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

    def mark_working(self) -> None:
        """What the line is for has been done on it."""
        self._pause = 0.0
        self._reach.mark_up(self._name)

    async def send(self, commands: Sequence[RedisCommand]) -> None:
        connection = self._connected()
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.send_packed_command(connection.pack_commands(commands), check_health=False)

    async def read(self) -> Any:
        """Whatever comes next, however long it takes."""
        connection: Any = self._connected()
        return await connection.read_response()

    async def request(self, commands: Sequence[RedisCommand]) -> None:
        """All of them in one round trip. Raises where one is refused, and the line is of no use then."""
        await self.send(commands)
        async with asyncio.timeout(ANSWER_SECONDS):
            for _ in commands:
                await self.read()

    async def disconnect(self) -> None:
        await self._connected().disconnect(nowait=True)

    def _connected(self) -> AbstractConnection:
        # The library would open a closed one again by itself, and nobody would subscribe there.
        if self._connection is None or not self._connection.is_connected:
            raise ConnectionError("the line is closed")
        return self._connection

    def _failed(self, error: Exception) -> None:
        """A line that breaks once is nothing to speak of."""
        if self._pause:
            self._reach.mark_down(self._name, error)
        self._pause = min(max(2 * self._pause, MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS)
