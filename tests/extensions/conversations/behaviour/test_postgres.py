"""Conversations in a real PostgreSQL: imported and exported, during other writes and after kills."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from moot.core.errors import Invalid, Unavailable
from moot.extensions.conversations import exporting, importing
from moot.extensions.conversations.exporting import DDL
from moot.extensions.conversations.importing import ImportProgress, import_rows
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.row_io.readers import parse_location
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore
from tests.cli.terminal import MOOT, environment
from tests.support.old_rows import Row, in_lines, ordered, rows

MANY = 10_000


def fill(url: str, table: str, given: Iterable[Row]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(table)))
        connection.execute(sql.SQL(DDL).format(sql.Identifier(table)))
        insert(connection, table, given)


def insert(connection: psycopg.Connection[Any], table: str, given: Iterable[Row]) -> None:
    columns = "id, conversation_id, role, segments, reasoning, order_key, ts, created_at"
    copy = f"COPY {table} ({columns}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(copy) as copied:
        for row in given:
            told = {
                **row,
                "segments": Jsonb(row["segments"]),
                "reasoning": None if row["reasoning"] is None else Jsonb(row["reasoning"]),
            }
            copied.write_row(list(told.values()))


def content(url: str, table: str) -> list[Row]:
    with psycopg.connect(url) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        found = connection.execute(f"SELECT to_jsonb(t) FROM {table} t").fetchall()
    return ordered(row for (row,) in found)


@pytest.fixture(scope="module")
def old() -> list[Row]:
    return rows(MANY)


@pytest.fixture(scope="module")
def full(postgres_url: str, old: list[Row]) -> str:
    """A table with all of them."""
    fill(postgres_url, "events", old)
    return postgres_url


async def test_thoughts_in_any_form_come_here_and_go_back_as_they_were(postgres_url: str) -> None:
    part = {"summary_index": 0, "type": "summary_text", "text": "Hm"}
    forms = [[part], [{"item_id": "rs_1", "parts": {"0": part}}, {"item_id": "rs_2"}], "Let me see.", '"', {}]
    given = [{**row, "segments": [], "reasoning": form} for row, form in zip(rows(5), forms, strict=True)]
    fill(postgres_url, "thoughts", given)
    store = MemoryStore()
    report = (await import_rows(store.tables(CONVERSATIONS), parse_location(postgres_url, "thoughts"))).report
    assert (report.compare_counts()[1], report.is_complete) == (("reasoning", 6, 6), True)
    await exporting.write_rows(
        parse_location(postgres_url, "again"), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert content(postgres_url, "again") == content(postgres_url, "thoughts")


async def test_ten_thousand_rows_come_here_and_go_back_as_they_were(
    full: str, old: list[Row], tmp_path: Path
) -> None:
    store = SqliteStore.open(tmp_path / "moot.db")
    outcome = await import_rows(store.tables(CONVERSATIONS), parse_location(full))
    assert outcome.report.is_complete
    assert outcome.caught_up
    assert (outcome.new, outcome.changed) == (MANY, 0)
    assert outcome.report.seen.rows == MANY
    assert outcome.report.seen.segments == outcome.report.kept.segments
    given = await exporting.write_rows(
        parse_location(full, "back"), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert (given.rows, given.existing, given.problems) == (MANY, 0, [])
    assert content(full, "back") == content(full, "events")
    await store.close()


async def test_what_is_written_meanwhile_is_caught_up_with(postgres_url: str) -> None:
    """A row in the middle of what was read already, and one that grows while it is being streamed."""
    first, later = rows(600), sorted(rows(20, seed=8), key=lambda row: row["id"])
    fill(postgres_url, "busy", first)
    store = MemoryStore()
    grown = min(first, key=lambda row: row["id"])["id"]
    with psycopg.connect(postgres_url, autocommit=True) as connection:

        def meanwhile(progress: ImportProgress) -> None:
            if later:
                insert(connection, "busy", [later.pop(0)])
            if progress.passed == 0 and progress.done == 300:
                more = Jsonb([{"type": "text", "text": "and so on"}])
                connection.execute("UPDATE busy SET segments = segments || %s WHERE id = %s", (more, grown))

        outcome = await import_rows(
            store.tables(CONVERSATIONS),
            parse_location(postgres_url, "busy"),
            batch=100,
            on_progress=meanwhile,
        )
    assert outcome.caught_up
    assert outcome.report.is_complete
    assert (outcome.new, outcome.changed) == (620, 1)
    assert outcome.import_.passes > 2
    given = await exporting.write_rows(
        parse_location(postgres_url, "busy_back"), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert given.rows == 620
    assert content(postgres_url, "busy_back") == content(postgres_url, "busy")
    again = await exporting.write_rows(
        parse_location(postgres_url, "busy_back"), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert (again.rows, again.existing) == (0, 620)


async def test_an_import_that_was_killed_goes_on_where_it_was(postgres_url: str, tmp_path: Path) -> None:
    fill(postgres_url, "long", rows(2000))
    env = environment(tmp_path / "data", MOOT_CRASH_AT="after-commit:8")
    command = [*MOOT, "import", "legacy", postgres_url, "--table", "long", "--batch", "100"]
    killed = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    store = SqliteStore.open(tmp_path / "data" / "moot.db")
    (import_,) = await store.tables(CONVERSATIONS).imports()
    assert import_.state == "running"
    brought = sum(
        one.events for one in (await store.tables(CONVERSATIONS).conversations(limit=1000)).conversations
    )
    assert brought == 700
    seen: list[ImportProgress] = []
    outcome = await import_rows(
        store.tables(CONVERSATIONS), parse_location(postgres_url, "long"), batch=100, on_progress=seen.append
    )
    assert outcome.import_.id == import_.id
    assert outcome.new == 1300
    assert sum(one.passed == 0 for one in seen) == 13, "what was read before is not read again in this pass"
    assert outcome.report.is_complete
    await store.close()


async def test_ids_that_are_none_or_not_alone_are_told(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            """
            CREATE TABLE loose
            (id text, conversation_id text, role text, segments json, order_key text, ts bigint)
            """
        )
        row = "INSERT INTO loose VALUES (%s, 'c', 'user', '[]', %s, 1)"
        for number, name in enumerate((None, "-a", "b", "b", "b", "c")):
            connection.execute(row, (name, str(number)))
    store = MemoryStore()
    outcome = await import_rows(store.tables(CONVERSATIONS), parse_location(postgres_url, "loose"), batch=2)
    assert outcome.report.seen.rows == 6
    assert [event.id for event in await store.tables(CONVERSATIONS).events("c")] == ["-a", "b", "c"]
    assert [(one.row, one.reason.split(",")[0]) for one in outcome.report.problems] == [
        ("a row without id", "id is missing"),
        ("b", importing.DUPLICATE_ROW),
        ("b", importing.DUPLICATE_ROW),
    ]
    assert not outcome.report.is_complete


async def test_rows_that_are_counted_have_their_number_for_a_name(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            """
            CREATE TABLE counted AS SELECT id, 7::bigint AS conversation_id, 'user' AS role,
            '[]'::jsonb AS segments, lpad(id::text, 3, '0') AS order_key, id AS ts
            FROM generate_series(1::bigint, 12) AS id
            """
        )
    outcome = await import_rows(
        (store := MemoryStore()).tables(CONVERSATIONS), parse_location(postgres_url, "counted"), batch=5
    )
    assert (outcome.new, outcome.report.is_complete) == (12, True)
    assert [event.id for event in await store.tables(CONVERSATIONS).events("7")] == [
        str(n) for n in range(1, 13)
    ]


async def test_a_row_that_is_no_jsonb_stops_nothing(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            """
            CREATE TABLE plain
            (id text PRIMARY KEY, conversation_id text, role text, segments json, order_key text, ts bigint)
            """
        )
        for name, text in (("a", "\\u0000"), ("b", "\\ud800"), ("c", "Hi")):
            told = f'[{{"type": "text", "text": "{text}"}}]'
            connection.execute("INSERT INTO plain VALUES (%s, 'c', 'user', %s, 'k', 1)", (name, told))
    outcome = await import_rows(
        (store := MemoryStore()).tables(CONVERSATIONS), parse_location(postgres_url, "plain")
    )
    assert [(one.row, one.reason) for one in outcome.report.problems] == [("b", "not JSON")]
    assert [event.id for event in await store.tables(CONVERSATIONS).events("c")] == ["a", "c"], (
        "one after the other in a tie"
    )


async def test_rows_that_the_table_does_not_take_are_told_and_the_others_are_given(
    postgres_url: str, tmp_path: Path
) -> None:
    store, told = MemoryStore(), rows(4)
    told[1]["id"] = "no-uuid"
    told[2]["created_at"] = 1_746_090_000.5
    await import_rows(
        store.tables(CONVERSATIONS), parse_location(str(in_lines(tmp_path / "old.jsonl", told)))
    )
    fill(postgres_url, "picky", [])
    given = await exporting.write_rows(
        parse_location(postgres_url, "picky"), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert given.rows == 2
    assert [problem.row for problem in given.problems] == ["no-uuid", told[2]["id"]]


def types(url: str, table: str) -> list[str]:
    query = "SELECT data_type FROM information_schema.columns WHERE table_name = %s ORDER BY ordinal_position"
    with psycopg.connect(url) as connection:
        return [name for (name,) in connection.execute(query, (table,)).fetchall()][:2]


async def test_ids_that_are_text_get_columns_of_text(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "BATCH", 2)
    store, told = MemoryStore(), rows(8)
    told[5]["id"] = "row-5"
    await import_rows(
        store.tables(CONVERSATIONS), parse_location(str(in_lines(tmp_path / "old.jsonl", told)))
    )
    given = await exporting.write_rows(
        parse_location(postgres_url, "texts"), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert (given.rows, given.problems) == (8, [])
    assert types(postgres_url, "texts") == ["text", "uuid"]
    assert sorted(row["id"] for row in content(postgres_url, "texts")) == sorted(row["id"] for row in told)
    plain = MemoryStore()
    await import_rows(
        plain.tables(CONVERSATIONS), parse_location(str(in_lines(tmp_path / "plain.jsonl", rows(3))))
    )
    await exporting.write_rows(
        parse_location(postgres_url, "uuids"), exporting.imported_rows(plain.tables(CONVERSATIONS))
    )
    assert types(postgres_url, "uuids") == ["uuid", "uuid"]


def test_a_row_that_is_refused_leaves_nothing_of_the_driver_on_standard_error(
    postgres_url: str, tmp_path: Path
) -> None:
    told = rows(1500)
    told[2]["created_at"] = 1_746_090_000.5
    env = environment(tmp_path / "data")
    ways = (
        ["import", "legacy", str(in_lines(tmp_path / "old.jsonl", told))],
        ["export", "legacy", postgres_url, "--table", "refusing"],
    )
    done = [
        subprocess.run([*MOOT, *way], env=env, capture_output=True, text=True, check=False) for way in ways
    ]
    assert [one.stderr for one in done] == ["", ""]
    assert [one.returncode for one in done] == [0, 1]
    assert told[2]["id"] in done[1].stdout


async def test_a_password_is_neither_kept_nor_told(postgres_url: str, tmp_path: Path) -> None:
    secret = "hush-hush-hush"
    known = psycopg.conninfo.conninfo_to_dict(postgres_url)
    address = f"postgresql://{known['user']}:{secret}@/{known['dbname']}?host={known['host']}"
    fill(postgres_url, "quiet", rows(3))
    place = parse_location(address, "quiet")
    assert secret not in place.label
    assert secret not in repr(place)
    store = SqliteStore.open(tmp_path / "moot.db")
    await import_rows(store.tables(CONVERSATIONS), place)
    await store.close()
    with sqlite3.connect(tmp_path / "moot.db") as connection:
        assert not any(secret in line for line in connection.iterdump())
    connection.close()
    with pytest.raises(Invalid) as refused:
        parse_location(f"postgresql://me:{secret}%@nowhere:port/x")
    assert secret not in str(refused.value)
    for wrong in (
        parse_location(address, "nowhere"),
        parse_location(address.replace("host=", "host=/nowhere")),
    ):
        with pytest.raises(Unavailable) as lost:
            await import_rows(MemoryStore().tables(CONVERSATIONS), wrong)
        assert secret not in f"{lost.value!r} {lost.value.__cause__!r}"
