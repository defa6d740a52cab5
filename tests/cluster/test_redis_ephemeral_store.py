"""What the processes of one arena know together: the same of one process and of many that share a Redis."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import uuid4

import pytest

from moot.api.auth import OPERATOR, Tickets
from moot.api.rate_limits import RateLimiter
from moot.cluster import redis_client
from moot.cluster.redis_client import RedisServer
from moot.cluster.redis_ephemeral_store import RedisEphemeralStore
from moot.core.ephemeral_store import EphemeralStore
from moot.engine.ephemeral_store import CLEANUP_GROUPS, KeyedMutex, MemoryEphemeralStore, Presence
from tests.support.redis import Redis, redis, redis_url  # noqa: F401 - fixtures

LONG, SOON = 60.0, 0.03


@pytest.fixture(autouse=True)
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tests fill the machine, a Redis may take its time and is there all the same."""
    if "silent" not in request.fixturenames:
        monkeypatch.setattr(redis_client, "TICKS", 300)


@pytest.fixture(params=["memory", "redis"])
async def commons(request: pytest.FixtureRequest) -> AsyncIterator[EphemeralStore]:
    many = request.param == "redis"
    server = RedisServer(request.getfixturevalue("redis_url")) if many else None
    commons = RedisEphemeralStore(server) if server else MemoryEphemeralStore()
    yield commons
    await commons.close()


@pytest.fixture
async def two(redis_url: str) -> AsyncIterator[tuple[RedisEphemeralStore, RedisEphemeralStore]]:  # noqa: F811 - the fixture
    """Those of two processes."""
    one, other = RedisEphemeralStore(RedisServer(redis_url)), RedisEphemeralStore(RedisServer(redis_url))
    yield one, other
    await one.close()
    await other.close()


@pytest.fixture
def name() -> str:
    """Nobody else's."""
    return uuid4().hex


async def until(seen: Callable[[], Awaitable[object]]) -> None:
    while not await seen():  # noqa: ASYNC110 - nobody tells when a time is up
        await asyncio.sleep(0.005)


# --- what is kept ---------------------------------------------------------------------------------------


async def test_what_is_kept_is_recalled_until_it_is_taken(commons: EphemeralStore, name: str) -> None:
    assert await commons.get(name) is None
    await commons.put(name, b"one", LONG)
    await commons.put(name, b"two", LONG)
    assert await commons.get(name) == b"two"
    assert await commons.pop(name) == b"two"
    assert await commons.pop(name) is None
    assert await commons.get(name) is None


async def test_what_is_kept_with_a_word_is_for_those_who_know_it(commons: EphemeralStore, name: str) -> None:
    await commons.put(name, b"secret", LONG, secret="open sesame")
    assert await commons.get(name, secret="open sesame") == b"secret"
    assert await commons.get(name, secret="open rye") is None
    assert await commons.get(name) != b"secret"


async def test_what_is_kept_is_forgotten_in_time(commons: EphemeralStore, name: str) -> None:
    await commons.put(name, b"", LONG)
    assert await commons.get(name) == b""
    await commons.put(name, b"short", SOON)

    async def forgotten() -> bool:
        return await commons.get(name) is None

    await until(forgotten)
    assert await commons.pop(name) is None


async def test_of_all_who_ask_at_once_one_gets_it(commons: EphemeralStore, name: str) -> None:
    await commons.put(name, b"it", LONG)
    got = await asyncio.gather(*(commons.pop(name) for _ in range(40)))
    assert [found for found in got if found] == [b"it"]


# --- rooms ----------------------------------------------------------------------------------------------


async def test_a_room_holds_so_many_and_who_is_in_may_enter_again(commons: EphemeralStore, name: str) -> None:
    assert await commons.join(name, "a", limit=2, seconds=LONG)
    assert await commons.join(name, "b", limit=2, seconds=LONG)
    assert not await commons.join(name, "c", limit=2, seconds=LONG)
    assert await commons.join(name, "a", limit=2, seconds=LONG)
    assert set(await commons.members(name)) == {"a", "b"}
    await commons.leave(name, "a")
    await commons.leave(name, "nobody")
    assert await commons.join(name, "c", limit=2, seconds=LONG)
    assert await commons.join(name, "d", seconds=LONG)
    assert set(await commons.members(name)) == {"b", "c", "d"}


