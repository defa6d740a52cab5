"""A lock between processes: whoever holds the file open and locked goes first; death lets go."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

POLL_SECONDS = 0.2

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _take(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def file_lock(file: Path, waiting: Callable[[], None]) -> Generator[None]:
    """Hold the lock; `waiting` is called again and again while someone else does."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _take(descriptor):
            waiting()
            time.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)
