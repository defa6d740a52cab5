"""A database of every release is opened, read and written by the present code: see `releases/`."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec import Struct

from moot.core.errors import UnknownDebate
from moot.core.events import DebateEnded, RemarkInjected
from moot.core.evolve import fold
from moot.core.visibility import OWNER
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.extensions.experiments.tables import EXPERIMENTS
from moot.processes.backends import open_store
from moot.rules.turn_by_turn import row_key
from moot.settings import load
from moot.store.contract import DebateFilter, IdempotencyKey, Store, digest
from moot.store.postgres.store import PostgresStore
from moot.store.sqlite.store import SqliteStore
from moot.views.exports import documents, render
from moot.views.summary import summarize
from tests.cli.terminal import environment, piped
from tests.golden.reading import HERE as GOLDEN_LOGS
from tests.golden.reading import log_of, snapshot
from tests.golden.sessions import ROW
from tests.store.releases.released import CLIENT, GOLDEN, HERE, IMPORTED, INVITED, TOKEN
from tests.support import old_rows
from tests.support.postgres import empty_postgres, postgres_url

__all__ = ["empty_postgres", "postgres_url"]

DUMPS = sorted(path.name for path in HERE.glob("*.sql"))
SQLITE = [name for name in DUMPS if ".sqlite." in name]
POSTGRES = [name for name in DUMPS if ".postgres." in name]
BOOKKEEPING = ("moot_schema", "landed", "queue_schema", "extension_schemas")
"""Tables of PostgreSQL whose rows come and go with versions and writers."""


class Released(Struct, frozen=True):
    """A restored database, before this code has opened it."""

    environ: dict[str, str]
    text: str

    async def open(self) -> Store:
        return await open_store(load(self.environ))

    def moot(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = piped(self.environ, *arguments)
        assert done.returncode == 0, done.stderr
        return done


def restored_in_sqlite(path: Path, text: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(text)
    return path


def restored_in_postgres(postgres_url: str, text: str) -> str:
    """In a database of its own: the dump makes its tables."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS released")
        connection.execute("CREATE DATABASE released")
    url = re.sub("/postgres[?]", "/released?", postgres_url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(text.encode())
    return url


@pytest.fixture(params=DUMPS)
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Released:
    text = (HERE / request.param).read_text("utf-8")
    if request.param in SQLITE:
        restored_in_sqlite(tmp_path / "moot.db", text)
        return Released(environment(tmp_path), text)
    url = restored_in_postgres(request.getfixturevalue("postgres_url"), text)
    return Released(environment(tmp_path, MOOT_STORE=url), text)


@pytest.fixture
async def store(released: Released) -> AsyncIterator[Store]:
    store = await released.open()
    yield store
    await store.close()


async def debate_of_experiment(store: Store) -> str:
    (kept,) = [
        leg.debate
        for leg in await store.tables(EXPERIMENTS).legs("league")
        if await exists(store, leg.debate)
    ]
    return kept


async def exists(store: Store, debate_id: str) -> bool:
    try:
        await store.head(debate_id)
    except UnknownDebate:
        return False
    return True


# --- reading ------------------------------------------------------------------------------------------


async def test_its_golden_logs_say_what_they_always_said(store: Store) -> None:
    for name in GOLDEN:
        records = await store.read(f"deb_{name}")
        assert [(one.seq, one.at, one.event) for one in records] == [
            (one.seq, one.at, one.event) for one in log_of(name)
        ]
        assert snapshot(records) == (GOLDEN_LOGS / f"{name}.json").read_bytes()


async def test_its_debates_are_listed_and_shown(store: Store) -> None:
    page = await store.list()
    held = await debate_of_experiment(store)
    assert {head.id for head in page.heads} == {held, *(f"deb_{name}" for name in GOLDEN)}
    assert page.total == len(page.heads)
    for head in page.heads:
        debate = await store.state(head.id)
        assert debate == fold(await store.read(head.id))
        assert (debate.status, debate.motion, debate.seq) == (head.status, head.motion, head.version)
        summary = json.loads(head.summary)
        assert summary["id"] == summarize(debate).id == head.id
        assert all(render(name, debate, OWNER) for name in documents())
    assert [head.id for head in (await store.list(DebateFilter(statuses=("aborted",)))).heads] == [
        "deb_aborted"
    ]
    assert [head.id for head in (await store.list(DebateFilter(model="scripted/coin"))).heads] == [held]
    assert (await store.list(DebateFilter(owner="ann"))).total == len(GOLDEN)


async def test_its_experiment_is_read(released: Released, tmp_path: Path) -> None:
    status = released.moot("experiment", "status", "league").stdout
    assert "2 of 2" in status
    folder = tmp_path / "tables"
    released.moot("experiment", "export", "league", "-o", str(folder))
    lines = {table: (folder / f"{table}.jsonl").read_text().splitlines() for table in ("debates", "ballots")}
    assert {table: len(rows) for table, rows in lines.items()} == {"debates": 2, "ballots": 4}
    report = tmp_path / "league.md"
    released.moot("experiment", "report", "league", "-o", str(report))
    assert "scripted/two" in report.read_text("utf-8")


async def test_its_legs_and_their_results_are_there(store: Store) -> None:
    experiments = store.tables(EXPERIMENTS)
    stored = await experiments.experiment("league")
    assert stored is not None
    assert (stored.state, stored.epoch) == ("done", 1)
    counts = await experiments.counts("league")
    assert (counts.reserved, counts.settled, counts.failed) == (2, 2, 0)
    assert len(await experiments.side_shares()) == 2


async def test_its_conversation_is_given_back_row_by_row(released: Released, tmp_path: Path) -> None:
    store = await released.open()
    page = await store.tables(CONVERSATIONS).conversations()
    assert [one.events for one in page.conversations] == [len(IMPORTED)]
    assert [one.state for one in await store.tables(CONVERSATIONS).imports()] == ["done"]
    await store.close()
    back = tmp_path / "back.jsonl"
    released.moot("export", "legacy", str(back))
    rows: list[dict[str, Any]] = [json.loads(line) for line in back.read_text().splitlines()]
    assert old_rows.ordered(rows) == old_rows.ordered(IMPORTED)


async def test_its_session_is_found_by_its_former_id(store: Store) -> None:
    assert await store.find_sessions(row_key(str(ROW["id"]))) == ("deb_brought",)


async def test_its_tokens_and_invitations_count(store: Store) -> None:
    assert {token.name: token.owner for token in await store.tokens()} == {"ann": "ann", "guest": ""}
    assert digest(TOKEN) in {token.digest for token in await store.tokens()}
    invited = await store.invitation(digest(INVITED))
    assert invited is not None
    assert (invited.name, invited.role, invited.via) == ("bob", "audience", digest("hall"))
    assert [one.name for one in await store.invitations("deb_aborted")] == ["bob", "hall"]


async def test_its_requests_as_sent_are_there(released: Released, store: Store) -> None:
    kept = re.findall(r"INSERT INTO \"bodies\".*VALUES ?\('([^']+)', ?'([^']+)'", released.text)
    assert kept
    assert await exists(store, kept[0][0])
    body = await store.request_body(*kept[0])
    assert body is not None
    assert json.loads(body)


# --- writing ------------------------------------------------------------------------------------------


async def test_it_goes_on(store: Store) -> None:
    """New events follow the old ones, a new debate is listed first, and what is deleted is gone."""
    before = await store.state("deb_by-hand")
    result = await store.record("deb_by-hand", lambda _: [RemarkInjected(remark=9, text="Hear, hear.")])
    assert result.debate.seq == before.seq + 1
    opening = log_of("aborted")[0].event
    once = IdempotencyKey(CLIENT, "new", "hash")
    for _ in range(2):
        await store.record("deb_new", lambda _: [opening, DebateEnded(reason="stopped")], once=once)
    heads = (await store.list()).heads
    assert heads[0].id == "deb_new"
    assert len(heads) == len(GOLDEN) + 2
    await store.delete("deb_brought")
    assert await store.find_sessions(row_key(str(ROW["id"]))) == ()
    figures = await store.figures()
    assert sum(figures.statuses.values()) == len(GOLDEN) + 1


# --- tables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SQLITE)
async def test_a_migrated_file_has_the_tables_of_a_new_one_and_every_row(name: str, tmp_path: Path) -> None:
    old = restored_in_sqlite(tmp_path / "old.db", (HERE / name).read_text("utf-8"))
    before = rows_in_sqlite(old)
    for path in (old, tmp_path / "new.db"):
        await SqliteStore.open(path).close()
    after = rows_in_sqlite(old)
    assert all(before.values()), "a table without a row shows nothing"
    assert {table: after[table] for table in before} == before
    assert tables_in_sqlite(old) == tables_in_sqlite(tmp_path / "new.db")


def tables_in_sqlite(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
        return [(kind, name, re.sub(r"\s+", " ", sql or "")) for kind, name, sql in rows]


def rows_in_sqlite(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for kind, name, _ in tables_in_sqlite(path) if kind == "table"]
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}


@pytest.mark.parametrize("name", POSTGRES)
async def test_a_migrated_database_has_the_columns_of_a_new_one_and_every_row(
    name: str, empty_postgres: str
) -> None:
    old = restored_in_postgres(empty_postgres, (HERE / name).read_text("utf-8"))
    before = rows_in_postgres(old)
    for url in (old, empty_postgres):
        store = await PostgresStore.open(url, pool=2)
        await store.close()
    after = rows_in_postgres(old)
    assert all(before.values()), "a table without a row shows nothing"
    assert {table: after[table] for table in before} == before
    tables = {table for table, _, _ in columns_in_postgres(old)}
    # Other tests of the same server leave tables of the queue in the empty one.
    assert columns_in_postgres(old) == [
        row for row in columns_in_postgres(empty_postgres) if row[0] in tables
    ]


def columns_in_postgres(url: str) -> list[tuple[str, str, str]]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = 'public' ORDER BY table_name, column_name"
        )
        return [(table, column, kind) for table, column, kind in rows]


def rows_in_postgres(url: str) -> dict[str, int]:
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND NOT tablename = ANY(%s)",
            [list(BOOKKEEPING)],
        ).fetchall()
        return {
            name: connection.execute(f'SELECT count(*) FROM "{name}"'.encode()).fetchall()[0][0]
            for (name,) in tables
        }
