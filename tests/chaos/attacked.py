"""A server that tells what memory it holds: `moot serve`, and a line of JSON for every SIGUSR1.

    python -m tests.chaos.attacked PORT

The line says how much the process holds (`rss`, in bytes), how many objects Python knows (`objects`) and how
many of those live for as long as a client is connected (`left`). With TRACED in the environment it also says
what Python has allocated since the first line (`traced`), and the lines of code that hold most of it (`top`).
At SIGUSR2 the allocator gives back what it can first.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import moot.cli

LEFT = ("Connection", "Upgraded", "RequestResponseCycle", "EventStream", "Watching", "Talk", "Feed")


def rss() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def tell(number: int, _: object) -> None:
    gc.collect()
    if number == signal.SIGUSR2:
        ctypes.CDLL(None).malloc_trim(0)
    held = rss()
    kinds = Counter(type(one).__name__ for one in gc.get_objects())
    told: dict[str, Any] = {"rss": held, "objects": sum(kinds.values())}
    told["left"] = {name: kinds[name] for name in LEFT if kinds[name]}
    if tracemalloc.is_tracing():
        told["traced"] = tracemalloc.get_traced_memory()[0]
        top = tracemalloc.take_snapshot().statistics("lineno")[:12]
        told["top"] = [f"{stat.size // 1024} KiB in {stat.count}: {stat.traceback}" for stat in top]
        told["kinds"] = kinds.most_common(15)
    elif os.environ.get("TRACED"):
        # What the program itself takes was there before, and to trace its reading would take minutes.
        tracemalloc.start()
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, tell)
    sys.argv = ["moot", "serve", "--port", sys.argv[1]]
    moot.cli.main()
