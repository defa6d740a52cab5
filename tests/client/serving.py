"""A real `moot serve` in a process of its own, with scripted speakers."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen
from typing import IO

from tests.cli.terminal import environment
from tests.support.moot_process import Moot

SECONDS = 60.0


class Served:
    """`url` stays the same over restarts."""

    def __init__(self, data: Path, pace_ms: int, **more: str) -> None:
        lifted = {"MOOT_RATE_LIMIT_PER_MINUTE": "0", "MOOT_MAX_DEBATES_PER_CLIENT": "0"}
        self.env = environment(data, pace_ms, **{**lifted, "MOOT_MODEL": "scripted/demo", **more})
        self.url = ""
        self.process: Popen[str] | None = None

    def start(self) -> None:
        port = self.url.rpartition(":")[2] or "0"
        self.process = Moot("serve", "--port", port, env=self.env, stdout=PIPE, stderr=STDOUT, text=True)
        assert self.process.stdout is not None
        said = ""
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", said)):
            said += (line := self.process.stdout.readline())
            if not line:
                self.process.stdout.close()
                self.process.wait(SECONDS)
                raise AssertionError(f"it did not start:\n{said}")
        self.url = found[0]
        # Whatever else it says must not fill the pipe and stop it.
        threading.Thread(target=_swallow, args=(self.process.stdout,), daemon=True).start()

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(SECONDS)

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)


def _swallow(output: IO[str]) -> None:
    with output:
        for _ in output:
            pass


@contextmanager
def served(data: Path, pace_ms: int = 0, **more: str) -> Generator[Served]:
    server = Served(data, pace_ms, **more)
    server.start()
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.kill()
