"""The request, debate or turn that every line of the log belongs to which is written inside `log_fields`.

Tasks and threads started inside inherit the fields. A task that outlives the block, as a runner outlives the
request that started it, loses them when the block ends.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

LogFields = ChainMap[str, str | int]

_fields: ContextVar[LogFields | None] = ContextVar("log_fields", default=None)


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
