from tests.cli.conftest import data, hold, moot
from tests.page.conftest import chromium, complaints, context, page, served, watched
from tests.support.postgres import empty_postgres, postgres_url
from tests.support.restore_logging import log_as_it_was

__all__ = [
    "chromium", "complaints", "context", "data", "empty_postgres", "hold", "log_as_it_was", "moot", "page",
    "postgres_url", "served", "watched",
]  # fmt: skip
