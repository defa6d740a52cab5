"""The tables of experiments in databases of each version from before they had migrations of their own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest

from moot.core.errors import StoreError
from moot.extension import using
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.store.contract import Store
from moot.store.extension_tables import Database, numbered_scripts
from moot.store.postgres import migrations as postgres_migrations
from moot.store.postgres.store import PostgresStore
from moot.store.sqlite import migrations as sqlite_migrations
from moot.store.sqlite.store import SqliteStore
from tests.support.postgres import postgres_url

__all__ = ["postgres_url"]

LAST = {"sqlite": 10, "postgres": 7}
"""The last number that the core and experiments shared. The last three were those of experiments."""
VERSIONS = [(database, number) for database, last in LAST.items() for number in range(last + 1)]
LEG = """
    INSERT INTO experiments (name, definition, state, epoch, created_at, updated_at)
    VALUES ('league', '{}', 'done', 1, '2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z');
    INSERT INTO experiment_legs (experiment, leg, debate_id, reserved, result)
    VALUES ('league', 'a.0', 'deb_1', 300, '{"status":"completed"}');
"""
"""One that is over, written by the first version that had experiments."""


def scripts_before(database: Database, version: int) -> list[str]:
    """Those that made a database of this version, in their order."""
    package = sqlite_migrations if database == "sqlite" else postgres_migrations
    core = dict(numbered_scripts(files(package.__name__)))
    shared = LAST[database] - 3
    last = len(EXPERIMENTS.adopted)
    own = {shared + number: text for number, text in EXPERIMENTS.scripts(database).items() if number <= last}
    scripts = {number: text for number, text in core.items() if number <= shared} | own
    assert sorted(scripts) == list(range(1, LAST[database] + 1))
    scripts[shared + 1] += LEG
    return [scripts[number] for number in range(1, version + 1)]


def make_sqlite(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for script in scripts_before("sqlite", version):
            connection.executescript(script)
        connection.execute(f"PRAGMA user_version = {version}")


def make_postgres(server: str, version: int) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS older")
        connection.execute("CREATE DATABASE older")
    url = re.sub("/postgres[?]", "/older?", server)
    with psycopg.connect(url, autocommit=True) as connection:
        if version:
            connection.execute(
                "CREATE TABLE moot_schema (version integer PRIMARY KEY, at timestamptz NOT NULL)"
            )
        for number, script in enumerate(scripts_before("postgres", version), start=1):
            connection.execute(script.encode())
            connection.execute("INSERT INTO moot_schema VALUES (%s, now())", [number])
    return url


class Older:
    """A database of an earlier version."""

    def __init__(self, database: str, version: int, folder: Path, request: pytest.FixtureRequest) -> None:
        self.has_legs = version > LAST[database] - 3
        self._path, self._url = folder / "moot.db", ""
        if database == "sqlite":
            make_sqlite(self._path, version)
        else:
            self._url = make_postgres(request.getfixturevalue("postgres_url"), version)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Store]:
        store = await PostgresStore.open(self._url, pool=2) if self._url else SqliteStore.open(self._path)
        yield store
        await store.close()


@pytest.fixture(params=VERSIONS, ids=lambda one: f"{one[0]}-{one[1]}")
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Older:
    return Older(*request.param, tmp_path, request)


async def check(store: Store, older: Older) -> None:
    """Its legs are there, and the tables have every column of today."""
    experiments = store.tables(EXPERIMENTS)
    assert [leg.leg for leg in await experiments.legs("league")] == (["a.0"] if older.has_legs else [])
    assert (await experiments.counts("league")).settled == int(older.has_legs)
    saved = await experiments.save("new", "{}")
    assert saved.beat_at is not None
    assert await experiments.reserve("new", saved.epoch, "b.0", "deb_2", 300, None)
    assert await experiments.reserve_again("new", "b.0", 400, None, held=3)
    assert [leg.held for leg in await experiments.held_legs("new")] == [3]


async def test_a_database_of_any_version_is_brought_up_to_date(older: Older) -> None:
    async with older.opened() as store:
        await check(store, older)
    async with older.opened() as store:
        assert (await store.tables(EXPERIMENTS).counts("new")).reserved == 1


async def test_also_when_it_was_opened_without_experiments_before(older: Older) -> None:
    with using():
        async with older.opened() as store:
            with pytest.raises(StoreError, match="experiments was not loaded"):
                store.tables(EXPERIMENTS)
    async with older.opened() as store:
        await check(store, older)
