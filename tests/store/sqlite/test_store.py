"""What is true of the SQLite store alone: its file, its durability, its neighbours in other processes."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import Fenced, NewerSchema, StoreError, UnknownDebate
from moot.core.evolve import fold
from moot.core.statuses import Status
from moot.store.contract import DebateFilter, IdempotencyKey
from moot.store.extension_tables import ExtensionSchemas
from moot.store.sql import sql
from moot.store.sqlite import queries
from moot.store.sqlite.connect import connect, run_statement
from moot.store.sqlite.store import SqliteStore
from moot.testing.event_factories import call_started, delta, opened, turn_started
from moot.testing.store_contract import append_streamed
from tests.store.other_process import remark


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "moot.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore.open(path)
    yield store
    await store.close()


def elsewhere(path: Path, *what: str, crash_at: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.store.other_process", str(path), *what],
        env={**os.environ, "MOOT_CRASH_AT": crash_at},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def in_table(path: Path, table: str, debate_id: str = "d1") -> list[int]:
    with closing(connect(path)) as connection:
        rows = connection.execute(f"SELECT seq FROM {table} WHERE debate_id = ?", (debate_id,))
        return [row[0] for row in rows]


async def open_call(store: SqliteStore, debate_id: str = "d1") -> None:
    await store.record(debate_id, lambda _: [opened(), turn_started(), call_started()])


# --- the file -----------------------------------------------------------------------------------------


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_the_files_are_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "moot.db"
    with umask(0):
        store = SqliteStore.open(path)
        await store.record("d1", remark)
    assert mode(path.parent) == 0o700
    assert {file.name: mode(file) for file in path.parent.iterdir()} == {
        "moot.db": 0o600,
        "moot.db-wal": 0o600,
        "moot.db-shm": 0o600,
    }
    await store.close()


async def test_a_file_that_was_open_to_all_is_made_private(path: Path) -> None:
    with umask(0):
        path.touch(0o666)
        await SqliteStore.open(path).close()
    assert mode(path) == 0o600


async def test_every_connection_is_durable(store: SqliteStore) -> None:
    await store.record("d1", remark)
    await asyncio.gather(*(store.read("d1") for _ in range(50)))
    assert len(store._connections) >= 3
    for connection in store._connections:
        for pragma, value in {
            "synchronous": 2,
            "journal_mode": "wal",
            "foreign_keys": 1,
            "secure_delete": 1,
        }.items():
            assert connection.execute(f"PRAGMA {pragma}").fetchone()[0] == value


async def test_a_reopened_store_goes_on(path: Path) -> None:
    first = SqliteStore.open(path)
    await open_call(first)
    await append_streamed(first, "d1", [delta("well")], epoch=0)
    before = await first.state("d1")
    await first.close()
    assert not path.with_name("moot.db-wal").exists()
    second = SqliteStore.open(path)
    assert await second.state("d1") == before
    assert (await append_streamed(second, "d1", [delta(" now")], epoch=0)).debate.live[0].text == "well now"
    await second.close()


async def test_a_closed_store_says_so(path: Path) -> None:
    store = SqliteStore.open(path)
    await store.record("d1", remark)
    await store.close()
    for asking in (store.record("d1", remark), store.read("d1"), store.delete("d1")):
        with pytest.raises(StoreError, match="closed"):
            await asking


def test_a_newer_schema_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(NewerSchema, match="99"):
        SqliteStore.open(path)


async def test_a_store_of_the_first_schema_is_brought_up_to_date(path: Path) -> None:
    """As 0.1 wrote it: debates that have ended, with settled and with fresh events, and one that has not."""
    first = files("moot.store.sqlite.migrations").joinpath("0001_first.sql").read_text("utf-8")
    row = "INSERT INTO debates VALUES (?, ?, 'me', ?, 'Cats', 'free', 2, 0, '', '2026-03-01T12:00:00Z', '{}')"
    event = "VALUES (?, ?, ?, 0, '{}')"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{first}; PRAGMA user_version = 1")
        connection.execute(row, (1, "settled", "completed"))
        connection.execute(row, (2, "fresh", "error"))
        connection.execute(row, (3, "running", "debating"))
        rows = [("settled", 1, "2026-03-03T12:00:00.25Z"), ("fresh", 1, "2026-03-01T12:00:00Z")]
        connection.executemany(f"INSERT INTO events (debate_id, seq, at, epoch, body) {event}", rows)
        connection.execute(
            f"INSERT INTO fresh (debate_id, seq, at, epoch, body) {event}",
            ("fresh", 2, "2026-03-02T12:00:00Z"),
        )
        judged = '{"judges":[{"model":{"provider":"acme","name":"cat"}}]}'
        connection.execute("UPDATE events SET body = ? WHERE debate_id = 'settled'", (judged,))
        connection.execute("""UPDATE debates SET summary = '{"models":["acme/owl"]}' WHERE id = 'settled'""")
        connection.commit()
    store = SqliteStore.open(path)
    assert await store.ended_before(datetime(2026, 3, 4, tzinfo=UTC)) == ("fresh", "settled")
    assert await store.ended_before(datetime(2026, 3, 3, tzinfo=UTC)) == ("fresh",)
    assert await store.tokens() == ()
    for model in ("acme/owl", "owl", "acme/cat", "cat"):
        assert [head.id for head in (await store.list(DebateFilter(model=model))).heads] == ["settled"]
    await store.close()


def test_a_file_of_another_kind_is_refused(path: Path) -> None:
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(StoreError, match=r"not a store of Moot: .*moot.db"):
        SqliteStore.open(path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"Not a directory: .*moot.db"):
        SqliteStore.open(tmp_path / "file" / "moot.db")


async def test_many_processes_may_open_a_new_file_at_once(path: Path) -> None:
    opening = (asyncio.to_thread(elsewhere, path, "remark", "3") for _ in range(6))
    done = await asyncio.gather(*opening)
    assert [result.returncode for result in done] == [0] * 6, [result.stderr for result in done]
    seqs = sorted(int(line) for result in done for line in result.stdout.split())
    assert seqs == list(range(1, 19))


# --- lists --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("owner", [None, "me"])
@pytest.mark.parametrize("statuses", [(), ("debating",), ("created", "debating", "completed")])
@pytest.mark.parametrize("more", [{}, {"format": "oxford"}, {"model": "parrot"}, {"since": date(2026, 1, 5)}])
async def test_lists_walk_an_index_and_sort_nothing(
    store: SqliteStore, path: Path, owner: str | None, statuses: tuple[Status, ...], more: dict[str, Any]
) -> None:
    page = queries.LISTS.page(DebateFilter(owner, statuses, **more), limit=20, offset=0)
    with closing(connect(path)) as connection:
        steps = run_statement(connection, sql(f"EXPLAIN QUERY PLAN {page.text}", **page.values))
    plan = [step[3] for step in steps]
    assert not [step for step in plan if "SCAN" in step or "TEMP B-TREE" in step], plan


async def test_what_ended_long_ago_is_found_by_an_index(store: SqliteStore, path: Path) -> None:
    with closing(connect(path)) as connection:
        keeps = ExtensionSchemas({}, ("invitations.debate_id",)).keeps_sql
        text = f"EXPLAIN QUERY PLAN {queries.LISTS.ended_before.format(keeps=keeps)}"
        steps = run_statement(connection, sql(text, before=datetime.now(UTC), limit=100))
    plan = [step[3] for step in steps]
    assert "SEARCH debates USING INDEX debates_ended (turned_at<?)" in plan
    assert not [step for step in plan if "SCAN" in step or "TEMP B-TREE" in step], plan


async def test_reading_a_log_sorts_nothing(store: SqliteStore, path: Path) -> None:
    """Seen from outside: the slice of a long log costs no more than that of a short one."""
    with closing(connect(path)) as connection:
        steps: list[str] = []
        connection.set_trace_callback(steps.append)
        queries.events(connection, "d1", 5, 10)
        connection.set_trace_callback(None)
        plan = [step[3] for step in connection.execute(f"EXPLAIN QUERY PLAN {steps[0]}").fetchall()]
    assert not [step for step in plan if "TEMP B-TREE" in step or step in ("SCAN events", "SCAN fresh")], plan


# --- other processes ----------------------------------------------------------------------------------


async def test_what_another_process_wrote_is_seen(store: SqliteStore, path: Path) -> None:
    await store.record("d1", remark)
    assert elsewhere(path, "remark", "5").stdout.split() == ["2", "3", "4", "5", "6"]
    outcome = await store.record("d1", remark)
    assert outcome.debate.seq == 7
    assert outcome.debate.remarks[-1].number == 6
    assert outcome.debate == await store.state("d1") == fold(await store.read("d1"))


async def test_two_processes_may_write_the_same_debate_at_once(store: SqliteStore, path: Path) -> None:
    await store.record("d1", remark)
    other = asyncio.create_task(asyncio.to_thread(elsewhere, path, "remark", "100"))
    for _ in range(100):
        await store.record("d1", remark)
        await asyncio.sleep(0.002)
    assert (await other).returncode == 0
    records = await store.read("d1")
    assert [recorded.seq for recorded in records] == list(range(1, 202))
    debate = await store.state("d1")
    assert [remark.number for remark in debate.remarks] == list(range(1, 201))


async def test_a_claim_by_another_process_fences_us(store: SqliteStore, path: Path) -> None:
    await open_call(store)
    await append_streamed(store, "d1", [delta("a")], epoch=0)
    assert elsewhere(path, "claim").stdout.strip() == "1"
    with pytest.raises(Fenced):
        await append_streamed(store, "d1", [delta("b")], epoch=0)
    with pytest.raises(Fenced):
        await store.claim("d1", "me", seen_epoch=0)


async def test_a_debate_deleted_by_another_process_is_gone(store: SqliteStore, path: Path) -> None:
    await open_call(store)
    elsewhere(path, "delete")
    with pytest.raises(UnknownDebate):
        await append_streamed(store, "d1", [delta("a")], epoch=0)
    with pytest.raises(UnknownDebate):
        await store.state("d1")


async def test_only_changes_from_elsewhere_are_reported(store: SqliteStore, path: Path) -> None:
    await store.record("d1", remark)
    assert not await store.changed_elsewhere()
    elsewhere(path, "remark")
    assert await store.changed_elsewhere()
    assert not await store.changed_elsewhere()
    elsewhere(path, "remark")
    await store.record("d1", remark)
    assert await store.changed_elsewhere()
    assert not await store.changed_elsewhere()


# --- deletion -----------------------------------------------------------------------------------------

CANARY = "canary-5f3a91"


async def test_deleted_text_is_in_no_file(store: SqliteStore, path: Path) -> None:
    once = IdempotencyKey("client", f"key {CANARY}", "hash")
    words = f"so {CANARY} said "
    await store.record(
        "gone",
        lambda _: [opened(motion=f"Motion {CANARY}"), turn_started(), call_started()],
        owner=f"owner {CANARY}",
        once=once,
        bodies={"short": CANARY.encode(), "long": CANARY.encode() * 1000},
    )
    await open_call(store, "stays")
    for _ in range(60):
        await asyncio.gather(
            append_streamed(store, "gone", [delta(words)] * 20, epoch=0),
            append_streamed(store, "stays", [delta("la")], epoch=0),
        )
    assert all(in_table(path, table, "gone") for table in ("events", "fresh"))
    assert CANARY.encode() in b"".join(file.read_bytes() for file in path.parent.iterdir())
    await store.delete("gone")
    for file in path.parent.iterdir():
        assert CANARY.encode() not in file.read_bytes(), file
    assert (await store.state("stays")).live[0].text == "la" * 60


async def test_deleted_text_goes_once_a_reader_elsewhere_lets_it(store: SqliteStore, path: Path) -> None:
    await store.record("gone", lambda _: [opened(motion=CANARY)])
    with closing(connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM debates").fetchall()
        await store.delete("gone")
        await store.record("other", remark)
        reader.execute("ROLLBACK")
    async with asyncio.timeout(60):
        while CANARY.encode() in b"".join(file.read_bytes() for file in path.parent.iterdir()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


# --- trouble ------------------------------------------------------------------------------------------


def limit_pages(store: SqliteStore, pages: int) -> None:
    store._writer._connection.execute(f"PRAGMA max_page_count = {pages}")


async def test_a_full_disk_is_survived(store: SqliteStore, path: Path) -> None:
    await open_call(store)
    before = await store.state("d1")
    limit_pages(store, 1)
    results = await asyncio.gather(
        append_streamed(store, "d1", [delta("x" * 100_000)], epoch=0),
        store.record("d2", lambda _: [opened(motion="y" * 100_000)]),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [StoreError, StoreError]
    assert str(results[0]) == "The disk is full."
    assert isinstance(results[0], StoreError)
    assert isinstance(results[0].__cause__, sqlite3.Error)
    assert await store.state("d1") == before
    assert (await store.list()).total == 1
    limit_pages(store, 1_000_000)
    after = await append_streamed(store, "d1", [delta("back")], epoch=0)
    assert (after.debate.seq, after.debate.live[0].text) == (4, "back")
    with closing(connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


async def test_on_a_full_disk_what_still_fits_is_written(store: SqliteStore) -> None:
    await open_call(store)
    limit_pages(store, 1)
    results = await asyncio.gather(
        *(append_streamed(store, "d1", [delta(text)], epoch=0) for text in ("a", "x" * 100_000, "b")),
        return_exceptions=True,
    )
    assert [isinstance(result, StoreError) for result in results] == [False, True, False]
    debate = await store.state("d1")
    assert (debate.seq, debate.live[0].text) == (5, "ab")


async def test_one_item_that_cannot_be_written_harms_no_neighbour(store: SqliteStore) -> None:
    results = await asyncio.gather(
        store.record("d1", remark),
        store.record("d2", remark, owner="\ud800"),
        store.record("d3", remark),
        return_exceptions=True,
    )
    assert isinstance(results[1], UnicodeEncodeError)
    assert set(await store.positions(["d1", "d2", "d3"])) == {"d1", "d3"}


async def test_a_locked_file_is_waited_for(store: SqliteStore, path: Path) -> None:
    with closing(connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(store.record("d1", remark))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        assert await store.read("d1") == ()
        other.execute("ROLLBACK")
    assert (await waiting).debate.seq == 1


async def test_events_settle_and_are_read_across_the_seam(store: SqliteStore, path: Path) -> None:
    await open_call(store)
    for i in range(12):
        await append_streamed(store, "d1", [delta(f"{i} ")] * 100, epoch=0)
    await append_streamed(store, "d1", [], epoch=0)  # by now the writer has settled what it had to
    settled, fresh = in_table(path, "events"), in_table(path, "fresh")
    assert settled + fresh == list(range(1, 1204))
    assert len(fresh) < len(settled)
    records = await store.read("d1", after=900, limit=250)
    assert [recorded.seq for recorded in records] == list(range(901, 1151))
    assert (await store.head("d1")).version == (await store.positions(["d1"]))["d1"].version == 1203


async def test_a_file_locked_for_too_long_is_an_error_and_then_none(store: SqliteStore, path: Path) -> None:
    await store.record("d1", remark)
    store._writer._connection.execute("PRAGMA busy_timeout = 20")
    with closing(connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        for asking in (store.record("d1", remark), store.delete("d1")):
            with pytest.raises(StoreError, match="Another process keeps the store locked"):
                await asking
        assert (await store.state("d1")).seq == 1
        other.execute("ROLLBACK")
    assert (await store.record("d1", remark)).debate.seq == 2


async def test_events_that_cannot_settle_stay_where_they_are(store: SqliteStore, path: Path) -> None:
    await open_call(store)
    with closing(connect(path)) as other:
        other.execute("INSERT INTO events VALUES ('d1', 50, '', 0, '')")
        await append_streamed(store, "d1", [delta("a")] * 1200, epoch=0)
        await append_streamed(store, "d1", [delta("b")], epoch=0)
        await append_streamed(store, "d1", [], epoch=0)
        assert len(in_table(path, "fresh")) == 1204
        other.execute("DELETE FROM events")
    await append_streamed(store, "d1", [delta("c")], epoch=0)
    await append_streamed(store, "d1", [], epoch=0)
    assert in_table(path, "fresh") == []
    assert in_table(path, "events") == list(range(1, 1206))


@pytest.mark.parametrize("where", ["before-commit", "after-commit"])
@pytest.mark.parametrize("passage", [1, 2, 7])
async def test_what_was_acknowledged_survives_a_kill(path: Path, where: str, passage: int) -> None:
    killed = elsewhere(path, "remark", "20", crash_at=f"{where}:{passage}")
    assert killed.returncode == -9
    acknowledged = [int(line) for line in killed.stdout.split()]
    assert acknowledged == list(range(1, passage))
    store = SqliteStore.open(path)
    seqs = [recorded.seq for recorded in await store.read("d1")]
    assert seqs == list(range(1, passage + (where == "after-commit")))
    assert (await store.record("d1", remark)).debate.seq == len(seqs) + 1
    await store.close()


async def test_a_kill_in_a_migration_leaves_nothing_half_done(path: Path) -> None:
    assert elsewhere(path, "open", crash_at="before-migration:1").returncode == -9
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 0
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    store = SqliteStore.open(path)
    assert (await store.record("d1", remark)).debate.seq == 1
    await store.close()


async def test_a_kill_while_events_settle_loses_none(path: Path) -> None:
    killed = elsewhere(path, "remark", "1100", crash_at="settling:1")
    assert killed.returncode == -9
    store = SqliteStore.open(path)
    assert [recorded.seq for recorded in await store.read("d1", limit=2000)] == list(range(1, 1001))
    assert (await store.record("d1", remark)).debate.seq == 1001
    await store.close()


async def test_a_listener_that_fails_keeps_nobody_waiting(store: SqliteStore) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    def fail(debate_id: str, records: object) -> None:
        raise ValueError("deaf")

    store.listen(fail)
    assert (await store.record("d1", remark)).debate.seq == 1
    assert len(complaints) == 1


# --- long debates -------------------------------------------------------------------------------------


async def test_a_debate_longer_than_a_page_is_folded_whole(path: Path) -> None:
    store = SqliteStore.open(path)
    await open_call(store)
    for _ in range(5):
        await append_streamed(store, "d1", [delta("word ") for _ in range(500)], epoch=0)
    expected = await store.state("d1")
    await store.close()
    store = SqliteStore.open(path)
    assert await store.state("d1") == expected
    assert expected.live[0].text == "word " * 2500
    assert len(await store.read("d1", after=3, limit=5000)) == 2500
    await store.close()


async def test_the_states_kept_are_bounded(path: Path) -> None:
    store = SqliteStore.open(path, states=5)
    for i in range(20):
        await store.record(f"d{i}", remark)
    assert len(store._states) == 5
    for i in range(20):
        assert (await store.record(f"d{i}", remark)).debate.remarks[0].text == "from elsewhere"
    await store.close()