async def test_one_goes_and_the_other_comes_in_one_step(commons: EphemeralStore, name: str) -> None:
    assert await commons.join(name, "a", limit=1, seconds=LONG)
    assert await commons.join(name, "b", limit=1, seconds=LONG, replacing="a")
    assert await commons.members(name) == ("b",)
    assert not await commons.join(name, "c", limit=1, seconds=LONG, replacing="nobody")
    assert await commons.members(name) == ("b",)


async def test_who_does_not_enter_again_has_left(commons: EphemeralStore, name: str) -> None:
    await commons.join(name, "a", limit=1, seconds=SOON)
    await until(lambda: commons.join(name, "b", limit=1, seconds=LONG))

    async def alone() -> bool:
        return await commons.members(name) == ("b",)

    await until(alone)


async def test_an_empty_room_is_no_room_at_all(commons: EphemeralStore, name: str) -> None:
    await commons.join(name, "a", seconds=SOON)

    async def empty() -> bool:
        return not await commons.members(name)

    await until(empty)
    await commons.leave(name, "a")
    assert await commons.join(name, "b", limit=1, seconds=LONG)


async def test_many_stay_at_once(commons: EphemeralStore, name: str) -> None:
    places = [(f"{name}{number % 7}", str(number)) for number in range(1200)]
    for room, who in places[:7]:
        await commons.join(room, who, seconds=0.5)
    await commons.renew(places, seconds=LONG)
    await asyncio.sleep(0.6)
    assert sum([len(await commons.members(f"{name}{number}")) for number in range(7)]) == 1200


async def test_rooms_that_everybody_left_without_a_word_are_cleared() -> None:
    now = 0.0
    commons = MemoryEphemeralStore(lambda: now)
    for number in range(CLEANUP_GROUPS - 1):
        await commons.join(f"room {number}", "a", seconds=1)
    now = 2.0
    await commons.join("one", "a", seconds=1)
    assert len(commons._groups) == 1


# --- counting -------------------------------------------------------------------------------------------


async def test_requests_are_counted_to_the_end_of_the_window(commons: EphemeralStore, name: str) -> None:
    began = time.time()
    assert [await commons.storage.incr(name, 60) for _ in range(3)] == [1, 2, 3]
    assert await commons.storage.get(name) == 3
    assert began + 59 < await commons.storage.get_expiry(name) < time.time() + 61
    await commons.storage.clear(name)
    assert await commons.storage.get(name) == 0
    assert await commons.storage.check()


async def test_the_next_window_begins_with_nothing(commons: EphemeralStore, name: str) -> None:
    assert await commons.storage.incr(name, SOON) == 1

    async def over() -> bool:
        return await commons.storage.get(name) == 0

    await until(over)
    assert await commons.storage.incr(name, 60) == 1


# --- two processes --------------------------------------------------------------------------------------


async def test_two_processes_never_give_out_the_same_last_place(
    two: tuple[RedisEphemeralStore, RedisEphemeralStore], name: str
) -> None:
    tries = [commons.join(name, uuid4().hex, limit=10, seconds=LONG) for _ in range(100) for commons in two]
    assert sum(await asyncio.gather(*tries)) == 10
    assert len(await two[0].members(name)) == 10


async def test_one_process_knows_what_the_other_keeps(
    two: tuple[RedisEphemeralStore, RedisEphemeralStore], name: str
) -> None:
    one, other = two
    await one.put(name, b"it", LONG)
    assert await other.get(name) == b"it"
    got = await asyncio.gather(*(commons.pop(name) for _ in range(20) for commons in two))
    assert [found for found in got if found] == [b"it"]


async def test_a_ticket_of_one_process_opens_a_stream_of_the_other_once(
    two: tuple[RedisEphemeralStore, RedisEphemeralStore],
) -> None:
    one, other = Tickets(two[0]), Tickets(two[1])
    ticket = await one.issue(OPERATOR, "deb_1")
    assert await other.redeem(ticket, "deb_1") == OPERATOR
    assert await one.redeem(ticket, "deb_1") is None


async def test_two_processes_hold_one_limit(
    two: tuple[RedisEphemeralStore, RedisEphemeralStore], name: str
) -> None:
    limiters = [RateLimiter(100, commons.storage) for commons in two]
    standings = await asyncio.gather(*(limiter.hit(name) for _ in range(200) for limiter in limiters))
    assert sum(standing.allowed for standing in standings if standing) == 100
    left = sorted((standing.remaining for standing in standings if standing), reverse=True)
    assert left == [*range(99, -1, -1), *[0] * 300]
    assert len({standing.reset for standing in standings if standing}) <= 2


