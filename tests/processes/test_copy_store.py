"""A store is moved from a file to PostgreSQL and back: whole, as it was, and on where it was broken off."""

from __future__ import annotations

import asyncio
import re
import shlex
import signal
import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import psycopg
import pytest
from msgspec import Raw, Struct
from msgspec.structs import replace
from psycopg.conninfo import conninfo_to_dict

from moot.core.errors import Invalid, StoreError, Unavailable
from moot.core.events import DebateOpened, RemarkInjected
from moot.core.evolve import fold
from moot.extensions.conversations.archive import Import
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.processes.copy_store import (
    CopyReport,
    OpenedStore,
    ReportProgress,
    batches,
    copy_store,
    open_for_copy,
    parse_address,
)
from moot.store.contract import AccessToken, DebateFilter, IdempotencyKey, Store, StoredInvitation
from moot.store.copying import DEBATES, table_groups, whole_tables
from moot.store.postgres.store import PostgresStore
from moot.store.runner_locks import RunnerLock
from moot.store.sql import Row
from moot.store.sqlite.copying_sqlite import SqliteTables
from moot.store.sqlite.store import SqliteStore
from moot.testing import event_factories
from moot.views.summary import summarize
from tests.cli.conftest import data, log_as_it_was, moot
from tests.cli.terminal import environment, piped
from tests.extensions.conversations.test_archive import event
from tests.golden.reading import HERE, log_of
from tests.support.postgres import empty_postgres, postgres_url
from tests.support.redis import redis_url

__all__ = ["data", "empty_postgres", "log_as_it_was", "moot", "postgres_url", "redis_url"]

Command = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[2]
GOLDEN = sorted(path.stem for path in HERE.glob("*.jsonl"))
AT = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
REMARK = RemarkInjected(remark=1, text="a \0 and \u2028")


def silent(done: int, total: int, words: str) -> None:
    pass


