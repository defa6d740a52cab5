from tests.cli.conftest import data, hold, moot
from tests.page.conftest import chromium, complaints, context, page, served, watched
from tests.store.conftest import clock, empty_postgres, postgres_url, store
from tests.support.restore_logging import log_as_it_was

__all__ = [
    "chromium", "clock", "complaints", "context", "data", "empty_postgres", "hold", "log_as_it_was", "moot",
    "page", "postgres_url", "served", "store", "watched",
]  # fmt: skip
