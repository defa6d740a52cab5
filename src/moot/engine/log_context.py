"""Where we are: the request, debate and turn that every line logged from here belongs to.

The marks go along into tasks and threads that begin here. A task may outlive the request that gave rise to
it, as a runner does; from then on it no longer bears that request's mark.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

LogFields = ChainMap[str, str | int]

_here: ContextVar[LogFields | None] = ContextVar("log_fields", default=None)


def current_fields() -> Mapping[str, str | int]:
    return _here.get() or {}


@contextmanager
def log_fields(**marks: str | int) -> Generator[None]:
    """Whatever is logged inside bears these marks, beside those from outside."""
    own = LogFields(marks, *(around.maps if (around := _here.get()) else ()))
    before = _here.set(own)
    try:
        yield
    finally:
        # Tasks that began here hold the same map, and are no part of this any more.
        marks.clear()
        _here.reset(before)
