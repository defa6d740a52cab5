"""A real Redis of one's own: up in a few milliseconds on a port of this machine, and it keeps nothing.

    with Redis() as redis:
        …                # redis.url
        redis.kill()     # as by kill -9
        redis.start()    # on the same port, empty

`redis_url` is for tests that share one; a test that kills asks for `redis`.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.chaos.servers import quiet_port

TRIES = 5
PATIENCE = 2000


class Redis:
    """At a port that nobody is given by chance: who calls again and again must not meet himself there."""

    def __init__(self, password: str = "", path: Path | None = None) -> None:
        """With `path`, there is a socket too, which may be reached by it."""
        self.port = quiet_port()
        self._password = password
        self._path = path
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        user = f":{self._password}@" if self._password else ""
        return f"redis://{user}127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """On the port that was free; another one where somebody has taken it before the first start."""
        for _ in range(TRIES):
            self._process = self._launched()
            if self._answers(self._process):
                return
            self.kill()
            self.port = quiet_port()
        raise RuntimeError("redis-server does not start")

    def kill(self) -> None:
        """Leaves it no time for anything."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def ask(self, *words: str) -> bytes:
        """One command, in the plainest way; the answer as it comes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as line:
            if self._password:
                line.sendall(_spelt("AUTH", self._password))
                line.recv(65536)
            line.sendall(_spelt(*words))
            return line.recv(65536)

    def __enter__(self) -> Redis:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _launched(self) -> subprocess.Popen[bytes]:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        options += ["--hz", "1"]
        if self._password:
            options += ["--requirepass", self._password]
        if self._path:
            options += ["--unixsocket", str(self._path)]
        return subprocess.Popen(
            [_server(), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/"
        )

    def _answers(self, process: subprocess.Popen[bytes]) -> bool:
        for _ in range(PATIENCE):
            if process.poll() is not None:
                return False
            with suppress(OSError):
                if self.ask("PING") == b"+PONG\r\n":
                    return True
            time.sleep(0.005)
        return False


def _server() -> str:
    path = shutil.which("redis-server")
    if path is None:
        pytest.skip("there is no redis-server; `make test` installs it on Debian")
    return path


def _spelt(*words: str) -> bytes:
    parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
    return f"*{len(words)}\r\n{''.join(parts)}".encode()


@pytest.fixture(scope="session")
def redis_url() -> Generator[str]:
    """One for all tests of a process: use names of your own in it."""
    with Redis() as redis:
        yield redis.url


@pytest.fixture
def redis() -> Generator[Redis]:
    """One for a single test, which may kill it."""
    with Redis() as redis:
        yield redis
