"""What `MOOT_DEBUG=1` prints to standard error: log lines and tracebacks, without keys, passwords and what a
database says of itself. The server has a log of its own, with the same rules."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.web.logging_setup import LogFormatter


def show_debug_output() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_RedactedLines("%(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler])
    logging.getLogger("moot").setLevel(logging.INFO)
    sys.excepthook = _print_traceback


class _RedactedLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return _redactor().redacted(super().format(record))


def _print_traceback(_kind: type[BaseException], error: BaseException, _where: TracebackType | None) -> None:
    sys.stderr.write(_redactor().redacted("".join(traceback.format_exception(error))))


@cache
def _redactor() -> LogFormatter:
    """Loaded with the first line: most commands print none."""
    from pathlib import Path

    from moot import settings as configuration
    from moot.web.logging_setup import LogFormatter

    try:
        settings = configuration.load()
    except Exception:
        # They may be what is wrong.
        settings = configuration.Settings(Path())
    # Addresses of databases are arguments, too.
    words = (*sys.argv[1:], *os.environ.values())
    return LogFormatter(settings, [word for word in words if "://" in word and "@" in word])
