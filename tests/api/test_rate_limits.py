"""How much one client may ask, and who is one client."""

from __future__ import annotations

import asyncio
import time

import pytest

from moot.api.problems import Problem
from moot.api.rate_limits import Counted, RateLimiter, StreamLimiter, TokenBucket, TrustedProxies
from moot.core.errors import Invalid
from moot.engine.ephemeral_store import MemoryEphemeralStore, Presence
from moot.providers.keys import Secret
from tests.web.apps import Echo
from tests.web.conftest import Serving
from tests.web.raw_client import Line, exchange, request

# --- who is one client ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["6.6.6.6, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["6.6.6.6, 198.51.100.1, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["6.6.6.6", "198.51.100.1:4711"], "198.51.100.1"),
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["nonsense, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("::ffff:10.0.0.1", ["[2001:db8:1:2:3::4]:80"], "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", [], "2001:db8:1:2::/64"),
        ("fe80::1%eth0", [], "fe80::/64"),
        ("", ["198.51.100.1"], "local"),
    ],
)
def test_a_client_is_the_nearest_hop_that_nobody_vouches_for(
    peer: str, forwarded: list[str], client: str
) -> None:
    assert TrustedProxies(("10.0.0.0/8",)).client_key(peer, forwarded) == client


def test_a_proxy_is_named_by_its_address() -> None:
    with pytest.raises(Invalid, match="MOOT_TRUSTED_PROXIES"):
        TrustedProxies(("proxy.example.org",))


# --- requests -------------------------------------------------------------------------------------------


async def test_a_client_may_ask_so_often_and_then_waits() -> None:
    limiter = RateLimiter(3)
    standings = [await limiter.hit("a") for _ in range(4)]
    assert [s.remaining for s in standings if s] == [2, 1, 0, 0]
    assert [s.allowed for s in standings if s] == [True, True, True, False]
    last = standings[-1]
    assert last is not None
    assert 1 <= last.retry_after <= 60
    assert 0 <= last.reset - time.time() <= 61
    with pytest.raises(Problem) as told:
        last.check()
    assert told.value.headers["Retry-After"] == str(last.retry_after)
    other = await limiter.hit("b")
    assert other is not None
    assert other.allowed


async def test_requests_at_once_are_counted_one_by_one() -> None:
    limiter = RateLimiter(50)
    standings = await asyncio.gather(*(limiter.hit("a") for _ in range(80)))
    assert sum(standing.allowed for standing in standings if standing) == 50


async def test_the_operator_can_lift_the_limit(behind_guard: Serving) -> None:
    assert await RateLimiter(None).hit("a") is None
    served = await behind_guard(Echo(), requests_per_minute=None)
    reply = await exchange(served.port, request("/api/x"))
    assert not [name for name in reply.headers if name.startswith("x-ratelimit")]


async def test_the_reply_after_the_last_one_is_429_whatever_is_asked(behind_guard: Serving) -> None:
    echo = Echo()
    served = await behind_guard(echo, requests_per_minute=4)
    asked = [
        (request("/api/x"), 200),
        (request("/api/x", "POST", b"{}", Content_Type="text/plain"), 415),
        (request("/api/x", Host="evil.example"), 421),
        (request("/api/x", "POST", b"{", Content_Type="text/plain"), 415),
        (request("/api/x"), 429),
        (request("/api/y", "POST", b"{}", Content_Type="text/plain"), 429),
    ]
    left: list[str] = []
    for sent, status in asked:
        reply = await exchange(served.port, sent)
        assert reply.status == status
        assert reply.headers["x-ratelimit-limit"] == "4"
        left.append(reply.headers["x-ratelimit-remaining"])
    assert left == ["3", "2", "1", "0", "0", "0"]
    assert reply.kind == "rate-limit"
    assert 1 <= int(reply.headers["retry-after"]) <= 60
    assert abs(int(reply.headers["x-ratelimit-reset"]) - time.time()) <= 61
    assert echo.seen == ["/api/x"]


async def test_nobody_is_another_client_for_the_asking(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), requests_per_minute=2)
    statuses: list[int] = []
    for number in range(4):
        address = f"198.51.100.{number}"
        sent = request("/api/x", X_Forwarded_For=address, Forwarded=f"for={address}", X_Real_IP=address)
        statuses.append((await exchange(served.port, sent)).status)
    assert statuses == [200, 200, 429, 429]


async def test_behind_a_trusted_proxy_everybody_is_counted_by_itself(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), requests_per_minute=1, proxies=("127.0.0.1",))
    for number in range(3):
        reply = await exchange(
            served.port, request("/api/x", X_Forwarded_For=f"6.6.6.6, 198.51.100.{number}")
        )
        assert reply.status == 200
    assert (await exchange(served.port, request("/api/x", X_Forwarded_For="198.51.100.0"))).status == 429


async def test_a_token_is_a_client_of_its_own_and_wrong_ones_are_not(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), requests_per_minute=2, token=Secret("operator-token-01"))
    for number, status in enumerate([401, 401, 429]):
        sent = request("/api/x", Authorization=f"Bearer guess-{number}")
        assert (await exchange(served.port, sent)).status == status
    right = request("/api/x", Authorization="Bearer operator-token-01")
    assert (await exchange(served.port, right)).status == 200


async def test_health_and_what_is_not_the_api_are_not_counted(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), requests_per_minute=1)
    line = await Line.to(served.port)
    for path in ("/health", "/api/v1/health", "/", "/static/app.js") * 3:
        await line.send(request(path))
        assert (await line.reply()).status == 200
    await line.close()


# --- streams and messages -------------------------------------------------------------------------------


async def test_so_many_streams_are_open_at_a_time() -> None:
    streams = StreamLimiter(2, Presence(MemoryEphemeralStore()))
    async with streams.slot(Counted("a")):
        async with streams.slot(Counted("a")), streams.slot(Counted("b")):
            with pytest.raises(Problem) as told:
                async with streams.slot(Counted("a")):
                    pass
            assert told.value.kind == "rate-limit"
        async with streams.slot(Counted("a")):
            pass


async def test_a_stream_keeps_its_place_however_long_it_is_open() -> None:
    now = 0.0
    attendance = Presence(MemoryEphemeralStore(lambda: now))
    streams = StreamLimiter(1, attendance)
    async with streams.slot(Counted("a")):
        for _ in range(3):
            now += 30
            await attendance.renew()
        with pytest.raises(Problem):
            async with streams.slot(Counted("a")):
                pass
    async with streams.slot(Counted("a")):
        pass


async def test_streams_without_a_limit() -> None:
    streams = StreamLimiter(None, Presence(MemoryEphemeralStore()))
    async with streams.slot(Counted("a")), streams.slot(Counted("a")), streams.slot(Counted("a")):
        pass


def test_a_bucket_lets_a_burst_through_and_then_so_many_a_second() -> None:
    now = 0.0
    bucket = TokenBucket(3, 2, lambda: now)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now = 0.5
    assert [bucket.take() for _ in range(2)] == [True, False]
    now = 100.0
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