@asynccontextmanager
async def homes(*addresses: str, locks: Path = Path("nowhere")) -> AsyncGenerator[list[OpenedStore]]:
    """The first has to be there."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(open_for_copy(parse_address(address), locks, new=nth > 0))
            for nth, address in enumerate(addresses)
        ]


async def moved(
    source: str, target: str, *, told: ReportProgress = silent, resume: bool = False
) -> CopyReport:
    async with homes(source, target) as (old, new):
        return await copy_store(old, new, report=told, resume=resume)


async def everything(home: OpenedStore) -> dict[str, list[Row]]:
    held = {table.name: await home.tables.read_table(table) for table in whole_tables()}
    for kind in table_groups():
        ids = list(await home.tables.line_counts(kind))
        held |= {part.name: await home.tables.read_rows(part, ids) for part in kind.parts}
        held[kind.lines.name] = [row async for page in home.tables.read_pages(kind, ids) for row in page]
    return held


# --- what there is to move ------------------------------------------------------------------------------


class Line(Struct, frozen=True):
    """A line of a golden log, with its event as it was written."""

    debate: str
    seq: int
    at: str
    epoch: int
    event: Raw


async def keep_golden(belongings: SqliteTables, place: int, name: str) -> None:
    log = log_of(name)
    debate = fold(log)
    assert debate is not None
    lines = [
        msgspec.json.decode(line, type=Line) for line in (HERE / f"{name}.jsonl").read_bytes().splitlines()
    ]
    head = (
        *(debate.id, place, "ann", debate.status, debate.motion, debate.format.name, debate.unstreamed_seq),
        *(int(log[-1].at.timestamp()), lines[-1].epoch, lines[0].at),
        msgspec.json.encode(summarize(debate)).decode(),
    )

    async def pages() -> AsyncGenerator[list[Row]]:
        yield [(one.debate, one.seq, one.at, one.epoch, bytes(one.event).decode()) for one in lines]

    rows = {part.name: list[Row]() for part in DEBATES.parts} | {"debates": [head]}
    await belongings.write_group(DEBATES, [debate.id], rows, pages())


@pytest.fixture
async def golden(tmp_path: Path) -> str:
    path = tmp_path / "golden.db"
    belongings = await SqliteTables.open(path, tmp_path)
    for place, name in enumerate(GOLDEN, 1):
        await keep_golden(belongings, place, name)
    await belongings.close()
    return f"sqlite:{path}"


async def furnish(store: Store) -> None:
    """One of everything that a store can hold, and two debates."""
    once, judge = (
        IdempotencyKey("ann", "key", "hash"),
        StoredInvitation("d1", "Zoe", "digest-zoe", "judge", AT, judge="judge"),
    )
    opening = event_factories.opened(motion="Nothing \0 is better than everything")
    bodies = {"small": b"\0\xff", "large": b"many words " * 1000}
    await store.record("d1", lambda _: [opening], owner="ann", once=once, bodies=bodies)
    await store.record("d2", lambda _: [event_factories.opened()], owner="bob")
    await store.record("d1", lambda _: [REMARK])
    await store.claim("d1", "a runner that is dead", seen_epoch=0, epoch=70)
    await store.add_invitation(judge)
    await store.add_invitation(replace(judge, name="Late", digest="digest-late", many=True, expires_at=AT))
    await store.save_token(AccessToken("ann", "digest-ann", "owner", "ann", AT, AT + timedelta(days=9)))
    import_ = Import("imp_1", "ann", "/old/Events.jsonl", AT, AT, cursor="7")
    await store.tables(CONVERSATIONS).save(
        replace(import_, cursor=""), [event("1"), event("é", "a", conversation="c2")]
    )
    await store.tables(CONVERSATIONS).save(import_, [event("2", text="\0", legacy=Raw(b'{"at":  0}'))])


@pytest.fixture
async def furnished(tmp_path: Path) -> str:
    store = SqliteStore.open(tmp_path / "old.db", clock=lambda: AT)
    await furnish(store)
    await store.close()
    return f"sqlite:{tmp_path / 'old.db'}"


async def record(path: str, debate_id: str, said: Sequence[DebateOpened | RemarkInjected]) -> None:
    store = SqliteStore.open(path.removeprefix("sqlite:"))
    await store.record(debate_id, lambda _: said)
    await store.close()


# --- the way there and back -----------------------------------------------------------------------------


async def test_every_golden_log_comes_to_postgresql_and_back_byte_for_byte(
    golden: str, empty_postgres: str, tmp_path: Path
) -> None:
    done = await moved(golden, empty_postgres)
    assert done.differing == ()
    assert done.counts["debates"] == len(GOLDEN)
    store = await PostgresStore.open(empty_postgres)
    for name in GOLDEN:
        log = log_of(name)
        assert await store.read(log[0].debate, limit=len(log) + 1) == log
    await store.close()
    with psycopg.connect(empty_postgres) as connection:
        bodies = connection.execute("SELECT body FROM events ORDER BY debate_id, seq").fetchall()
    names = sorted(GOLDEN, key=lambda name: log_of(name)[0].debate)
    written = [line for name in names for line in (HERE / f"{name}.jsonl").read_bytes().splitlines()]
    assert [body.encode() for (body,) in bodies] == [
        bytes(msgspec.json.decode(line, type=Line).event) for line in written
    ]
    back = f"sqlite:{tmp_path / 'back.db'}"
    assert (await moved(empty_postgres, back)).differing == ()
    async with homes(golden, back) as (old, new):
        assert await everything(old) == await everything(new)


async def test_whatever_belongs_to_a_debate_comes_along(furnished: str, empty_postgres: str) -> None:
    assert (await moved(furnished, empty_postgres)).differing == ()
    old = SqliteStore.open(furnished.removeprefix("sqlite:"), clock=lambda: AT)
    new = await PostgresStore.open(empty_postgres, clock=lambda: AT - timedelta(seconds=1))
    before, after = await old.head("d1"), await new.head("d1")
    assert after == replace(before, runner="", motion=before.motion.replace("\0", "\ufffd"))
    assert await new.claimed_debates() == (), "nobody runs it there"
    assert (await new.state("d1")).remarks[0].text == REMARK.text
    assert [head.id for head in (await new.list()).heads] == ["d2", "d1"]
    assert (await new.list(DebateFilter(model="scripted/parrot"))).total == 2
    for name in ("small", "large"):
        assert await new.request_body("d1", name) == await old.request_body("d1", name) != None  # noqa: E711 - all three
    assert await new.tokens() == await old.tokens() != ()
    assert await new.invitation("digest-zoe") == await old.invitation("digest-zoe") is not None
    assert [one.name for one in await new.invitations("d1")] == ["Late", "Zoe"]
    again = await new.record(
        "d9", lambda _: [event_factories.opened()], once=IdempotencyKey("ann", "key", "hash")
    )
    assert (again.debate.id, again.replayed) == ("d1", True)
    assert await new.tables(CONVERSATIONS).imports() == await old.tables(CONVERSATIONS).imports()
    assert await new.tables(CONVERSATIONS).conversations() == await old.tables(CONVERSATIONS).conversations()
    for name in ("c1", "c2"):
        assert (
            await new.tables(CONVERSATIONS).events(name) == await old.tables(CONVERSATIONS).events(name) != ()
        )
    await old.close()
    await new.close()


async def test_what_began_in_postgresql_comes_to_a_file(empty_postgres: str, tmp_path: Path) -> None:
    """There, moments are finer than a second in every table."""
    old = await PostgresStore.open(empty_postgres, clock=lambda: AT)
    await furnish(old)
    assert (await moved(empty_postgres, f"sqlite:{tmp_path / 'new.db'}")).differing == ()
    new = SqliteStore.open(tmp_path / "new.db", clock=lambda: AT - timedelta(seconds=1))
    assert await new.head("d1") == replace(await old.head("d1"), runner="")
    assert await new.state("d1") == await old.state("d1")
    assert await new.ended_before(AT + timedelta(days=1)) == await old.ended_before(AT + timedelta(days=1))
    assert await new.invitation("digest-zoe") == await old.invitation("digest-zoe")
    again = await new.record(
        "d9", lambda _: [event_factories.opened()], once=IdempotencyKey("ann", "key", "hash")
    )
    assert (again.debate.id, again.replayed) == ("d1", True)
    assert (await new.record("d3", lambda _: [event_factories.opened()])).debate.seq == 1
    assert [head.id for head in (await new.list()).heads] == ["d3", "d2", "d1"]
    await old.close()
    await new.close()


async def test_life_goes_on_in_the_new_store(furnished: str, empty_postgres: str) -> None:
    await moved(furnished, empty_postgres)
    store = await PostgresStore.open(empty_postgres)
    await store.record("d3", lambda _: [event_factories.opened()])
    assert [head.id for head in (await store.list()).heads] == ["d3", "d2", "d1"]
    assert (await store.record("d1", lambda _: [replace(REMARK, remark=2)], epoch=70)).debate.seq == 3
    same = (await store.tables(CONVERSATIONS).imports())[0]
    assert (
        await store.tables(CONVERSATIONS).save(same, [event("2", text="\0"), event("3", conversation="c3")])
    ).new == 1
    assert [one.id for one in (await store.tables(CONVERSATIONS).conversations()).conversations] == [
        "c3",
        "c2",
        "c1",
    ]
    await store.close()


async def test_the_next_job_is_later_than_every_epoch(furnished: str, empty_postgres: str) -> None:
    late = 9 * 10**15
    with closing(sqlite3.connect(furnished.removeprefix("sqlite:"))) as connection, connection:
        connection.execute("UPDATE debates SET epoch = ? WHERE id = 'd2'", (late,))
    await moved(furnished, empty_postgres)
    with psycopg.connect(empty_postgres, autocommit=True) as connection:
        number = "SELECT nextval(pg_get_serial_sequence('procrastinate_jobs', 'id'))"
        assert connection.execute(number).fetchone() == (late + 1,)
        connection.execute("SELECT setval(pg_get_serial_sequence('procrastinate_jobs', 'id'), 1)")


async def test_what_is_not_the_same_is_told(furnished: str, empty_postgres: str) -> None:
    def spoil(done: int, total: int, words: str) -> None:
        if words == "copying conversations" and done == total:
            with psycopg.connect(empty_postgres, autocommit=True) as connection:
                connection.execute(
                    "UPDATE events SET body = replace(body, 'and', 'or') WHERE debate_id = 'd1'"
                )
                connection.execute("UPDATE conversation_events SET role = 'tool' WHERE id = 'é'")
                connection.execute("DELETE FROM tokens")

    assert (await moved(furnished, empty_postgres, told=spoil)).differing == ("d1", "c2", "tokens")


def test_events_of_conversations_are_found_by_their_segments(furnished: str, empty_postgres: str) -> None:
    asyncio.run(moved(furnished, empty_postgres))
    asked = re.search(r"```sql\n(.*?);\n```", (ROOT / "docs/migration.md").read_text(), re.DOTALL)
    assert asked is not None
    with psycopg.connect(empty_postgres) as connection:
        connection.execute("SET enable_seqscan = off")
        question = asked[1].replace("reasoning", "tool_call").encode()
        assert sorted(connection.execute(question).fetchall()) == [("c1", "1"), ("c1", "2"), ("c2", "é")]
        plan = connection.execute(b"EXPLAIN " + question).fetchall()
    assert "conversation_events_by_segment" in str(plan)


# --- broken off, and again ------------------------------------------------------------------------------


async def test_a_move_that_was_killed_goes_on_where_it_was(
    golden: str, empty_postgres: str, data: Path, tmp_path: Path
) -> None:
    killed = piped(environment(data, MOOT_CRASH_AT="before-moved:2"), "migrate-store", golden, empty_postgres)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    async with homes(golden, empty_postgres) as (old, new):
        half = await new.tables.line_counts(DEBATES)
        assert list(half) == next(batches(await old.tables.line_counts(DEBATES))), "one load, and whole"
    again = piped(environment(data), "migrate-store", golden, empty_postgres)
    assert again.returncode == 2
    assert f"holds {len(half)} debates already. --resume goes on" in " ".join(again.stderr.split())
    assert (await moved(golden, empty_postgres, resume=True)).differing == ()
    async with homes(golden, empty_postgres) as (old, new):
        assert await everything(old) == await everything(new)


def test_loads_are_bounded_and_in_order() -> None:
    few, many = {f"d{n}": 1 for n in range(120)}, {"a": 10, "b": 5000, "c": 1990, "d": 10, "e": 1}
    assert [len(load) for load in batches(few)] == [50, 50, 20]
    assert [one for load in batches(few) for one in load] == list(few)
    assert list(batches(many)) == [["a"], ["b"], ["c", "d"], ["e"]]
    assert list(batches({})) == []


async def test_what_has_grown_meanwhile_is_taken_again(furnished: str, empty_postgres: str) -> None:
    await moved(furnished, empty_postgres)
    await record(furnished, "d1", [replace(REMARK, remark=2)])
    await record(furnished, "d3", [event_factories.opened()])
    assert (await moved(furnished, empty_postgres, resume=True)).differing == ()
    store = await PostgresStore.open(empty_postgres)
    assert [(head.id, head.version) for head in (await store.list()).heads] == [
        ("d3", 1),
        ("d2", 1),
        ("d1", 3),
    ]
    await store.close()


async def test_a_key_that_was_used_again_meanwhile_leads_to_the_later_request(
    furnished: str, empty_postgres: str
) -> None:
    path = furnished.removeprefix("sqlite:")
    for expires, debate in ((0, "d2"), (2**31, "d1")):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE requests SET expires = ?, debate_id = ?, first = 1", (expires, debate))
        assert (await moved(furnished, empty_postgres, resume=True)).differing == ()
    store = await PostgresStore.open(empty_postgres)
    again = await store.record(
        "d9", lambda _: [event_factories.opened()], once=IdempotencyKey("ann", "key", "hash")
    )
    assert again.debate.id == "d1"
    await store.close()


async def test_what_has_gone_on_in_the_new_store_is_not_overwritten(
    furnished: str, empty_postgres: str
) -> None:
    await moved(furnished, empty_postgres)
    store = await PostgresStore.open(empty_postgres)
    await store.record("d1", lambda _: [replace(REMARK, remark=2, text="there")])
    with pytest.raises(Invalid, match="d1 has gone on in the new store"):
        await moved(furnished, empty_postgres, resume=True)
    await record(furnished, "d1", [replace(REMARK, remark=2, text="here")])
    await record(furnished, "d1", [replace(REMARK, remark=3, text="here")])
    with pytest.raises(Invalid, match="d1 has gone on in the new store"):
        await moved(furnished, empty_postgres, resume=True)
    assert (await store.state("d1")).remarks[1].text == "there"
    await store.record("d9", lambda _: [event_factories.opened()])
    with pytest.raises(Invalid, match=r"holds 1 debates that .* does not have"):
        await moved(furnished, empty_postgres, resume=True)
    await store.close()


# --- what is refused ------------------------------------------------------------------------------------


async def test_a_file_in_which_debates_are_run_is_not_moved(
    furnished: str, empty_postgres: str, tmp_path: Path
) -> None:
    store = SqliteStore.open(furnished.removeprefix("sqlite:"))
    with RunnerLock.hold(tmp_path / "data") as lock:
        await store.claim("d1", lock.name, seen_epoch=70)
        async with homes(furnished, empty_postgres, locks=tmp_path / "data") as (old, new):
            with pytest.raises(Invalid, match=r"runs debates in .*: stop it first"):
                await copy_store(old, new, report=silent)
    await store.close()


async def test_nobody_writes_to_the_file_meanwhile(furnished: str, empty_postgres: str) -> None:
    refused: list[str] = []

    def write(done: int, total: int, words: str) -> None:
        with closing(sqlite3.connect(furnished.removeprefix("sqlite:"), timeout=0)) as connection:
            try:
                connection.execute("DELETE FROM tokens")
            except sqlite3.OperationalError:
                refused.append(words)

    await moved(furnished, empty_postgres, told=write)
    assert len(refused) == 4


async def test_nobody_writes_to_the_database_meanwhile(empty_postgres: str, tmp_path: Path) -> None:
    store = await PostgresStore.open(empty_postgres)
    await furnish(store)
    refused: list[str] = []

    def write(done: int, total: int, words: str) -> None:
        with psycopg.connect(empty_postgres) as connection:
            connection.execute("SET lock_timeout = '20ms'")
            for table in ("heads", "tokens", "conversations"):
                try:
                    with connection.transaction():
                        connection.execute(f"DELETE FROM {table}")
                except psycopg.errors.LockNotAvailable:
                    refused.append(words)

    await moved(empty_postgres, f"sqlite:{tmp_path / 'new.db'}", told=write)
    assert len(refused) == 12
    assert (await store.record("d2", lambda _: [REMARK])).debate.seq == 2, "and then life goes on"
    await store.close()


async def test_a_database_is_not_moved_to_itself_under_another_name(
    empty_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.store.postgres.copying_postgres.LOCK_SECONDS", 1)
    store = await PostgresStore.open(empty_postgres)
    await furnish(store)
    with pytest.raises(StoreError, match="locked"):
        await moved(empty_postgres, f"{empty_postgres}&connect_timeout=9", resume=True)
    await store.close()


@asynccontextmanager
async def living_worker(url: str) -> AsyncGenerator[None]:
    """A worker of this database that sends heartbeats."""

    async def beat(connection: psycopg.AsyncConnection) -> None:
        while True:
            await connection.execute("UPDATE procrastinate_workers SET last_heartbeat = clock_timestamp()")
            await asyncio.sleep(0.05)

    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")
        beating = asyncio.create_task(beat(connection))
        try:
            yield
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)


async def test_a_database_with_living_workers_is_not_moved(
    furnished: str, empty_postgres: str, tmp_path: Path
) -> None:
    await moved(furnished, empty_postgres)
    async with living_worker(empty_postgres):
        with pytest.raises(Invalid, match="a worker that runs the debates"):
            await moved(furnished, empty_postgres, resume=True)
        with pytest.raises(Invalid, match="a worker that runs the debates"):
            await moved(empty_postgres, f"sqlite:{tmp_path / 'copy.db'}")
    assert not list(tmp_path.glob("copy.db*")), "what was refused leaves no file that looks like a copy"


async def test_heartbeats_in_a_restored_copy_are_no_worker(
    furnished: str, empty_postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are as recent as the dump, and those of a clock that was ahead stay recent."""
    monkeypatch.setattr("moot.store.postgres.copying_postgres.ALIVE_SECONDS", 1.5)
    await moved(furnished, empty_postgres)
    restored = empty_postgres.replace("/postgres?", "/restored?")
    with psycopg.connect(empty_postgres, autocommit=True) as connection:
        connection.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")
        connection.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() + interval '1 h')"
        )
    with psycopg.connect(empty_postgres.replace("/postgres?", "/template1?"), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS restored")
        connection.execute("CREATE DATABASE restored TEMPLATE postgres")
    assert (await moved(restored, f"sqlite:{tmp_path / 'copy.db'}")).differing == ()


async def test_an_empty_store_is_not_called_a_copy(tmp_path: Path) -> None:
    await SqliteStore.open(tmp_path / "empty.db").close()
    with pytest.raises(Unavailable, match="nothing to move"):
        await moved(f"sqlite:{tmp_path / 'empty.db'}", f"sqlite:{tmp_path / 'copy.db'}")
    assert not list(tmp_path.glob("copy.db*"))


async def test_a_source_that_is_not_there_is_not_made(tmp_path: Path, empty_postgres: str) -> None:
    with pytest.raises(Unavailable, match="nothing to move"):
        await moved(f"sqlite:{tmp_path / 'none.db'}", empty_postgres)
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    "typed", ["moot.db", "sqlite:", "postgresql:moot", "mysql://root:secret@db/moot", ""]
)
def test_an_address_says_what_kind_of_store_it_is(typed: str) -> None:
    with pytest.raises(Invalid, match="sqlite:FILE or postgresql://"):
        parse_address(typed)


