"""The real program, as its user meets it: in a pipe, or on a terminal that can be typed into."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE

from tests.support.moot_process import Moot

SECONDS = 60.0
MOOT = (sys.executable, "-m", "moot")


def environment(data: Path, pace_ms: int = 0, **more: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == "MOOT_EXTENSIONS" or not name.startswith(("MOOT_", "COV_"))
    }
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        kept.pop(name, None)
    ours = {"MOOT_DATA": str(data), "MOOT_SCRIPTED": "1", "MOOT_OFFLINE": "1", "TERM": "xterm-256color"}
    return {**kept, **ours, "MOOT_SCRIPT_PACE_MS": str(pace_ms), **more}


def piped(env: Mapping[str, str], *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    with Moot(*arguments, env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True) as running:
        try:
            said, complained = running.communicate(stdin, timeout=SECONDS)
        except BaseException:
            running.kill()
            raise
    return subprocess.CompletedProcess(running.args, running.returncode, said, complained)


class Terminal:
    """A process on a terminal of its own."""

    def __init__(self, env: Mapping[str, str], *arguments: str, columns: int = 80, rows: int = 30) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = Moot(*arguments, env=env, terminal=True, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self._ours = ours
        self.output = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def until(self, words: str) -> str:
        """Everything printed up to these words, which are awaited."""
        end = time.monotonic() + SECONDS
        while words not in self.output:
            if time.monotonic() > end or not self._read(0.2):
                raise AssertionError(f"never saw {words!r} in:\n{self.output}")
        return self.output

    def ended(self) -> int:
        end = time.monotonic() + SECONDS
        while self._read(0.2) and time.monotonic() < end:
            pass
        return self.process.wait(SECONDS)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._ours], [], [], seconds)[0]:
            return self.process.poll() is None
        try:
            chunk = os.read(self._ours, 65536)
        except OSError:  # how Linux says that the other side has closed
            return False
        self.output += chunk.decode("utf-8", "replace")
        return bool(chunk)


ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def words(output: str) -> str:
    """What is left to read when our own styles and cursor movements are taken away."""
    return ESCAPE.sub("", output).replace("\r", "")