async def test_who_has_not_counted_knows_when_the_window_ends(
    two: tuple[RedisEphemeralStore, RedisEphemeralStore], name: str
) -> None:
    one, other = RateLimiter(1, two[0].storage), RateLimiter(1, two[1].storage)
    await one.hit(name)
    standing = await other.peek(name)
    assert standing is not None
    assert not standing.allowed
    assert 55 < standing.retry_after <= 60


async def test_two_processes_do_the_same_thing_one_after_the_other(
    two: tuple[RedisEphemeralStore, RedisEphemeralStore], name: str
) -> None:
    inside = most = 0

    async def do(turnstile: KeyedMutex) -> None:
        nonlocal inside, most
        async with turnstile.locked(name):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1

    turnstiles = [KeyedMutex(commons) for commons in two]
    await asyncio.gather(*(do(turnstile) for _ in range(5) for turnstile in turnstiles))
    assert most == 1


async def test_the_places_of_a_process_that_is_gone_are_free_again(
    two: tuple[RedisEphemeralStore, RedisEphemeralStore], name: str
) -> None:
    one, other = two
    attendance = Presence(other)
    await one.join(name, "of one that was killed", limit=2, seconds=SOON)
    async with attendance.join(name, most=2) as let_in:
        assert let_in

        async def alone() -> bool:
            return len(await one.members(name)) == 1

        await until(alone)
        await attendance.renew()
        assert len(await one.members(name)) == 1
    assert not await one.members(name)


# --- Redis goes, and comes back -------------------------------------------------------------------------


async def test_nothing_stays_behind_and_nothing_is_told(redis: Redis) -> None:  # noqa: F811 - the fixture
    commons = RedisEphemeralStore(RedisServer(redis.url))
    await RateLimiter(5, commons.storage).hit("203.0.113.77")
    ticket = await Tickets(commons).issue(OPERATOR, "deb_1")
    await commons.join("streams of 203.0.113.77", "a", seconds=LONG)
    await commons.put("quick ann\n2\nthe canary's song", b"deb_1", LONG)
    await commons.close()
    keys = redis.ask("KEYS", "*").decode().split("\r\n")[2:-1:2]
    assert len(keys) == 4
    assert all(key.startswith("moot:") and int(redis.ask("PTTL", key)[1:]) > 0 for key in keys)
    for key in keys:
        told = redis.ask("DUMP", key)
        for secret in (b"203.0.113.77", b"canary", ticket.encode()):
            assert secret not in key.encode() + told


async def test_without_redis_each_process_goes_on_by_itself(
    redis: Redis,  # noqa: F811 - the fixture
    name: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "moot")
    commons = RedisEphemeralStore(RedisServer(redis.url))
    tickets = Tickets(commons)
    assert await commons.join(name, "a", limit=2, seconds=LONG)
    assert not commons.connection_error
    redis.kill()
    ticket = await tickets.issue(OPERATOR, "deb_1")
    assert commons.connection_error
    assert await commons.join(name, "b", limit=2, seconds=LONG)
    assert not await commons.join(name, "c", limit=2, seconds=LONG), "the first one is still there"
    assert set(await commons.members(name)) == {"a", "b"}
    await commons.leave(name, "nobody")
    await commons.put(name, b"it", LONG)
    assert await commons.get(name) == b"it"
    assert await commons.storage.incr(name, 60) == 1
    assert not await commons.storage.check()
    redis.start()
    await until(lambda: _is_back(commons, name))
    assert await tickets.redeem(ticket, "deb_1") == OPERATOR
    assert await commons.pop(name) == b"it"
    assert set(await commons.members(name)) == {"a", "b"}
    await commons.renew([(name, "a"), (name, "b")], seconds=LONG)
    assert not await commons.join(name, "c", limit=2, seconds=LONG)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    await commons.close()