def test_an_address_tells_no_password() -> None:
    address = parse_address("postgresql://ann:secret@db.example:5433/moot?sslpassword=secret2")
    assert address.label == "postgresql://ann@db.example:5433/moot"
    assert "secret" not in repr(address)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (
            "postgresql://ann:secret@db.example/moot?sslmode=verify-full&sslrootcert=/etc/moot/root.crt",
            "postgresql://ann@db.example/moot?sslmode=verify-full&sslrootcert=/etc/moot/root.crt",
        ),
        (
            "postgresql://ann:secret@/moot?host=/run/postgresql&application_name=a%20b%26c",
            "postgresql://ann@/moot?host=/run/postgresql&application_name=a%20b%26c",
        ),
        (
            "postgresql://a%40b:secret@one:5432,two:5433/moot?target_session_attrs=read-write",
            "postgresql://a%40b@/moot?host=one,two&port=5432,5433&target_session_attrs=read-write",
        ),
        (
            "postgresql://[::1]:5433/moot?oauth_client_secret=secret&sslmode=require",
            "postgresql://[::1]:5433/moot?sslmode=require",
        ),
    ],
)
def test_an_address_keeps_its_options_and_names_the_same_database(typed: str, shown: str) -> None:
    assert parse_address(typed).label == shown
    kept = {name: value for name, value in conninfo_to_dict(typed).items() if "secret" not in str(value)}
    assert {name: str(value) for name, value in conninfo_to_dict(shown).items()} == kept


