"""Old conversations in files: brought here in batches, reported to the last row, given back, taken back."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import Invalid, Unavailable
from moot.core.visibility import OWNER
from moot.extensions.conversations import exporting, importing
from moot.extensions.conversations.debates import conversation
from moot.extensions.conversations.exporting import DDL
from moot.extensions.conversations.importing import ImportProgress, import_rows, undo_import
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.installation import install_command
from moot.row_io.readers import JsonLinesRowReader, parse_location
from moot.store.memory import MemoryStore
from moot.store.sqlite.store import SqliteStore
from tests.support.old_rows import EACH, Row, from_sqlite, in_lines, in_sqlite, insert_sqlite, ordered, rows
from tests.views.logs import held

MANY = 10_000


@pytest.fixture(scope="module")
def many() -> list[Row]:
    return rows(MANY)


@pytest.fixture(scope="module")
def full(many: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return in_sqlite(tmp_path_factory.mktemp("old") / "old.db", many)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "moot.db")
    yield store
    await store.close()


async def test_ten_thousand_rows_come_here_and_go_back_as_they_were(
    store: SqliteStore, full: Path, many: list[Row], tmp_path: Path
) -> None:
    seen: list[ImportProgress] = []
    outcome = await import_rows(
        store.tables(CONVERSATIONS), parse_location(str(full)), on_progress=seen.append
    )
    report = outcome.report
    assert report.is_complete
    assert (outcome.new, outcome.changed, report.bad, report.conversations) == (MANY, 0, 0, MANY // EACH)
    assert report.compare_counts() == [
        ("rows", MANY, MANY),
        ("reasoning", n := sum(row["reasoning"] is not None for row in many), n),
        ("tool_call", n := _count(many, "tool_call"), n),
        ("tool_result", n := _count(many, "tool_result"), n),
    ]
    assert report.seen.segments["image"] == report.kept.segments["image"] > 0
    assert [one.done for one in seen if one.passed == 0] == list(range(1000, MANY + 1, 1000))
    back = tmp_path / "back.db"
    given = await exporting.write_rows(
        parse_location(str(back)), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert (given.rows, given.problems) == (MANY, [])
    assert ordered(from_sqlite(back)) == ordered(many)


def _count(given: list[Row], kind: str) -> int:
    return sum(segment["type"] == kind for row in given for segment in row["segments"])


async def test_a_dry_run_reports_the_same_and_writes_nothing(store: SqliteStore, tmp_path: Path) -> None:
    old = parse_location(str(in_sqlite(tmp_path / "old.db", rows(60))))
    dry = await import_rows(store.tables(CONVERSATIONS), old, dry=True)
    assert await store.tables(CONVERSATIONS).imports() == ()
    assert (await store.tables(CONVERSATIONS).conversations()).total == 0
    real = await import_rows(store.tables(CONVERSATIONS), old)
    assert dry.report.compare_counts() == real.report.compare_counts()
    assert (dry.new, real.new) == (60, 60)
    theirs = await import_rows(store.tables(CONVERSATIONS), old, owner="somebody else", dry=True)
    assert theirs.report.problems[0].reason == importing.OTHER_IMPORT
    assert theirs.report.kept.rows == 0


async def test_asked_again_it_brings_what_has_come_and_changed_since(
    store: SqliteStore, tmp_path: Path
) -> None:
    given = rows(60)
    old = in_sqlite(tmp_path / "old.db", given[:50])
    first = await import_rows(store.tables(CONVERSATIONS), parse_location(str(old)))
    with sqlite3.connect(old) as connection:
        insert_sqlite(connection, given[50:])
        connection.execute("UPDATE events SET order_key = 'zz' WHERE id = ?", (given[0]["id"],))
    connection.close()
    again = await import_rows(store.tables(CONVERSATIONS), parse_location(str(old)))
    assert again.import_.id == first.import_.id
    assert (again.new, again.changed, again.report.is_complete) == (10, 1, True)
    events = await store.tables(CONVERSATIONS).events(given[0]["conversation_id"])
    assert events[-1].id == given[0]["id"]


async def test_a_row_written_while_it_is_read_is_caught_up_with(tmp_path: Path) -> None:
    given = rows(90)
    old = in_sqlite(tmp_path / "old.db", given[:60])
    coming = given[60:]
    store = MemoryStore()
    with sqlite3.connect(old) as writer:

        def meanwhile(_: ImportProgress) -> None:
            with writer:
                insert_sqlite(writer, coming[:5])
                writer.execute("UPDATE events SET ts = ts + 1 WHERE rowid = 1")
            del coming[:5]

        outcome = await import_rows(
            store.tables(CONVERSATIONS),
            parse_location(str(old)),
            batch=20,
            on_progress=lambda p: meanwhile(p) if coming else None,
        )
    writer.close()
    assert (outcome.new, outcome.caught_up, outcome.report.is_complete) == (90, True, True)
    assert outcome.changed >= 1
    await exporting.write_rows(
        parse_location(str(tmp_path / "back.db")), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert ordered(from_sqlite(tmp_path / "back.db")) == ordered(from_sqlite(old))


async def test_a_source_that_never_rests_is_left_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MOST_PASSES", 3)
    old = in_sqlite(tmp_path / "old.db", rows(5))
    with sqlite3.connect(old) as writer:

        def meanwhile(_: ImportProgress) -> None:
            with writer:
                writer.execute("UPDATE events SET ts = ts + 1")

        outcome = await import_rows(
            MemoryStore().tables(CONVERSATIONS), parse_location(str(old)), on_progress=meanwhile
        )
    writer.close()
    assert not outcome.caught_up
    assert outcome.import_.passes == 3


async def test_taking_an_import_back_leaves_the_others(store: SqliteStore, tmp_path: Path) -> None:
    one = await import_rows(
        store.tables(CONVERSATIONS), parse_location(str(in_lines(tmp_path / "one.jsonl", rows(30))))
    )
    other = await import_rows(
        store.tables(CONVERSATIONS), parse_location(str(in_lines(tmp_path / "two.jsonl", rows(30, seed=2))))
    )
    assert await undo_import(store.tables(CONVERSATIONS), one.import_.id) == 30
    assert [import_.id for import_ in await store.tables(CONVERSATIONS).imports()] == [other.import_.id]
    assert (
        sum(found.events for found in (await store.tables(CONVERSATIONS).conversations()).conversations) == 30
    )
    with pytest.raises(Invalid, match="There is no import"):
        await undo_import(store.tables(CONVERSATIONS), one.import_.id)


async def test_two_imports_of_one_source_at_the_same_time_are_one(store: SqliteStore, tmp_path: Path) -> None:
    place = parse_location(str(in_lines(tmp_path / "old.jsonl", rows(60))))
    both = await asyncio.gather(
        *(import_rows(store.tables(CONVERSATIONS), place, batch=10) for _ in range(2))
    )
    assert all(outcome.report.is_complete for outcome in both)
    assert sum(outcome.new for outcome in both) == 60
    assert len(await store.tables(CONVERSATIONS).imports()) == 1


async def test_what_is_being_taken_back_does_not_come_again_meanwhile(tmp_path: Path) -> None:
    place, archive = (
        parse_location(str(in_lines(tmp_path / "old.jsonl", rows(30)))),
        MemoryStore().tables(CONVERSATIONS),
    )
    first = await import_rows(archive, place)
    await archive.undo_import(first.import_.id, 10)
    with pytest.raises(Invalid, match=f"moot import undo {first.import_.id}"):
        await import_rows(archive, place)
    assert await undo_import(archive, first.import_.id) == 20
    assert (await import_rows(archive, place)).new == 30


async def test_rows_that_cannot_be_read_are_reported_and_stop_nothing(tmp_path: Path) -> None:
    good, bad, same = rows(3)
    lines = [
        json.dumps(good),
        "",
        "{not json",
        "[]",
        json.dumps({**bad, "role": None, "segments": [{"type": "tool_call"}]}),
        json.dumps({**bad, "segments": '[{"type": "text", "text": "as text"}]'}),
        json.dumps({**good, "ts": 9}),
        json.dumps({**same, "reasoning": 1}),
        json.dumps({**same, "extra": "@"}).replace('"@"', "[" * 600 + "]" * 600),
        '{"half": ',
    ]
    file = tmp_path / "old.jsonl"
    file.write_text("\n".join(lines), "utf-8-sig")
    outcome = await import_rows(
        (store := MemoryStore()).tables(CONVERSATIONS), parse_location(str(file)), batch=2
    )
    report = outcome.report
    assert (report.seen.rows, report.kept.rows, report.bad) == (9, 2, 7)
    assert [problem.reason.partition(",")[0] for problem in report.problems] == [
        "not a JSON object",
        "not a JSON object",
        "role is missing",
        importing.DUPLICATE_ROW,
        "reasoning is no object",
        importing.TOO_DEEP,
        "not a JSON object",
    ]
    assert report.problems[2].row == bad["id"]
    assert [problem.row for problem in report.problems if problem.reason == "not a JSON object"] == [
        "line 3",
        "line 4",
        "line 10",
    ]
    assert not report.is_complete
    accounts = {name: seen - kept for name, seen, kept in report.compare_counts()}
    assert accounts["tool_call"] >= 1, "what a bad row had in it is counted as found"
    assert accounts["reasoning"] >= 1
    assert outcome.caught_up
    assert (await store.tables(CONVERSATIONS).conversations()).total == 1


def test_lines_are_counted_on_where_an_earlier_version_stored_only_the_byte(tmp_path: Path) -> None:
    file = tmp_path / "old.jsonl"
    file.write_text('{"id": "a"}\n\n{"id": "b"}\n{not json\n')
    reader = JsonLinesRowReader(parse_location(str(file)))
    batch = reader.read(str(len('{"id": "a"}\n\n')), 10)
    assert [row.name for row in batch.rows] == ["b", "line 4"]
    assert reader.read(batch.cursor, 10).rows == []


@pytest.mark.parametrize("kind", ["jsonl", "db"])
async def test_thoughts_in_any_form_are_taken_counted_and_given_back(tmp_path: Path, kind: str) -> None:
    thought = {"item_id": "rs_1", "output_index": 0, "parts": {"0": {"text": "First"}}}
    part = {"summary_index": 0, "type": "summary_text", "text": "Hm"}
    forms = [
        [part, {**part, "summary_index": 1}],
        [thought, {**thought, "item_id": "rs_2"}],
        "Let me see.",
        [],
    ]
    given = [{**row, "segments": [], "reasoning": form} for row, form in zip(rows(4), forms, strict=True)]
    old, back = tmp_path / f"old.{kind}", tmp_path / f"back.{kind}"
    if kind == "db":
        in_sqlite(old, given)
        with sqlite3.connect(old) as connection:
            connection.execute("UPDATE events SET reasoning = ? WHERE rowid = 3", (forms[2],))
        connection.close()
    else:
        in_lines(old, given)
    store = MemoryStore()
    report = (await import_rows(store.tables(CONVERSATIONS), parse_location(str(old)))).report
    assert (report.compare_counts()[1], report.bad, report.is_complete) == (("reasoning", 4, 4), 0, True)
    await exporting.write_rows(
        parse_location(str(back)), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    if kind == "db":
        assert len({_reasoning(path) for path in (old, back)}) == 1
    else:
        assert [json.loads(line) for line in back.read_text().splitlines()] == given


def _reasoning(path: Path) -> tuple[Any, ...]:
    with closing(sqlite3.connect(path)) as connection:
        return tuple(sorted(connection.execute("SELECT id, reasoning FROM events")))


@pytest.mark.parametrize("kind", ["jsonl", "db"])
async def test_a_value_of_reasoning_means_the_same_in_every_source(tmp_path: Path, kind: str) -> None:
    values = ["Let me see.", "", None, 42, False, 1.5, "42", '{"parts": ["Hm."]}']
    given = [{**row, "segments": [], "reasoning": value} for row, value in zip(rows(8), values, strict=True)]
    old, back = tmp_path / f"old.{kind}", tmp_path / f"back.{kind}"
    (in_sqlite if kind == "db" else in_lines)(old, given)
    if kind == "db":
        with sqlite3.connect(old) as connection:
            told = [
                (json.dumps(row["reasoning"]), row["id"]) for row in given if row["reasoning"] is not None
            ]
            connection.executemany("UPDATE events SET reasoning = ? WHERE id = ?", told)
        connection.close()
    store = MemoryStore()
    report = (await import_rows(store.tables(CONVERSATIONS), parse_location(str(old)))).report
    assert [problem.row for problem in report.problems] == [given[n]["id"] for n in (3, 4, 5)]
    assert {problem.reason for problem in report.problems} == {"reasoning is no object, array or text"}
    assert report.kept.segments == {"reasoning": 3}
    await exporting.write_rows(
        parse_location(str(back)), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    again = MemoryStore()
    second = (await import_rows(again.tables(CONVERSATIONS), parse_location(str(back)))).report
    assert (second.bad, second.kept.segments) == (0, report.kept.segments)
    shapes = [
        [
            row.reasoning
            for batch in [b async for b in exporting.imported_rows(one.tables(CONVERSATIONS))]
            for row in batch
        ]
        for one in (store, again)
    ]
    assert shapes[0] == shapes[1]
    assert "Let me see." in shapes[0]


async def test_columns_that_the_old_shape_does_not_have_are_kept(tmp_path: Path) -> None:
    given = [
        {**row, "user_id": 5, "response_metadata": {"completion_status": "interrupted"}} for row in rows(3)
    ]
    store = MemoryStore()
    await import_rows(
        store.tables(CONVERSATIONS), parse_location(str(in_lines(tmp_path / "old.jsonl", given)))
    )
    await exporting.write_rows(
        parse_location(str(tmp_path / "back.jsonl")), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert [json.loads(line) for line in (tmp_path / "back.jsonl").read_text().splitlines()] == given


async def test_bytes_that_are_no_text_spoil_their_row_alone(tmp_path: Path) -> None:
    old = in_sqlite(tmp_path / "old.db", rows(3))
    with sqlite3.connect(old) as connection:
        connection.execute("UPDATE events SET role = CAST(x'ff' AS TEXT) WHERE rowid = 1")
        connection.execute("UPDATE events SET segments = x'00' WHERE rowid = 2")
        connection.execute("UPDATE events SET id = CAST(x'fefe' AS TEXT) WHERE rowid = 3")
    connection.close()
    outcome = await import_rows(MemoryStore().tables(CONVERSATIONS), parse_location(str(old)))
    assert (outcome.new, outcome.report.bad) == (0, 3)
    assert outcome.report.problems[2].row == "??"


async def test_json_that_is_kept_as_bytes_is_read(tmp_path: Path) -> None:
    old = in_sqlite(tmp_path / "old.db", rows(5))
    with sqlite3.connect(old) as connection:
        connection.execute("UPDATE events SET segments = CAST(segments AS BLOB), reasoning = ' null'")
    connection.close()
    outcome = await import_rows(MemoryStore().tables(CONVERSATIONS), parse_location(str(old)))
    assert (outcome.new, outcome.report.is_complete) == (5, True)


@pytest.mark.parametrize(
    ("typed", "kind", "words"),
    [
        ("nowhere.db", Unavailable, "cannot be read"),
        ("nowhere.jsonl", Unavailable, "cannot be read"),
        ("text.db", Invalid, "is no SQLite file"),
        ("mysql://me:pw@host/db", Invalid, "none of PostgreSQL"),
        ("host=db password=pw", Invalid, "none of PostgreSQL"),
        ("view.db", Invalid, "copy it into a plain table"),
        ("rowless.db", Invalid, "copy it into a plain table"),
        ("empty.db", Unavailable, "no such table"),
        ("other.db", Invalid, "has no column conversation_id"),
    ],
)
async def test_a_source_that_is_none_says_why(
    tmp_path: Path, typed: str, kind: type[Exception], words: str
) -> None:
    (tmp_path / "text.db").write_text("hello")
    for name, table in (("empty.db", "others"), ("other.db", "events")):
        with sqlite3.connect(tmp_path / name) as connection:
            connection.execute(f"CREATE TABLE {table} (id, role)")
        connection.close()
    with sqlite3.connect(in_sqlite(tmp_path / "view.db", rows(1))) as connection:
        connection.execute("ALTER TABLE events RENAME TO others")
        connection.execute("CREATE VIEW events AS SELECT * FROM others")
    connection.close()
    with sqlite3.connect(tmp_path / "rowless.db") as connection:
        connection.execute(f"{DDL.format('events').replace('DEFAULT now()', '')} WITHOUT ROWID")
    connection.close()
    where = str(tmp_path / typed) if typed.endswith(("db", "jsonl")) and "://" not in typed else typed
    with pytest.raises(kind, match=words) as refused:
        await import_rows(MemoryStore().tables(CONVERSATIONS), parse_location(where))
    assert "pw" not in str(refused.value)


def test_without_the_driver_of_postgresql_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Unavailable) as missing:
        parse_location("postgresql://me@db.example/app")
    assert missing.value.fix == install_command("cluster")


@pytest.mark.parametrize("table", ["", "a b", "events; drop", 'e"x', "a.b.c"])
def test_a_table_is_a_plain_name(table: str) -> None:
    with pytest.raises(Invalid, match="--table"):
        parse_location("old.db", table)


async def test_a_debate_is_given_in_the_old_shape_too(tmp_path: Path) -> None:
    debate = held().debate
    store = MemoryStore()
    given = exporting.rows_of(debate)
    assert [row.role for row in given] == ["system"] + ["assistant"] * 4
    assert [row.order_key for row in given] == sorted(row.order_key for row in given)
    assert given[1].reasoning is not None
    assert given[1].reasoning["combined_text"] == "Lead with safety."
    assert exporting.rows_of(debate) == given, "the same ids each time"
    place = parse_location(str(in_lines(tmp_path / "debate.jsonl", [row.shape() for row in given])))
    assert (await import_rows(store.tables(CONVERSATIONS), place)).report.is_complete
    (found,) = (await store.tables(CONVERSATIONS).conversations()).conversations
    told = await store.tables(CONVERSATIONS).events(found.id)
    assert len(told) == len(conversation(debate, OWNER))


async def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    store, given = MemoryStore(), rows(4)
    await import_rows(
        store.tables(CONVERSATIONS), parse_location(str(in_lines(tmp_path / "old.jsonl", given)))
    )
    table = in_sqlite(tmp_path / "back.db", [{**given[0], "ts": 1}])
    done = await exporting.write_rows(
        parse_location(str(table)), exporting.imported_rows(store.tables(CONVERSATIONS))
    )
    assert (done.rows, done.existing) == (3, 1)
    assert min(row["ts"] for row in from_sqlite(table)) == 1
    strict = in_sqlite(tmp_path / "strict.db", [])
    with sqlite3.connect(strict) as connection:
        connection.execute("ALTER TABLE events ADD COLUMN tenant text NOT NULL DEFAULT NULL")
    connection.close()
    with pytest.raises(Unavailable, match="NOT NULL"):
        await exporting.write_rows(
            parse_location(str(strict)), exporting.imported_rows(store.tables(CONVERSATIONS))
        )
    with pytest.raises(Invalid, match="is there already"):
        await exporting.write_rows(
            parse_location(str(tmp_path / "old.jsonl")), exporting.imported_rows(store.tables(CONVERSATIONS))
        )
