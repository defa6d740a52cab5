"""Clocks and a store on disk for the benchmarks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time

from msgspec import Struct


class Spent(Struct):
    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def measured() -> Iterator[Spent]:
    """Wall clock and CPU of the whole process, its threads included."""
    spent = Spent()
    wall, cpu = perf_counter(), process_time()
    try:
        yield spent
    finally:
        spent.wall, spent.cpu = perf_counter() - wall, process_time() - cpu


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="moot-bench-") as name:
        yield Path(name)


def report(what: str, figure: str, note: str = "") -> None:
    print(f"  {what:<58}{figure:>16}  {note}")
