from __future__ import annotations

from tests.cli.conftest import data, hold, log_as_it_was, moot
from tests.engine.conftest import open_arena
from tests.store.conftest import clock, empty_postgres, postgres_url, store
from tests.web.routes.conftest import served, slow

__all__ = [
    "clock",
    "data",
    "empty_postgres",
    "hold",
    "log_as_it_was",
    "moot",
    "open_arena",
    "postgres_url",
    "served",
    "slow",
    "store",
]
