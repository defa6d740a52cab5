"""Returns free memory to the system, in servers and workers.

Memory used in a burst is freed afterwards, but glibc keeps the pages for the next one, and the process stays
as large as it was. Here it is asked to return them, while there is little to do and only where it is worth
it. Other allocators do that by themselves, or cannot.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
GROWN = 8 * 1024 * 1024
"""Less growth than this is not worth the milliseconds."""
STATM = Path("/proc/self/statm")

Trim = Callable[[], object]
Resident = Callable[[], int]


def find_trim() -> Trim | None:
    """glibc's `malloc_trim`, during which other threads run; None where there is none."""
    if not sys.platform.startswith("linux"):
        return None
    with suppress(OSError, AttributeError):
        trim = ctypes.CDLL(None).malloc_trim
        return lambda: trim(ctypes.c_size_t(0))
    return None


def resident() -> int:
    """The bytes of this process that are in memory; 0 where that is unknown."""
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


class Trimmer:
    """Trims when the process has grown since the last time and grows no more."""

    def __init__(self, trim: Trim, resident: Resident = resident) -> None:
        self._trim = trim
        self._resident = resident
        self._least = self._before = resident()

    async def look(self) -> bool:
        """Whether it was worth trimming. Not while the process grows: its memory is in use then."""
        now, before = self._resident(), self._before
        self._before = now
        self._least = min(self._least, now)
        if now > before or now - self._least < GROWN:
            return False
        await asyncio.to_thread(self._trim)
        # The rest is in use or cannot be returned: only further growth counts.
        self._least = self._before = self._resident()
        log.debug("free memory was returned to the system", extra={"before": now, "after": self._least})
        return True


@asynccontextmanager
async def trimmed() -> AsyncGenerator[None]:
    """Check the process every few seconds while this lasts."""
    trim = find_trim()
    looking = asyncio.create_task(_keep_looking(trim), name="memory") if trim is not None else None
    try:
        yield
    finally:
        if looking is not None:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)


async def _keep_looking(trim: Trim) -> None:
    trimmer = Trimmer(trim)
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        await trimmer.look()