# --- at the terminal ------------------------------------------------------------------------------------


def rows_of(out: str) -> dict[str, str]:
    return dict(line.split("\t") for line in out.splitlines() if "\t" in line)


def test_the_command_tells_what_it_would_do_does_it_and_says_what_to_set(
    moot: Command, furnished: str, empty_postgres: str, tmp_path: Path
) -> None:
    code, out, err = moot("migrate-store", furnished, empty_postgres, "--dry-run")
    assert (code, err) == (0, "")
    assert "nothing was written" in out
    told = rows_of(out)
    assert (told["debates"], told["events in their logs"], told["tokens"]) == ("2", "3", "1")
    code, out, err = moot("migrate-store", furnished, empty_postgres)
    assert (code, err) == (0, "")
    assert rows_of(out) == told
    assert "every event is the same on both sides" in out
    assert "  MOOT_STORE='postgresql://" in out
    code, out, _ = moot("migrate-store", empty_postgres, f"sqlite:{tmp_path / 'back.db'}")
    assert (code, rows_of(out)) == (0, told)
    assert f"  MOOT_STORE={shlex.quote(f'sqlite:{tmp_path}/back.db')}\n" in out
    code, _, err = moot("migrate-store", furnished, furnished)
    assert (code, "the same store" in err) == (2, True)


