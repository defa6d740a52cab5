"""Tables of extensions: their migrations, what becomes of newer or broken ones, and what retention keeps."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec import Struct, field

from moot.core.errors import NewerSchema, StoreError
from moot.core.events import DebateEnded
from moot.extension import Extension, MemoryAccess, SqlAccess, Tables, using
from moot.store.contract import Store
from moot.testing.event_factories import opened
from tests.store.conftest import STORES, Clock, Ground

FIRST = "CREATE TABLE claims (debate_id text NOT NULL, text text NOT NULL)"
SECOND = "ALTER TABLE claims ADD COLUMN dropped bigint"
Reopen = Callable[..., Any]


class SqlClaims(Struct, frozen=True):
    access: SqlAccess

    async def add(self, debate: str, text: str) -> None:
        await self.access.write(
            "INSERT INTO claims (debate_id, text) VALUES (:debate, :text) RETURNING text",
            debate=debate,
            text=text,
        )

    async def texts(self) -> list[str]:
        return [row[0] for row in await self.access.query("SELECT text FROM claims ORDER BY text")]


class MemoryClaims(Struct, frozen=True):
    access: MemoryAccess
    claims: dict[str, str] = field(default_factory=dict[str, str])

    async def add(self, debate: str, text: str) -> None:
        self.claims[text] = debate

    async def texts(self) -> list[str]:
        return sorted(self.claims)


def _kept(claims: SqlClaims | MemoryClaims) -> Collection[str]:
    return [*claims.claims.values()] if isinstance(claims, MemoryClaims) else ()


TABLES: Tables[SqlClaims | MemoryClaims] = Tables(
    "flow",
    "acme_flow",
    sql=SqlClaims,
    memory=MemoryClaims,
    keeps="claims.debate_id",
    kept_in_memory=_kept,
    adopted=("claims.text",),
)
FLOW = Extension("flow", tables=lambda: TABLES)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package `acme_flow` with one migration."""
    folder = tmp_path / "acme_flow"
    folder.mkdir()
    (folder / "__init__.py").touch()
    write_migration(folder, 1, FIRST)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    sys.modules.pop("acme_flow", None)


def write_migration(package: Path, number: int, text: str) -> None:
    for database in ("sqlite", "postgres"):
        folder = package / "migrations" / database
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:04}_some.sql").write_text(f"{text};\n")


@pytest.fixture(params=["sqlite", "postgres"])
def ground(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Ground:
    if request.param == "postgres":
        forget(request.getfixturevalue("empty_postgres"))
    return Ground(tmp_path, clock, request)


def forget(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS claims")
        if (connection.execute("SELECT to_regclass('extension_schemas')").fetchone() or (None,))[0]:
            connection.execute("DELETE FROM extension_schemas WHERE name = 'flow'")


async def opened_store(ground: Ground) -> Store:
    return await STORES[ground.request.node.callspec.params["ground"]](ground)


def execute(ground: Ground, statement: str) -> list[tuple[Any, ...]]:
    """In the database, past the store."""
    if ground.request.node.callspec.params["ground"] == "sqlite":
        with closing(sqlite3.connect(ground.folder / "moot.db")) as connection, connection:
            return connection.execute(statement).fetchall()
    url: str = ground.request.getfixturevalue("empty_postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def version(ground: Ground) -> int:
    [[number]] = execute(ground, "SELECT version FROM extension_schemas WHERE name = 'flow'")
    return number


async def test_each_migration_runs_once(ground: Ground, package: Path) -> None:
    with using(FLOW):
        for _ in range(2):
            store = await opened_store(ground)
            await store.tables(TABLES).add("deb_1", "Cats purr.")
            await store.close()
        assert version(ground) == 1
        write_migration(package, 2, SECOND)
        store = await opened_store(ground)
        assert await store.tables(TABLES).texts() == ["Cats purr."] * 2
        await store.close()
    assert version(ground) == 2


async def test_tables_from_before_they_had_numbers_of_their_own_are_adopted(
    ground: Ground, package: Path
) -> None:
    with using():
        await (await opened_store(ground)).close()
    execute(ground, FIRST)
    write_migration(package, 2, SECOND)
    with using(FLOW):
        store = await opened_store(ground)
        assert await store.tables(TABLES).texts() == []
        await store.close()
    assert version(ground) == 2


async def test_newer_tables_are_refused_and_nothing_else(ground: Ground, package: Path) -> None:
    with using(FLOW):
        await (await opened_store(ground)).close()
        execute(ground, "UPDATE extension_schemas SET version = 9 WHERE name = 'flow'")
        store = await opened_store(ground)
        with pytest.raises(NewerSchema, match="schema 9 of the extension flow"):
            store.tables(TABLES)
        assert (await store.list()).total == 0
        await store.close()
    assert version(ground) == 9


async def test_a_migration_that_fails_costs_the_extension_not_the_store(
    ground: Ground, package: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_migration(package, 2, "ALTER TABLE nothing ADD COLUMN anything bigint")
    with using(FLOW):
        store = await opened_store(ground)
        with pytest.raises(StoreError, match="tables of the extension flow cannot be made"):
            store.tables(TABLES)
        assert (await store.list()).total == 0
        await store.close()
    assert version(ground) == 1
    assert "nothing" in caplog.text


async def test_what_was_not_loaded_when_the_store_was_opened_has_no_tables(
    ground: Ground, package: Path
) -> None:
    with using():
        store = await opened_store(ground)
    with pytest.raises(StoreError, match="flow was not loaded"):
        store.tables(TABLES)
    await store.close()


async def test_what_an_extension_keeps_is_not_deleted_for_its_age(
    ground: Ground, package: Path, clock: Clock
) -> None:
    with using(FLOW):
        store = await opened_store(ground)
        await check_retention(store, clock)
        await store.close()
    with using():
        store = await opened_store(ground)
        assert await store.ended_before(clock.now) == ("free",), "also without the extension"
        await store.close()


async def test_nor_in_memory(clock: Clock, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    await check_retention(await STORES["memory"](Ground(tmp_path, clock, request)), clock)


async def check_retention(store: Store, clock: Clock) -> None:
    for debate in ("kept", "free"):
        await store.record(debate, lambda _head: (opened(), DebateEnded("aborted")))
    await store.tables(TABLES).add("kept", "Cats purr.")
    clock.move(days=1)
    assert await store.ended_before(clock.now) == ("free",)
    assert await store.tables(TABLES).texts() == ["Cats purr."]
