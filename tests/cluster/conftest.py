from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cluster.cellar import Postgres


@pytest.fixture(scope="session")
def postgres() -> Generator[Postgres]:
    """One for all tests here; each has a database of its own in it, and they come one after the other."""
    # Not in pytest's folder: another user runs it where we are root, and has to get there.
    folder = Path(tempfile.mkdtemp(prefix="moot-cluster-"))
    postgres = Postgres(folder)
    try:
        yield postgres
    finally:
        asyncio.run(postgres.stop())
        shutil.rmtree(folder, ignore_errors=True)
