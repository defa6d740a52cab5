"""What tests and logs need from every layer: points at which a test kills the process, and log fields.

`MOOT_CRASH_AT=before-commit:3` kills the process the third time it passes `crash_point("before-commit")`. The
variable is read once, at import; without it a point costs one comparison.

`log_fields` names the request, debate or turn that every line logged inside belongs to. Tasks and threads
started inside inherit the fields. A task that outlives the block, as a runner outlives the request that
started it, loses them when the block ends.
"""

from __future__ import annotations

import os
import signal
from collections import ChainMap
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

LogFields = ChainMap[str, str | int]

_crash_name, _, _crash_passage = os.environ.get("MOOT_CRASH_AT", "").partition(":")
_passages = count(1)
_fields: ContextVar[LogFields | None] = ContextVar("log_fields", default=None)


def crash_point(name: str) -> None:
    if name == _crash_name and next(_passages) == int(_crash_passage or 1):
        os.kill(os.getpid(), signal.SIGKILL)


def current_fields() -> Mapping[str, str | int]:
    return _fields.get() or {}


@contextmanager
def log_fields(**fields: str | int) -> Generator[None]:
    """Add these fields to every line logged inside, beside those of the blocks around it."""
    outer = _fields.get()
    token = _fields.set(LogFields(fields, *(outer.maps if outer else ())))
    try:
        yield
    finally:
        # Tasks started inside share this dictionary and no longer belong here.
        fields.clear()
        _fields.reset(token)