async def test_without_redis_no_process_lets_more_through_than_the_limit(
    redis: Redis,  # noqa: F811 - the fixture
    name: str,
) -> None:
    commons = [RedisEphemeralStore(RedisServer(redis.url)) for _ in range(2)]
    limiters = [RateLimiter(100, each.storage) for each in commons]
    left: list[list[int]] = [[], []]
    passed = 0

    async def ask(times: int) -> None:
        nonlocal passed
        for _ in range(times):
            for number, limiter in enumerate(limiters):
                standing = await limiter.hit(name)
                assert standing is not None
                passed += standing.allowed
                left[number].append(standing.remaining)

    await ask(20)
    redis.kill()
    await ask(30)
    redis.start()
    for each in commons:
        await until(lambda each=each: _is_back(each, "another"))
    await ask(100)
    assert 100 <= passed <= 200
    assert all(told == sorted(told, reverse=True) for told in left)
    for each in commons:
        await each.close()


async def test_a_ticket_that_may_be_known_in_two_places_is_told_to_nobody(redis: Redis) -> None:  # noqa: F811
    """The answer of Redis is lost: the ticket may have come there, and is kept here too."""
    one, other = (RedisEphemeralStore(RedisServer(redis.url)) for _ in range(2))
    await one.get("health")
    ask = one._redis._redis.execute_command

    async def lose_the_answer(*words: object) -> object:
        await ask(*words)
        raise ConnectionError

    one._redis._redis.execute_command = lose_the_answer
    ticket = await Tickets(one).issue(OPERATOR, "deb_1")
    one._redis._redis.execute_command = ask
    assert await Tickets(other).redeem(ticket, "deb_1") is None
    assert await Tickets(one).redeem(ticket, "deb_1") == OPERATOR
    assert await Tickets(one).redeem(ticket, "deb_1") is None
    await one.close()
    await other.close()


async def test_a_redis_that_can_only_be_read_is_away(
    redis: Redis,  # noqa: F811 - the fixture
    name: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redis_client, "PAUSE", 0.0)
    commons = RedisEphemeralStore(RedisServer(redis.url))
    redis.ask("REPLICAOF", "127.0.0.1", str(redis.port))
    redis.ask("CONFIG", "SET", "replica-serve-stale-data", "yes")
    for _ in range(3):
        await commons.put(name, b"it", LONG)
        assert await commons.get(name) == b"it"
    assert commons.connection_error
    assert len(caplog.records) == 1
    await commons.close()


async def test_what_an_address_asks_for_does_not_bring_back_the_deadlines_of_the_library(
    redis_url: str,  # noqa: F811 - the fixture
) -> None:
    reach = RedisServer(
        f"{redis_url}?socket_timeout=1&socket_connect_timeout=1&retry_on_timeout=yes&protocol=3"
    )
    connection = reach.connection()
    assert (connection.socket_timeout, connection.socket_connect_timeout) == (None, None)
    assert (connection.retry.get_retries(), connection.protocol) == (0, 2)


async def test_a_redis_that_was_never_there_is_no_obstacle(name: str) -> None:
    gone = Redis()
    commons = RedisEphemeralStore(RedisServer(gone.url))
    limiter = RateLimiter(3, commons.storage)
    standings = [await limiter.hit(name) for _ in range(4)]
    assert [standing.allowed for standing in standings if standing] == [True, True, True, False]
    assert "Redis" in commons.connection_error
    await commons.close()


@pytest.fixture
async def silent() -> AsyncIterator[str]:
    """A place where somebody listens and never answers."""
    over = asyncio.Event()

    async def hear(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    async with await asyncio.start_server(hear, "127.0.0.1", 0) as server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        over.set()


async def test_a_redis_that_says_nothing_is_not_waited_for_long(silent: str, name: str) -> None:
    commons = RedisEphemeralStore(RedisServer(silent))
    limiter = RateLimiter(40, commons.storage)
    standings = await asyncio.gather(*(limiter.hit(name) for _ in range(50)))
    assert sum(standing.allowed for standing in standings if standing) == 40
    assert "does not answer in time" in commons.connection_error
    assert await commons.join(name, "a", limit=1, seconds=LONG)
    await commons.close()


async def test_a_process_that_is_busy_itself_does_not_take_redis_for_away(
    two: tuple[RedisEphemeralStore, RedisEphemeralStore], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_client, "TICKS", 10)
    await two[0].get(name)
    asked = asyncio.create_task(two[0].get(name))
    await asyncio.sleep(0)
    time.sleep(1.1)  # noqa: ASYNC251 - that is the point
    await asked
    assert not two[0].connection_error


async def _is_back(commons: RedisEphemeralStore, name: str) -> bool:
    await commons.get(name)
    return not commons.connection_error
