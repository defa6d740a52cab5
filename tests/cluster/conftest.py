from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.support.postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Generator[Postgres]:
    """One for all tests here; each has a database of its own in it, and they come one after the other."""
    with Postgres() as postgres:
        yield postgres
