"""Clocks, and a folder for a store on disk."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import clock_gettime, perf_counter, process_time

import psutil
from msgspec import Struct

INSTALL_PEERS = "`.venv/bin/pip install -c constraints.txt -e '.[bench]'` installs the peers."


class Spent(Struct):
    """Seconds."""

    wall: float = 0.0
    cpu: float = 0.0


class Unavailable(Exception):
    """Something that a benchmark needs is not installed; the message says how to install it."""


def is_installed(package: str) -> bool:
    """Whether a peer can be measured; if not, says so on the terminal."""
    if importlib.util.find_spec(package) is not None:
        return True
    print(f"  {package} is not installed, so it is not measured: {INSTALL_PEERS}", file=sys.stderr)
    return False


@contextmanager
def measured() -> Iterator[Spent]:
    """Wall clock and CPU of this process, including its threads."""
    spent = Spent()
    wall, cpu = perf_counter(), process_time()
    try:
        yield spent
    finally:
        spent.wall, spent.cpu = perf_counter() - wall, process_time() - cpu


@contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="moot-bench-") as name:
        yield Path(name)


def process_cpu(pid: int) -> float:
    """CPU seconds of a process and its threads so far, to the nanosecond: /proc counts in steps of 10 ms.

    Linux derives the number of a process's clock from its id.
    """
    return clock_gettime((~pid << 3) | 2)


def process_tree_cpu(pid: int) -> float:
    """CPU seconds of a process and its children, including those that have ended."""
    process = psutil.Process(pid)
    seconds = process_cpu(pid)
    for child in process.children(recursive=True):
        with suppress(OSError):
            seconds += process_cpu(child.pid)
    ended = process.cpu_times()
    return seconds + ended.children_user + ended.children_system
