"""What only PostgreSQL has to show: several processes at one log, lines that break, servers that die."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from datetime import UTC, date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from moot.core.errors import Fenced, Invalid, KeyReused, NewerSchema, StoreError, UnknownDebate
from moot.core.events import CallDelta, DebateStarted, Event, RemarkInjected
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.store.contract import AccessToken, DebateFilter, DecideOnHead, IdempotencyKey, RecordResult, Store
from moot.store.extension_tables import numbered_scripts
from moot.store.postgres import migrations, writer, writer_connection
from moot.store.postgres.connect import Database, is_unreachable, open_connection
from moot.store.postgres.store import PostgresStore
from moot.testing import Clock
from moot.testing.event_factories import call_started, delta, opened, turn_started
from moot.testing.store_contract import append_streamed
from tests.support import postgres as support
from tests.support.postgres import Postgres, empty_postgres, postgres_url
from tests.support.tls import Certificate, TlsProxy

__all__ = ["empty_postgres", "postgres_url"]

Opening = Callable[[], Any]


@contextlib.asynccontextmanager
async def store_at(url: str, **options: Any) -> AsyncGenerator[PostgresStore]:
    store = await PostgresStore.open(url, pool=4, **options)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def here(empty_postgres: str) -> AsyncIterator[PostgresStore]:
    async with store_at(empty_postgres) as store:
        yield store


@pytest.fixture
async def there(empty_postgres: str) -> AsyncIterator[PostgresStore]:
    async with store_at(empty_postgres) as store:
        yield store


def always(*events: Event) -> DecideOnHead:
    return lambda debate: events


def remark(debate: Debate | None) -> Sequence[Event]:
    assert debate
    return [RemarkInjected(remark=len(debate.remarks) + 1, text="hear, hear")]


async def open_call(store: Store, debate_id: str = "d1") -> RecordResult:
    return await store.record(debate_id, always(opened(), DebateStarted(), turn_started(), call_started()))


async def speak(store: Store, debate_id: str, words: Sequence[str]) -> list[RecordResult]:
    return [await append_streamed(store, debate_id, [delta(word)], epoch=0) for word in words]


async def words_in(store: Store, debate_id: str) -> list[str]:
    records = await store.read(debate_id, limit=100_000)
    assert [recorded.seq for recorded in records] == list(range(1, len(records) + 1))
    return [recorded.event.text for recorded in records if isinstance(recorded.event, CallDelta)]


# --- several processes --------------------------------------------------------------------------------


async def test_words_here_and_commands_there_make_one_log(here: PostgresStore, there: PostgresStore) -> None:
    ids = [f"d{i}" for i in range(6)]
    await asyncio.gather(*(open_call(here, debate_id) for debate_id in ids))
    words = [f"{i} " for i in range(40)]

    async def command(debate_id: str) -> list[RecordResult]:
        return [await there.record(debate_id, remark) for _ in range(15)]

    outcomes = await asyncio.gather(
        *(speak(here, debate_id, words) for debate_id in ids), *(command(debate_id) for debate_id in ids)
    )
    for debate_id in ids:
        assert await words_in(there, debate_id) == words
        records = await here.read(debate_id)
        debate = await here.state(debate_id)
        assert debate == await there.state(debate_id) == fold(records)
        assert [remark.number for remark in debate.remarks] == list(range(1, 16))
        for outcome in (outcome for of_one in outcomes for outcome in of_one):
            if outcome.debate.id == debate_id:
                last = outcome.debate.seq
                assert outcome.debate == fold(records[:last])
                assert outcome.records == records[last - len(outcome.records) : last]


async def test_a_command_lands_at_the_first_try_while_somebody_speaks_elsewhere(
    here: PostgresStore, there: PostgresStore
) -> None:
    await open_call(here)
    decided = 0

    def counted(debate: Debate | None) -> Sequence[Event]:
        nonlocal decided
        decided += 1
        return remark(debate)

    speaking = asyncio.create_task(speak(here, "d1", ["word "] * 200))
    for _ in range(20):
        await there.record("d1", counted)
    await speaking
    assert decided == 20
    assert len((await here.state("d1")).remarks) == 20


async def test_commands_of_several_processes_all_see_the_head(
    here: PostgresStore, there: PostgresStore
) -> None:
    await open_call(here)
    await asyncio.gather(
        *(store.record("d1", remark) for _ in range(20) for store in (here, there)),
    )
    debate = await there.state("d1")
    assert [remark.number for remark in debate.remarks] == list(range(1, 41))


async def test_what_a_person_types_at_two_nodes_goes_on_from_what_is_shown(
    here: PostgresStore, there: PostgresStore
) -> None:
    await open_call(here)

    def type_on(debate: Debate | None) -> Sequence[Event]:
        assert debate
        return [delta(f"{len(debate.live[0].text.split())} ")]

    await there.state("d1")
    for _ in range(15):
        await asyncio.gather(here.record("d1", type_on), there.record("d1", type_on))
    assert await words_in(here, "d1") == [f"{i} " for i in range(30)]


async def test_a_refusal_is_never_decided_on_an_old_state(here: PostgresStore, there: PostgresStore) -> None:
    await open_call(here)
    await there.record("d1", remark)
    seen: list[int] = []

    def look(debate: Debate | None) -> Sequence[Event]:
        seen.append(len(debate.remarks) if debate else -1)
        return []

    await here.record("d1", look)
    assert seen == [1]


async def test_whoever_lost_the_debate_elsewhere_writes_nothing(
    here: PostgresStore, there: PostgresStore
) -> None:
    await open_call(here)
    await append_streamed(here, "d1", [delta("mine ")], epoch=0)
    assert await there.claim("d1", "there", seen_epoch=0) == 1
    for asking in (
        append_streamed(here, "d1", [delta("late")], epoch=0),
        here.record("d1", remark, epoch=0),
        here.claim("d1", "here", seen_epoch=0),
    ):
        with pytest.raises(Fenced):
            await asking
    assert (await append_streamed(there, "d1", [delta("yours")], epoch=1)).debate.live[0].text == "mine yours"
    assert await words_in(here, "d1") == ["mine ", "yours"]


async def test_a_newer_epoch_than_the_one_remembered_may_write(
    here: PostgresStore, there: PostgresStore
) -> None:
    await open_call(here)
    await there.claim("d1", "here", seen_epoch=0, epoch=7)
    assert (await append_streamed(here, "d1", [delta("a")], epoch=7)).records[0].epoch == 7
    assert (await here.record("d1", remark)).records[0].epoch == 7


async def test_words_are_dropped_when_their_call_was_ended_elsewhere(
    here: PostgresStore, there: PostgresStore
) -> None:
    from moot.testing.store_contract.steps import call_ended

    await open_call(here)
    await there.record("d1", always(call_ended()))
    outcome = await append_streamed(here, "d1", [delta("late")], epoch=0)
    assert outcome.records == ()
    assert outcome.debate.seq == 5


async def test_what_was_deleted_elsewhere_is_unknown_and_may_be_opened_anew(
    here: PostgresStore, there: PostgresStore
) -> None:
    await open_call(here)
    await speak(here, "d1", ["old "])
    await there.delete("d1")
    for asking in (
        append_streamed(here, "d1", [delta("a")], epoch=0),
        here.record("d1", always()),
        here.state("d1"),
    ):
        with pytest.raises(UnknownDebate):
            await asking
    await here.record("d1", always(opened(motion="First")))
    await there.delete("d1")
    await there.record("d1", always(opened(motion="Second")))
    assert (await here.record("d1", remark)).debate.motion == "Second"
    assert (await here.state("d1")).seq == 2


async def test_one_request_to_two_processes_opens_one_debate(
    here: PostgresStore, there: PostgresStore
) -> None:
    for turn in range(5):
        once = IdempotencyKey("me", f"key {turn}", "hash")
        outcomes = await asyncio.gather(
            *(
                store.record(f"{name}{turn}.{i}", always(opened()), once=once)
                for i in range(5)
                for name, store in (("here", here), ("there", there))
            )
        )
        assert len({outcome.debate.id for outcome in outcomes}) == 1
        assert sum(not outcome.replayed for outcome in outcomes) == 1
    assert (await here.list()).total == 5
    with pytest.raises(KeyReused):
        await here.record("d", always(opened()), once=IdempotencyKey("me", "key 0", "other"))


async def test_what_nobody_asks_for_any_more_is_forgotten(
    empty_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_connection, "PRUNE", 0.0)
    clock = Clock()
    async with store_at(empty_postgres, clock=clock) as store:
        await store.record("d1", always(opened()), once=IdempotencyKey("me", "key", "hash"))
        with psycopg.connect(empty_postgres, autocommit=True) as connection:
            connection.execute("UPDATE landed SET at = now() - interval '1 hour'")
            clock.move(hours=25)
            await store.record("d1", remark)
            # By then it has tidied up after the one before.
            await store.record("d1", remark)
            assert connection.execute("SELECT count(*) FROM requests").fetchone() == (0,)
            [[oldest]] = connection.execute("SELECT min(batch) FROM landed").fetchall()
            assert oldest > 1


async def test_of_two_that_open_a_debate_one_is_first(here: PostgresStore, there: PostgresStore) -> None:
    def open_or_remark(debate: Debate | None) -> Sequence[Event]:
        return remark(debate) if debate else [opened()]

    for i in range(10):
        await asyncio.gather(here.record(f"d{i}", open_or_remark), there.record(f"d{i}", open_or_remark))
        assert len(await here.read(f"d{i}")) == 2


async def test_nothing_is_left_of_what_was_deleted(here: PostgresStore, empty_postgres: str) -> None:
    once = IdempotencyKey("me", "canary-key", "canary-hash")
    await here.record("canary", always(opened(motion="canary")), once=once, bodies={"canary": b"canary"})
    await here.claim("canary", "canary", seen_epoch=0)
    await here.delete("canary")
    with psycopg.connect(empty_postgres) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        assert len(tables) > 9
        for (table,) in tables:
            rows = connection.execute(f'SELECT t::text FROM "{table}" t').fetchall()
            assert "canary" not in str(rows)


# --- lines that break ---------------------------------------------------------------------------------


class Proxy:
    """Stands between a store and its server, and cuts the line in the middle of an append."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._ends: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.armed = False
        """Passes the next append on and keeps the answer to itself."""
        self.mute = False
        """Cuts only the client off: the server goes on, and does not know."""
        self.cuts = 0

    async def open(self) -> str:
        self._server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        return f"postgresql://postgres@127.0.0.1:{self._server.sockets[0].getsockname()[1]}/postgres"

    async def close(self) -> None:
        self._server.close()
        for end in self._ends:
            end.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _join(self, reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        far_reader, far = await asyncio.open_unix_connection(self._socket)
        self._ends += (near, far)
        appends = asyncio.Event()
        for task in (self._ask(reader, near, far, appends), self._answer(far_reader, near, far, appends)):
            self._tasks.add(asyncio.create_task(task))

    async def _ask(
        self,
        reader: asyncio.StreamReader,
        near: asyncio.StreamWriter,
        far: asyncio.StreamWriter,
        appends: asyncio.Event,
    ) -> None:
        while data := await _read(reader):
            far.write(data)
            if b"append_events_1" in data:
                appends.set()
                if self.mute:
                    self.mute, self.cuts = False, self.cuts + 1
                    near.close()
                    return
        far.close()

    async def _answer(
        self,
        reader: asyncio.StreamReader,
        near: asyncio.StreamWriter,
        far: asyncio.StreamWriter,
        appends: asyncio.Event,
    ) -> None:
        while data := await _read(reader):
            if near.is_closing():
                continue
            if self.armed and appends.is_set():
                self.armed, self.cuts = False, self.cuts + 1
                break
            appends.clear()
            near.write(data)
        near.close()
        far.close()


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(65536)
    except OSError:
        return b""


@pytest.fixture
async def proxy(empty_postgres: str) -> AsyncIterator[Proxy]:
    folder = psycopg.conninfo.conninfo_to_dict(empty_postgres)["host"]
    proxy = Proxy(f"{folder}/.s.PGSQL.5432")
    yield proxy
    await proxy.close()


async def test_an_answer_that_is_lost_is_neither_a_loss_nor_a_repetition(
    proxy: Proxy, here: PostgresStore
) -> None:
    words = [f"{i} " for i in range(60)]
    async with store_at(await proxy.open()) as store:
        await open_call(store)
        heard: list[int] = []
        store.listen(lambda debate_id, records: heard.extend(recorded.seq for recorded in records or ()))
        for i, word in enumerate(words):
            proxy.armed = i % 3 == 0
            outcome = await append_streamed(store, "d1", [delta(word)], epoch=0)
            assert outcome.debate.seq == 5 + i
        assert proxy.cuts == 20
        assert store.write_error == ""
    assert heard == list(range(5, 65))
    assert await words_in(here, "d1") == words


@pytest.mark.parametrize("isolation", [r"read\ committed", r"repeatable\ read"])
async def test_an_append_that_is_still_landing_is_waited_for(
    proxy: Proxy, here: PostgresStore, empty_postgres: str, isolation: str
) -> None:
    """In the stricter one, the second is refused, for the sake of the first."""
    options = quote(f"-c default_transaction_isolation={isolation}")
    async with store_at(f"{await proxy.open()}?options={options}") as store:
        await open_call(store)
        async with await psycopg.AsyncConnection.connect(empty_postgres) as holder:
            await holder.execute("SELECT * FROM heads WHERE debate_id = 'd1' FOR UPDATE")
            proxy.mute = True
            asked = asyncio.create_task(append_streamed(store, "d1", [delta("once")], epoch=0))
            await _waiters(empty_postgres, 2)
        assert (await asked).debate.seq == 5
    assert proxy.cuts == 1
    assert await words_in(here, "d1") == ["once"]


async def _waiters(url: str, count: int) -> None:
    """The first statement, whose sender is gone, and the second wait for the same row."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        for _ in range(1000):
            cursor = await connection.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE wait_event_type = 'Lock' AND query ~ 'append_events_1'"
            )
            row = await cursor.fetchone()
            if row and row[0] >= count:
                return
            await asyncio.sleep(0.01)
    raise AssertionError("nobody waits")


async def test_lines_that_are_torn_down_all_the_time_lose_nothing(
    here: PostgresStore, empty_postgres: str
) -> None:
    ids = [f"d{i}" for i in range(8)]
    words = [f"{i} " for i in range(100)]
    await asyncio.gather(*(open_call(here, debate_id) for debate_id in ids))
    speaking = asyncio.gather(*(speak(here, debate_id, words) for debate_id in ids))
    async with await psycopg.AsyncConnection.connect(empty_postgres, autocommit=True) as connection:
        while not speaking.done():
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            await asyncio.sleep(0.03)
    for outcomes in await speaking:
        assert [outcome.debate.seq for outcome in outcomes] == list(range(5, 105))
    for debate_id in ids:
        assert await words_in(here, debate_id) == words


async def test_a_server_that_dies_and_comes_back_is_waited_for() -> None:
    ids = [f"d{i}" for i in range(5)]
    words = [f"{i} " for i in range(300)]
    with Postgres() as server:
        async with store_at(server.url) as store:
            await asyncio.gather(*(open_call(store, debate_id) for debate_id in ids))
            speaking = asyncio.gather(*(speak(store, debate_id, words) for debate_id in ids))
            for _ in range(2):
                await asyncio.sleep(0.1)
                await asyncio.to_thread(server.crash)
                await asyncio.to_thread(server.start)
            await speaking
            for debate_id in ids:
                assert await words_in(store, debate_id) == words


async def test_a_server_that_stays_away_is_told_of_until_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_connection, "PATIENCE", 0.3)
    monkeypatch.setattr(writer_connection, "IN_TROUBLE", 0.1)
    with Postgres() as server:
        async with store_at(server.url, statement_seconds=1.0) as store:
            await open_call(store)
            await asyncio.to_thread(server.crash)
            for asking in (
                store.record("d1", remark),
                append_streamed(store, "d1", [delta("a")], epoch=0),
                store.read("d1"),
            ):
                with pytest.raises(StoreError) as told:
                    await asking
                assert not isinstance(told.value, UnknownDebate)
                assert "moot-pg" not in str(told.value)
            assert store.write_error
            await asyncio.to_thread(server.start)
            await append_streamed(store, "d1", [delta("back")], epoch=0)
            assert store.write_error == ""
            assert await words_in(store, "d1") == ["back"]


async def test_whoever_waits_when_the_store_is_closed_is_told(
    empty_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "CLOSE_SECONDS", 0.1)
    store = await PostgresStore.open(empty_postgres)
    await open_call(store)
    async with await psycopg.AsyncConnection.connect(empty_postgres) as holder:
        await holder.execute("SELECT * FROM heads WHERE debate_id = 'd1' FOR UPDATE")
        asked = asyncio.create_task(append_streamed(store, "d1", [delta("late")], epoch=0))
        await _waiters(empty_postgres, 1)
        queued = asyncio.create_task(append_streamed(store, "d1", [delta("later")], epoch=0))
        await asyncio.sleep(0)
        await store.close()
        for late in (asked, queued):
            with pytest.raises(StoreError, match="closed"):
                await late


async def test_what_takes_too_long_is_called_off_and_hinders_nothing_later(
    empty_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_connection, "PATIENCE", 1.0)
    async with store_at(empty_postgres, statement_seconds=1.0) as store:
        await open_call(store)
        async with await psycopg.AsyncConnection.connect(empty_postgres) as holder:
            await holder.execute("SELECT * FROM heads WHERE debate_id = 'd1' FOR UPDATE")
            with pytest.raises(StoreError):
                await append_streamed(store, "d1", [delta("late")], epoch=0)
        await append_streamed(store, "d1", [delta("in time")], epoch=0)
        assert await words_in(store, "d1") == ["in time"]


async def test_a_debate_that_cannot_be_written_harms_no_neighbour(here: PostgresStore) -> None:
    await open_call(here)
    results = await asyncio.gather(
        here.record("d1", remark),
        here.record("d2", always(opened()), owner="half \ud800"),
        append_streamed(here, "d1", [delta("a")], epoch=0),
        here.record("d3", always(opened())),
        return_exceptions=True,
    )
    assert [isinstance(result, RecordResult) for result in results] == [True, False, True, True]
    assert await here.positions(["d2"]) == {}
    assert await words_in(here, "d1") == ["a"]


# --- opening ------------------------------------------------------------------------------------------


@pytest.fixture
def new_database(postgres_url: str) -> str:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS opening WITH (FORCE)")
        connection.execute("CREATE DATABASE opening")
    return postgres_url.replace("/postgres?", "/opening?")


async def test_several_processes_may_start_at_once(new_database: str) -> None:
    stores = await asyncio.gather(*(PostgresStore.open(new_database, pool=2) for _ in range(4)))
    try:
        await open_call(stores[0])
        assert (await stores[3].state("d1")).seq == 4
    finally:
        await asyncio.gather(*(store.close() for store in stores))


async def test_a_store_of_a_newer_version_is_refused(new_database: str) -> None:
    async with store_at(new_database):
        pass
    with psycopg.connect(new_database, autocommit=True) as connection:
        connection.execute("INSERT INTO moot_schema (version, at) VALUES (9999, now())")
    with pytest.raises(NewerSchema, match="9999"):
        await PostgresStore.open(new_database)


async def test_what_is_wrong_with_an_address_is_told_without_its_password() -> None:
    for address, kind in (
        ("postgresql://annika:hunter2@127.0.0.1:1/moot", StoreError),
        (f"postgresql://annika:{quote('hunter2')}@[broken/moot", Invalid),
        ("hunter2", Invalid),
    ):
        with pytest.raises(kind) as told:
            await PostgresStore.open(address)
        assert "hunter2" not in str(told.value)
        assert "annika" not in str(told.value)


async def test_who_is_not_let_in_is_told_so_and_nothing_else(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="does not let us in") as told:
        await PostgresStore.open(postgres_url.replace("/postgres?", "/nowhere?"))
    assert "nowhere" not in str(told.value)


def postgres_socket(url: str) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.connect(f"{psycopg.conninfo.conninfo_to_dict(url)['host']}/.s.PGSQL.5432")
    return line


async def told_at(address: str) -> tuple[str, bool]:
    """Why there is no connection, and whether it may come by itself."""
    with pytest.raises(StoreError) as told:
        await open_connection(address)
    assert "127.0.0.1" not in str(told.value)
    return str(told.value), is_unreachable(told.value)


async def test_what_is_wrong_with_a_certificate_is_told(postgres_url: str, tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    certificate = Certificate(tmp_path / "one")
    elsewhere = Certificate(tmp_path / "other", ["db.example.org"])
    with (
        TlsProxy(certificate, lambda: postgres_socket(postgres_url), asked=True) as proxy,
        TlsProxy(elsewhere, lambda: postgres_socket(postgres_url), asked=True) as misnamed,
    ):
        strict = f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres?sslmode=verify-full&sslrootcert="
        await (await open_connection(f"{strict}{quote(str(certificate.path))}")).close()
        for roots, cause in (
            (tmp_path / "none.crt", "root certificates to trust is missing"),
            (certificate.key, "root certificates to trust is missing or holds none"),
            (elsewhere.path, "is not trusted: name its root certificate"),
            ("system", "is not trusted: name its root certificate"),
        ):
            told, may_come = await told_at(f"{strict}{quote(str(roots))}")
            assert (cause in told, may_come) == (True, False), told
            assert "password" not in told
        told, may_come = await told_at(
            strict.replace(str(proxy.port), str(misnamed.port)) + quote(str(elsewhere.path))
        )
        assert ("for another host" in told, may_come) == (True, False)


async def test_a_server_without_encryption_is_told_from_one_that_is_away(postgres_url: str) -> None:
    with support.Proxy(postgres_url, 0) as proxy:
        told, may_come = await told_at(proxy.url.replace("sslmode=disable", "sslmode=require"))
    assert ("offers no encryption" in told, may_come) == (True, False)


async def test_where_a_role_has_no_connection_left_that_is_told_and_waited_for(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE few LOGIN CONNECTION LIMIT 0")
        connection.execute("CREATE DATABASE crowded CONNECTION LIMIT 0")
        try:
            for address in (
                postgres_url.replace("//postgres:@", "//few@"),
                postgres_url.replace("//postgres:@/postgres?", "//few@/crowded?"),
            ):
                told, may_come = await told_at(address)
                assert ("takes no more connections: raise its limit" in told, may_come) == (True, True)
        finally:
            connection.execute("DROP ROLE few")
            connection.execute("DROP DATABASE crowded")


async def test_a_database_of_another_program_is_left_alone(new_database: str) -> None:
    with psycopg.connect(new_database, autocommit=True) as connection:
        connection.execute("CREATE TABLE events (theirs text)")
        with pytest.raises(StoreError, match="give Moot a database of its own"):
            await PostgresStore.open(new_database)
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert tables == [("events",)]


async def test_moments_are_the_same_wherever_the_server_stands(new_database: str) -> None:
    with psycopg.connect(new_database, autocommit=True) as connection:
        connection.execute("ALTER DATABASE opening SET timezone = 'Asia/Kathmandu'")
        connection.execute("ALTER DATABASE opening SET datestyle = 'German, DMY'")
    at = datetime(2026, 3, 1, 23, 59, 59, 123456, tzinfo=UTC)
    async with store_at(new_database, clock=lambda: at) as store:
        await open_call(store)
        await store.save_token(AccessToken("ann", "digest", "owner", "ann", at, None))
        head, [token] = await store.head("d1"), await store.tokens()
        assert head.created_at == head.updated_at == token.created_at == (await store.read("d1"))[0].at == at
        assert {moment.tzinfo for moment in (head.created_at, head.updated_at, token.created_at)} == {UTC}
        for day, found in ((date(2026, 3, 1), 1), (date(2026, 3, 2), 0)):
            assert (await store.list(DebateFilter(since=day, until=day))).total == found


async def test_an_index_is_built_beside_those_who_write(new_database: str) -> None:
    script = f"""{migrations.OUTSIDE}
DROP INDEX CONCURRENTLY IF EXISTS events_by_time;
CREATE INDEX CONCURRENTLY events_by_time ON events (at);
"""
    async with store_at(new_database) as store:
        await open_call(store)
        scripts = {**dict(numbered_scripts(files(migrations.__name__))), 9998: script}
        async with (
            await psycopg.AsyncConnection.connect(new_database, autocommit=True) as connection,
            await psycopg.AsyncConnection.connect(new_database, autocommit=True) as guard,
        ):
            await migrations._catch_up(connection, guard, scripts)
            await migrations._catch_up(connection, guard, scripts)
            cursor = await connection.execute("SELECT max(version), count(*) FROM moot_schema")
            assert await cursor.fetchone() == (9998, len(scripts))
        await append_streamed(store, "d1", [delta("a")], epoch=0)


# --- asking -------------------------------------------------------------------------------------------


async def test_a_question_that_takes_too_long_is_given_up(empty_postgres: str) -> None:
    database = await Database.open(empty_postgres, pool=2, statement_seconds=1.0)
    try:
        with pytest.raises(StoreError, match="too long"):
            await database.query("SELECT pg_sleep(60)")
        assert await database.query("SELECT 1") == [(1,)]
    finally:
        await database.close()


async def test_a_server_that_is_frozen_holds_no_question_for_ever(empty_postgres: str) -> None:
    database = await Database.open(empty_postgres, pool=2, statement_seconds=1.0)
    [[backend]] = await database.query("SELECT pg_backend_pid()")
    os.kill(backend, signal.SIGSTOP)
    try:
        with pytest.raises(StoreError):
            await database.query("SELECT 1")
        assert await database.query("SELECT 1") == [(1,)], "on another line"
    finally:
        os.kill(backend, signal.SIGCONT)
        await database.close()


async def test_where_all_connections_are_in_use_nobody_waits_for_ever(empty_postgres: str) -> None:
    database = await Database.open(empty_postgres, pool=2, statement_seconds=0.3)
    try:
        async with database.connection():
            with pytest.raises(StoreError, match="in use"):
                await database.query("SELECT 1")
    finally:
        await database.close()


async def test_a_question_survives_a_line_that_broke_meanwhile(
    here: PostgresStore, empty_postgres: str
) -> None:
    await open_call(here)
    for _ in range(3):
        with psycopg.connect(empty_postgres, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        assert (await here.head("d1")).version == 4


async def sleeping(url: str) -> int:
    """The process that has been asked to sleep, once it does."""
    question = "SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'"
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while (row := await (await connection.execute(question)).fetchone()) is None:  # noqa: ASYNC110 - a table does not tell
            await asyncio.sleep(0.01)
    return row[0]


async def test_whoever_is_cancelled_while_the_line_breaks_does_not_ask_again(empty_postgres: str) -> None:
    database = await Database.open(empty_postgres, pool=10, statement_seconds=10.0)
    asking = asyncio.create_task(database.query("SELECT pg_sleep(60)"))
    backend = await sleeping(empty_postgres)
    # Frozen, so that it hears at once that it is to let the statement be, and that it is to go.
    os.kill(backend, signal.SIGSTOP)
    asking.cancel()
    await asyncio.sleep(0.1)
    os.kill(backend, signal.SIGTERM)
    os.kill(backend, signal.SIGCONT)
    await asyncio.wait([asking], timeout=60)
    assert asking.cancelled()
    await database.close()


async def test_whoever_leaves_a_server_that_is_frozen_hangs_up(
    empty_postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    database = await Database.open(empty_postgres, pool=10, statement_seconds=10.0)
    asking = asyncio.create_task(database.query("SELECT pg_sleep(60)"))
    backend = await sleeping(empty_postgres)
    frozen = [int(Path(f"/proc/{backend}/stat").read_text().split()[3]), backend]
    try:
        for process in frozen:
            os.kill(process, signal.SIGSTOP)
        asking.cancel()
        await asyncio.wait([asking])
    finally:
        for process in frozen:
            os.kill(process, signal.SIGCONT)
    assert asking.cancelled()
    assert "query not terminated" not in caplog.text, "psycopg has waited for it"
    await database.close()


async def test_no_text_is_too_strange_to_be_looked_for(here: PostgresStore) -> None:
    await here.record("d1", always(opened(motion="100% \0 a_b \\ c")))
    for search, found in (("0% \0", 1), ("a_b \\", 1), ("aXb", 0), ("%%", 0)):
        assert (await here.list(DebateFilter(search=search))).total == found
    with pytest.raises(UnknownDebate):
        await here.state("d\0")
    assert await here.read("\0") == ()
