"""What a model file needs of a machine, and whether this one has it: memory, disk, and the speed to expect.

Memory and speed are estimates from the size of the file. A model on a processor reads its whole file for
every token, so the speed is the memory's bandwidth divided by the size.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from moot.core.errors import Unavailable

CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
CONTEXT_BYTES = 600_000_000
"""The program itself, and 4,096 tokens of context."""
LAPTOP_BANDWIDTH = 25e9
"""Bytes a second that a common laptop reads from its memory."""
MAX_SPEED = 100
"""Small models are held up by computing, not by reading."""


def memory_needed(size: int) -> int:
    """An estimate, in bytes."""
    return int(size * 1.1) + CONTEXT_BYTES


def laptop_speed(size: int) -> int:
    """An estimate of the tokens a second on a laptop without a graphics card."""
    return max(1, min(MAX_SPEED, round(LAPTOP_BANDWIDTH / size)))


def total_memory() -> int | None:
    """The bytes of memory that this process may use at most; None where that cannot be found out."""
    sizes = [size for size in (_physical_memory(), *map(_limit, CGROUP_LIMITS)) if size]
    return min(sizes, default=None)


def check_memory(title: str, size: int) -> None:
    """Raises Unavailable where this machine has less memory than the model needs."""
    needed, there = memory_needed(size), total_memory()
    if there is not None and there < needed:
        message = f"{title} needs about {gigabytes(needed)} of memory; this machine has {gigabytes(there)}."
        raise Unavailable(message, "Choose a smaller model: `moot models` lists some.")


def check_disk(title: str, needed: int, folder: Path) -> None:
    """Raises Unavailable where the disk of this folder has less room than that."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        message = f"{title} needs {gigabytes(needed)} of disk space; {gigabytes(free)} are free."
        raise Unavailable(message, "Make room, or choose another data folder with MOOT_DATA.")


def gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _limit(path: str) -> int | None:
    """The limit of a container; None where there is none."""
    with suppress(OSError, ValueError):
        return int(Path(path).read_text())
    return None
