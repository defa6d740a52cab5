"""Makes the databases of this version: see the package's docstring. Existing ones are kept."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from moot import __version__
from moot.core.events import Recorded
from moot.store.contract import AccessToken, IdempotencyKey, Store, StoredInvitation, digest
from moot.store.postgres import migrations
from moot.store.postgres.store import PostgresStore
from moot.store.sqlite.store import SqliteStore
from moot.testing import Clock
from tests.cli.terminal import MOOT, environment
from tests.golden.reading import log_of
from tests.store.releases.released import (
    CLIENT,
    EXPERIMENT,
    GOLDEN,
    HERE,
    IMPORTED,
    INVITED,
    TOKEN,
)
from tests.support import old_rows
from tests.support.postgres import Postgres

AT = Clock().now


class LogClock:
    """Shows the time of the event that is to be written."""

    def __init__(self) -> None:
        self.now = AT

    def __call__(self) -> datetime:
        return self.now


async def fill(store: Store, clock: LogClock) -> None:
    """What no command writes: the golden logs with their own times, tokens, invitations."""
    for name in GOLDEN:
        for recorded in log_of(name):
            clock.now = recorded.at
            await _write(store, recorded)
    clock.now = AT
    await store.save_token(AccessToken("ann", digest(TOKEN), "owner", "ann", AT))
    await store.save_token(AccessToken("guest", digest("guest"), "viewer", "", AT, AT + timedelta(days=1)))
    debate = log_of(GOLDEN[0])[0].debate
    hall = digest("hall")
    await store.add_invitation(StoredInvitation(debate, "hall", hall, "audience", AT, many=True))
    await store.add_invitation(StoredInvitation(debate, "bob", digest(INVITED), "audience", AT, via=hall))


async def _write(store: Store, recorded: Recorded) -> None:
    once = IdempotencyKey(CLIENT, recorded.debate, "hash") if recorded.seq == 1 else None
    await store.record(recorded.debate, lambda _: [recorded.event], owner="ann", once=once)
    if recorded.seq == 1:
        await store.claim(recorded.debate, "", epoch=recorded.epoch)


def hold(folder: Path, **store: str) -> None:
    """What commands write: an experiment and an import."""

    def moot(*arguments: str) -> str:
        env = environment(folder, 0, **store)
        command = [*MOOT, *arguments]
        done = subprocess.run(command, env=env, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    (folder / "league.toml").write_text(EXPERIMENT)
    old_rows.in_lines(folder / "old.jsonl", IMPORTED)
    moot("experiment", "run", "league.toml")
    # One of its two debates is deleted: its leg stays.
    newest = json.loads(moot("list", "--json", "--limit", "1"))["id"]
    moot("delete", newest, "--yes")
    moot("import", "legacy", "old.jsonl")


async def fill_sqlite(folder: Path) -> None:
    clock = LogClock()
    store = SqliteStore.open(folder / "moot.db", clock=clock)
    await fill(store, clock)
    await store.close()


async def fill_postgres(url: str) -> None:
    clock = LogClock()
    store = await PostgresStore.open(url, clock=clock)
    await fill(store, clock)
    await store.close()


def sqlite(folder: Path) -> str:
    asyncio.run(fill_sqlite(folder))
    hold(folder)
    with closing(sqlite3.connect(folder / "moot.db")) as connection:
        # As if there had been a thousand events since: the older ones are in the table of settled events.
        columns, older = "debate_id, seq, at, epoch, body", "FROM fresh WHERE debate_id < 'deb_b'"
        connection.execute(f"INSERT INTO events ({columns}) SELECT {columns} {older}")
        connection.execute(f"DELETE {older}")
        connection.execute("DELETE FROM bodies WHERE rowid > 2")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        return "\n".join([f"PRAGMA user_version = {version};", *connection.iterdump(), ""])


def postgres(folder: Path) -> str:
    """The migrations of this version, which make the tables, and the rows."""
    scripts = sorted(files(migrations).iterdir(), key=lambda file: file.name)
    with Postgres() as server:
        asyncio.run(fill_postgres(server.url))
        hold(folder, MOOT_STORE=server.url)
        with psycopg.connect(server.url) as connection:
            connection.execute("DELETE FROM bodies WHERE digest <> (SELECT min(digest) FROM bodies)")
            connection.execute("DELETE FROM landed WHERE ctid <> (SELECT min(ctid) FROM landed)")
            rows = [line for name in _tables(connection) for line in _rows(connection, name)]
            (counted,) = connection.execute(COUNTERS).fetchone() or ("",)
    schema = [file.read_text("utf-8") for file in scripts if file.name.endswith(".sql")]
    # Without triggers, which would count every row again.
    return "\n".join([*schema, VERSIONS, "SET session_replication_role = replica;", *rows, counted, ""])


VERSIONS = "CREATE TABLE moot_schema (version integer PRIMARY KEY, at timestamptz NOT NULL);"
COUNTERS = """
    SELECT string_agg(format('SELECT setval(%L, %s);', schemaname || '.' || sequencename, last_value), E'\n')
    FROM pg_sequences
    WHERE schemaname = 'public' AND last_value > 0 AND sequencename NOT LIKE 'procrastinate%'
"""


def _tables(connection: psycopg.Connection[tuple[Any, ...]]) -> list[str]:
    found = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'queue_schema' "
        "AND tablename NOT LIKE 'procrastinate%' ORDER BY tablename"
    )
    return [row[0] for row in found]


def _rows(connection: psycopg.Connection[tuple[Any, ...]], table: str) -> list[str]:
    columns = connection.execute(
        "SELECT column_name FROM information_schema.columns "
        "WHERE table_schema = 'public' AND table_name = %s ORDER BY ordinal_position",
        [table],
    ).fetchall()
    values = SQL(" || ', ' || ").join(
        SQL("quote_nullable({}::text)").format(Identifier(row[0])) for row in columns
    )
    lines = connection.execute(SQL("SELECT {} FROM {}").format(values, Identifier(table))).fetchall()
    into = SQL("INSERT INTO {} OVERRIDING SYSTEM VALUE VALUES").format(Identifier(table))
    return sorted(f"{into.as_string(connection)} ({line});" for (line,) in lines)


def main() -> int:
    kinds: dict[str, Callable[[Path], str]] = {"sqlite": sqlite, "postgres": postgres}
    for kind, dumped in kinds.items():
        path = HERE / f"{__version__}.{kind}.sql"
        if path.exists():
            sys.stdout.write(f"kept {path.name}\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(dumped(Path(folder)), "utf-8")
        sys.stdout.write(f"made {path.name}, {path.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