def test_no_password_is_printed(moot: Command, furnished: str) -> None:
    code, out, err = moot("migrate-store", furnished, "postgresql://ann:very-secret@127.0.0.1:1/moot")
    assert code == 1
    assert "very-secret" not in out + err


def test_the_doctor_and_the_backup_know_a_shared_store(
    moot: Command, empty_postgres: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_STORE", empty_postgres)
    assert "MOOT_BUS=redis://" in moot("doctor")[1], "a note that there is none"
    monkeypatch.setenv("MOOT_BUS", redis_url)
    out = moot("doctor")[1]
    assert re.search(r"PostgreSQL 1\d.* at postgresql://postgres@/postgres\?host=.*MB", out)
    assert re.search(r"Redis \d.* answers", out)
    code, _, err = moot("backup", str(tmp_path / "copy"))
    assert code == 2
    assert f"  pg_dump --format=custom --file={shlex.quote(str(tmp_path / 'copy'))} '" in err
    monkeypatch.setenv("MOOT_STORE", "postgresql://ann:very-secret@127.0.0.1:1/moot?sslmode=verify-ca")
    monkeypatch.setenv("MOOT_BUS", "redis://:very-secret@127.0.0.1:1/0")
    code, out, _ = moot("doctor")
    assert code == 1
    assert "The database cannot be reached." in out
    assert "Redis cannot be reached: " in out
    said = out + "".join(map(str, moot("backup", str(tmp_path / "copy"))))
    assert "pg_dump" in said
    assert said.count("'postgresql://ann@127.0.0.1:1/moot?sslmode=verify-ca'") == 2, "pg_dump and pg_restore"
    assert "very-secret" not in said
