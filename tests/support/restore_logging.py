"""What the log of this process was before a test turned it on as a server does."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator

import pytest

from moot.web import logging_setup


@pytest.fixture
def log_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Afterwards: a handler that is left behind writes to a closed stream, in somebody else's test."""
    names = ("", "moot", "moot.access", *logging_setup.QUIET_LOGGERS)
    before = {name: logging.getLogger(name) for name in names}
    state = {name: (lg.handlers, lg.level, lg.propagate) for name, lg in before.items()}
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    yield
    logging.captureWarnings(False)
    for name, (handlers, level, propagate) in state.items():
        logger = before[name]
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
