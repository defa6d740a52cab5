from __future__ import annotations

from urllib.parse import urlsplit

import psycopg
import pytest


@pytest.fixture(scope="session")
def postgres_url(postgres_url: str) -> str:
    """A database of another program, whose tables may have the names of ours."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE theirs")
    return urlsplit(postgres_url)._replace(path="/theirs").geturl()
