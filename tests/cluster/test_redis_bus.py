"""A bus carries news between hubs: of one process, or of several by a real Redis. The log is the truth."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

from moot.cluster.redis_bus import MAX_MESSAGE_BYTES, RedisBus
from moot.cluster.redis_client import OptionalRedis, RedisServer, RedisUnavailable
from moot.core.errors import Invalid, StoreError
from moot.core.events import CallDelta, Recorded, RemarkInjected
from moot.engine.followers import Bus, Followers, MemoryBus
from moot.store.contract import LogPosition
from moot.store.memory import MemoryStore
from moot.testing.event_factories import call_started, opened, turn_started
from moot.testing.store_contract import append_streamed
from tests.support.redis import Redis, redis, redis_url  # noqa: F401 - fixtures
from tests.support.tls import Certificate, TlsProxy
from tests.support.until import until

DEBATE = "deb_1"
BEGUN = 3
WORDS = 200


class Aloof(MemoryStore):
    """Nobody may look at the heads: only messages tell that there is more."""

    async def positions(self, debate_ids: Sequence[str]) -> dict[str, LogPosition]:
        raise StoreError


class Reader:
    """Follows to the end of its patience, and keeps what it was given."""

    def __init__(self, hub: Followers, after: int = 0, *, turns_only: bool = False) -> None:
        self.seen: list[Recorded] = []
        self._task = asyncio.create_task(self._follow(hub, after, turns_only))

    async def _follow(self, hub: Followers, after: int, turns_only: bool) -> None:
        async for batch in hub.follow(DEBATE, after, turns_only=turns_only):
            self.seen += batch

    @property
    def seqs(self) -> list[int]:
        return [recorded.seq for recorded in self.seen]

    async def until(self, seq: int) -> list[int]:
        await until(lambda: bool(self.seen) and self.seen[-1].seq >= seq)
        return self.seqs

    async def end(self) -> None:
        await self._task


class Place:
    """Two processes on one log: one writes, the other follows."""

    def __init__(self, store: MemoryStore, writing: Bus, following: Bus) -> None:
        self.store = store
        self.writing = writing
        self.following = following
        self.hub = Followers(store, following)
        self.confirmed = 0
        following.add_listener(self._heard)
        store.listen(writing.publish)

    def _heard(self, _: str, records: tuple[Recorded, ...] | None) -> None:
        if records == ():
            self.confirmed += 1

    async def reader(self, after: int = 0, *, turns_only: bool = False) -> Reader:
        """One who misses no message from here on."""
        reader = Reader(self.hub, after, turns_only=turns_only)
        if isinstance(self.following, RedisBus):
            await until(lambda: self.confirmed >= (1 if turns_only else 2))
        else:
            await asyncio.sleep(0.01)
        return reader

    async def begin(self) -> None:
        await self.store.record(DEBATE, lambda _: (opened(), turn_started(), call_started()))

    async def say(self, *texts: str) -> None:
        await append_streamed(self.store, DEBATE, [CallDelta(1, 0, "text", text) for text in texts], epoch=0)

    async def remark(self, text: str) -> None:
        await self.store.record(DEBATE, lambda _: (RemarkInjected(1, text),))

    async def speech(self, words: int = WORDS, pause: float = 0.0) -> None:
        for number in range(words):
            await self.say(str(number))
            await asyncio.sleep(pause)

    async def close(self) -> None:
        await self.hub.close()
        await self.writing.close()
        await self.following.close()


@asynccontextmanager
async def between(store: MemoryStore, url: str | None) -> AsyncIterator[Place]:
    if url is None:
        one = MemoryBus()
        place = Place(store, one, one)
    else:
        place = Place(store, RedisBus(RedisServer(url)), RedisBus(RedisServer(url)))
    try:
        await place.begin()
        yield place
    finally:
        await place.close()


@pytest.fixture(params=["memory", "redis"])
def address(request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("redis_url") if request.param == "redis" else None


def channels(server: Redis) -> int:
    """How many somebody listens to."""
    return server.ask("PUBSUB", "CHANNELS", "moot:*").count(b"$")


def channels_of(server: Redis) -> list[str]:
    return server.ask("PUBSUB", "CHANNELS", "moot:*").decode().split("\r\n")[2:-1:2]


# --- every bus ----------------------------------------------------------------------------------------


async def test_what_one_commits_the_other_reads_in_order(address: str | None) -> None:
    async with between(Aloof(), address) as place:
        reader = await place.reader()
        await reader.until(BEGUN)
        await place.speech(pause=0.001)
        await place.remark("Louder!")
        assert await reader.until(BEGUN + WORDS + 1) == list(range(1, BEGUN + WORDS + 2))
        assert reader.seen == list(await place.store.read(DEBATE))


async def test_many_words_at_once_arrive_once_each(address: str | None) -> None:
    async with between(Aloof(), address) as place:
        readers = [await place.reader() for _ in range(5)]
        await place.speech(3000)
        for reader in readers:
            assert await reader.until(BEGUN + 3000) == list(range(1, BEGUN + 3001))


async def test_who_follows_the_turns_is_told_of_them_alone(address: str | None) -> None:
    async with between(Aloof(), address) as place:
        reader = await place.reader(BEGUN, turns_only=True)
        await place.say("a", "b")
        await place.remark("Louder!")
        await place.say("c")
        await place.remark("Still louder!")
        assert await reader.until(BEGUN + 5) == [BEGUN + 3, BEGUN + 5]


async def test_what_is_too_large_for_a_message_arrives_all_the_same(address: str | None) -> None:
    async with between(MemoryStore(), address) as place:
        reader = Reader(place.hub)
        await reader.until(BEGUN)
        await place.say("x" * (MAX_MESSAGE_BYTES + 1))
        assert await reader.until(BEGUN + 1) == [1, 2, 3, 4]
        assert reader.seen == list(await place.store.read(DEBATE))


async def test_a_deletion_ends_the_streams_elsewhere(address: str | None) -> None:
    async with between(MemoryStore(), address) as place:
        reader = await place.reader()
        await reader.until(BEGUN)
        await place.say("a")
        await reader.until(BEGUN + 1)
        await place.store.delete(DEBATE)
        await reader.end()


async def test_a_closed_bus_tells_nobody(address: str | None) -> None:
    async with between(MemoryStore(), address) as place:
        await place.following.close()
        await place.writing.close()
        await place.say("a")


# --- by Redis -----------------------------------------------------------------------------------------


async def test_a_process_does_not_hear_itself_twice(redis_url: str) -> None:  # noqa: F811 - the fixture
    async with between(Aloof(), redis_url) as place:
        heard: list[int] = []
        place.writing.add_listener(lambda _, records: heard.extend(record.seq for record in records or ()))
        place.writing.subscribe(DEBATE, words=True)
        reader = await place.reader()
        await reader.until(BEGUN)
        await place.speech(20)
        await reader.until(BEGUN + 20)
        await asyncio.sleep(0.05)
        assert heard == list(range(BEGUN + 1, BEGUN + 21))


async def test_whoever_joins_is_up_to_date_at_once(redis: Redis) -> None:  # noqa: F811 - the fixture
    """What is said before the subscription holds is lost to it; the log is looked at when it does."""
    async with between(MemoryStore(), redis.url) as place:
        reader = Reader(place.hub)
        await reader.until(BEGUN)
        await place.speech(5)
        await until(lambda: place.confirmed == 2)
        assert await reader.until(BEGUN + 5) == list(range(1, BEGUN + 6))


async def test_only_what_is_followed_is_sent_here(redis: Redis) -> None:  # noqa: F811 - the fixture
    bus = RedisBus(RedisServer(redis.url))
    for number in range(3000):
        bus.subscribe(f"deb_{number}", words=True)
    await until(lambda: channels(redis) > 0)
    for number in range(1, 3000):
        bus.unsubscribe(f"deb_{number}")
    await until(lambda: channels(redis) == 2)
    bus.subscribe("deb_0", words=False)
    await until(lambda: channels(redis) == 1)
    asked = redis.ask("INFO", "commandstats").decode()
    calls = int(asked.partition("cmdstat_subscribe:calls=")[2].partition(",")[0])
    assert calls < 50
    bus.unsubscribe("deb_0")
    await until(lambda: channels(redis) == 0)
    await bus.close()


@pytest.mark.parametrize(
    "rubbish",
    [
        "",
        "x",
        "strangersd",
        "strangersr",
        "strangersr" + "[" * 50_000,
        'strangersr[{"seq":9}]',
        "strangersr" + "x" * (MAX_MESSAGE_BYTES + 1),
    ],
    ids=str.__len__,
)
async def test_what_others_say_in_our_channels_does_no_harm(redis: Redis, rubbish: str) -> None:  # noqa: F811
    async with between(MemoryStore(), redis.url) as place:
        reader = await place.reader()
        await reader.until(BEGUN)
        for channel in channels_of(redis):
            redis.ask("PUBLISH", channel, rubbish)
        await place.say("a")
        assert await reader.until(BEGUN + 1) == list(range(1, BEGUN + 2))
        assert not place.following.connection_error
        assert "subscribe:calls=1," in redis.ask("INFO", "commandstats").decode(), "the line was held"


async def test_what_the_log_does_not_have_is_asked_for_once() -> None:
    class Counted(MemoryStore):
        reads = 0

        async def read(self, debate_id: str, after: int = 0, limit: int = 512) -> tuple[Recorded, ...]:
            self.reads += 1
            return await super().read(debate_id, after, limit)

    store = Counted()
    async with between(store, None) as place:
        reader = await place.reader()
        await reader.until(BEGUN)
        before, latest = store.reads, reader.seen[-1]
        place.following.publish(DEBATE, (msgspec.structs.replace(latest, seq=10**12),))
        await asyncio.sleep(0.05)
        assert store.reads - before < 5
        await place.say("a")
        assert await reader.until(BEGUN + 1) == list(range(1, BEGUN + 2))


async def test_arenas_with_databases_of_their_own_in_one_redis_do_not_hear_each_other(
    redis: Redis,  # noqa: F811 - the fixture
) -> None:
    async with between(Aloof(), redis.url) as place:
        reader = await place.reader()
        await reader.until(BEGUN)
        copy = RedisBus(RedisServer(redis.url.removesuffix("0") + "1"))
        copy.publish(DEBATE, (msgspec.structs.replace(reader.seen[-1], seq=BEGUN + 1),))
        await copy.close()
        await place.say("a")
        await place.say("b")
        await reader.until(BEGUN + 2)
        assert reader.seen == list(await place.store.read(DEBATE))


async def test_what_was_committed_last_is_still_told_when_a_process_ends(redis_url: str) -> None:  # noqa: F811
    async with between(Aloof(), redis_url) as place:
        reader = await place.reader()
        await reader.until(BEGUN)
        await place.say("ready?")
        await reader.until(BEGUN + 1)
        await place.say("farewell")
        await place.writing.close()
        assert await reader.until(BEGUN + 2) == list(range(1, BEGUN + 3))


async def test_a_redis_that_dies_and_comes_back_costs_no_record(redis: Redis) -> None:  # noqa: F811
    async with between(MemoryStore(), redis.url) as place:
        readers = [Reader(place.hub) for _ in range(5)]
        speaking = asyncio.create_task(place.speech(600, pause=0.005))
        for _ in range(3):
            await asyncio.sleep(0.3)
            redis.kill()
            await asyncio.sleep(0.3)
            redis.start()
        await speaking
        for reader in readers:
            assert await reader.until(BEGUN + 600) == list(range(1, BEGUN + 601))
        await until(lambda: not trouble(place))
        before = len(readers[0].seen)
        await place.say("again")
        assert await readers[0].until(before + 1) == list(range(1, before + 2))


async def test_connections_that_are_cut_again_and_again_cost_no_record(redis: Redis) -> None:  # noqa: F811
    async with between(MemoryStore(), redis.url) as place:
        readers = [Reader(place.hub) for _ in range(5)]
        speaking = asyncio.create_task(place.speech(400, pause=0.005))
        while not speaking.done():
            redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
            redis.ask("CLIENT", "KILL", "TYPE", "normal")
            await asyncio.sleep(0.05)
        for reader in readers:
            assert await reader.until(BEGUN + 400) == list(range(1, BEGUN + 401))


async def test_without_redis_everything_works_and_is_only_slower(redis: Redis) -> None:  # noqa: F811
    redis.kill()
    async with between(MemoryStore(), redis.url) as place:
        reader = Reader(place.hub)
        await place.speech(20)
        assert await reader.until(BEGUN + 20) == list(range(1, BEGUN + 21))
        await until(lambda: trouble(place))
        await place.store.delete(DEBATE)
        await reader.end()
        redis.start()
        await place.begin()
        again = Reader(place.hub)
        await until(lambda: not trouble(place))
        await place.say("a")
        await again.until(BEGUN + 1)


async def test_redis_is_missed_and_welcomed_once(
    redis: Redis,  # noqa: F811 - the fixture
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "moot")
    async with between(MemoryStore(), redis.url) as place:
        Reader(place.hub)
        await asyncio.sleep(0.1)
        redis.kill()
        await place.speech(20, pause=0.02)
        await until(lambda: bool(place.writing.connection_error and place.following.connection_error))
        await place.speech(20, pause=0.02)
        redis.start()
        await until(lambda: not trouble(place))
    # Two processes, each of which says it once.
    said = [record.getMessage() for record in caplog.records]
    assert [message.startswith("Redis cannot be reached") for message in sorted(said)] == [True] * 2 + [
        False
    ] * 2


async def test_the_password_is_told_to_nobody(caplog: pytest.LogCaptureFixture) -> None:
    with Redis("sesame") as guarded:
        wrong = guarded.url.replace("sesame", "simsalabim")
        async with between(MemoryStore(), wrong) as place:
            await place.speech(3)
            await until(lambda: trouble(place))
        assert "cannot be reached" in caplog.text
        assert "simsalabim" not in caplog.text
        async with between(Aloof(), guarded.url) as place:
            reader = await place.reader()
            await reader.until(BEGUN)
            await place.say("a")
            await reader.until(BEGUN + 1)


async def test_a_certificate_that_is_not_trusted_is_told(redis: Redis, tmp_path: Path) -> None:  # noqa: F811
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    certificate = Certificate(tmp_path / "one")
    elsewhere = Certificate(tmp_path / "other", ["redis.example.org"])

    def connect() -> socket.socket:
        return socket.create_connection(("127.0.0.1", redis.port))

    async def error_of(port: int, roots: str = "") -> str:
        server = RedisServer(f"rediss://127.0.0.1:{port}/0{roots}")
        asking = OptionalRedis(server)
        with suppress(RedisUnavailable):
            await asking.execute("PING")
        await asking.close()
        return server.connection_error

    with TlsProxy(certificate, connect) as proxy, TlsProxy(elsewhere, connect) as misnamed:
        assert await error_of(proxy.port, f"?ssl_ca_certs={certificate.path}") == ""
        told = await error_of(proxy.port)
        assert "its certificate is not trusted" in told
        assert "?ssl_ca_certs=FILE" in told
        assert "for another host" in await error_of(misnamed.port, f"?ssl_ca_certs={elsewhere.path}")
    with pytest.raises(Invalid, match="ssl_ca_certs"):
        RedisServer(f"rediss://127.0.0.1:1/0?ssl_ca_certs={tmp_path / 'none.crt'}")


@pytest.mark.parametrize(
    "wrong", ["redis://:secret@host:port/0", "redis://:secret@host/0?colour=red", "secret"]
)
def test_an_address_that_is_none_is_refused_and_not_repeated(wrong: str) -> None:
    with pytest.raises(Invalid) as refused:
        RedisBus(RedisServer(wrong))
    assert "secret" not in str(refused.value)


async def test_redis_may_be_behind_a_socket_of_this_machine() -> None:
    # Not in the folder of the tests: the path of a socket must be short.
    with TemporaryDirectory(prefix="moot-", dir="/tmp") as folder, Redis(path=Path(folder, "redis.sock")):
        async with between(Aloof(), f"unix://{folder}/redis.sock") as place:
            reader = await place.reader()
            await reader.until(BEGUN)
            await place.say("a")
            await reader.until(BEGUN + 1)


def trouble(place: Place) -> bool:
    buses = (place.writing, place.following)
    return any(isinstance(bus, RedisBus) and bus.connection_error for bus in buses)
