"""Lines to Redis that are held open for ever: one that breaks is opened again, after a pause that grows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from redis.asyncio.connection import AbstractConnection

from moot.cluster.redis_server import Reach

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 5.0
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0

Command = tuple[bytes | str, ...]
Talk = Callable[["Line"], Awaitable[None]]


class Lines:
    """All lines of one bus."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._tasks: list[asyncio.Task[None]] = []

    def open(self, name: str, talk: Talk, lost: Callable[[], None] = lambda: None) -> Line:
        """`talk` has the line whenever there is one; `lost` is called whenever that ends."""
        line = Line(self._reach, name)
        self._tasks.append(asyncio.create_task(line.hold(talk, lost), name=f"redis {name}"))
        return line

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class Line:
    def __init__(self, reach: Reach, name: str) -> None:
        self._reach = reach
        self._name = name
        self._pause = 0.0
        self._connection: AbstractConnection | None = None
        self.broken = False
        """It has been tried, and is not there now."""

    async def hold(self, talk: Talk, lost: Callable[[], None]) -> None:
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

    def proven(self) -> None:
        """What the line is for has been done on it."""
        self._pause = 0.0
        self._reach.found(self._name)

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
            self._reach.missed(self._name, error)
        self._pause = min(max(2 * self._pause, FIRST_PAUSE), LONGEST_PAUSE)
