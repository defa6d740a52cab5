"""The throttle of a service shared by several processes: each has its own limit and all share one budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.cluster import redis_client
from moot.cluster.redis_client import RedisServer
from moot.cluster.redis_ephemeral_store import RedisEphemeralStore
from moot.core.ephemeral_store import Membership
from moot.core.errors import Fault
from moot.core.terms import Model
from moot.engine.ephemeral_store import MemoryEphemeralStore
from moot.models.registry import ProviderRegistry
from moot.providers import shared_throttle
from moot.providers.endpoints import BUILT_IN
from moot.providers.shared_throttle import LEASE_SECONDS, MINUTE, SharedThrottle
from moot.providers.throttle import EndpointLimits, Throttle
from tests.support.redis import Redis, redis  # noqa: F401 - a fixture


class Watched(MemoryEphemeralStore):
    """Stands still in time until it is moved, and counts what is asked of it."""

    def __init__(self) -> None:
        self.time = 1000.0
        super().__init__(lambda: self.time)
        self.asked = self.stayed = 0

    async def join(
        self, room: str, name: str, *, limit: int | None = None, seconds: float, replacing: str = ""
    ) -> bool:
        self.asked += 1
        return await super().join(room, name, limit=limit, seconds=seconds, replacing=replacing)

    async def renew(self, places: Iterable[Membership], *, seconds: float) -> None:
        await super().renew(places, seconds=seconds)
        self.stayed += 1


class House:
    """So many calls at the doors of several processes, each as short as may be."""

    def __init__(self) -> None:
        self.inside = self.most = self.done = 0

    async def call(self, gate: Throttle) -> None:
        async with gate.admit():
            self.inside += 1
            self.most = max(self.most, self.inside)
            await asyncio.sleep(0.002)
            self.inside -= 1
        self.done += 1


def gates(
    commons: MemoryEphemeralStore, allowed: EndpointLimits, lease: float = LEASE_SECONDS
) -> tuple[Throttle, Throttle]:
    def gate() -> Throttle:
        together = allowed.concurrent if allowed.written else None
        accord = SharedThrottle(
            commons, "openai", concurrent=together, per_minute=allowed.per_minute, lease=lease
        )
        return Throttle(allowed, shared=accord)

    return gate(), gate()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.002)


async def test_two_processes_are_inside_no_more_often_than_one_may_be() -> None:
    one, other = gates(MemoryEphemeralStore(), EndpointLimits(concurrent=2, written=True))
    house = House()
    await asyncio.gather(*(house.call(gate) for gate in (one, other) for _ in range(10)))
    assert (house.done, house.most) == (20, 2)
    await asyncio.gather(one.close(), other.close())


async def test_what_nobody_has_written_down_holds_for_each_process() -> None:
    one, other = gates(MemoryEphemeralStore(), EndpointLimits(concurrent=2))
    async with one.admit(), one.admit(), other.admit(), other.admit():
        assert (one.active, other.active) == (2, 2)


async def test_calls_a_minute_are_counted_together() -> None:
    commons = Watched()
    one, other = gates(commons, EndpointLimits(per_minute=3))
    house = House()
    await asyncio.gather(house.call(one), house.call(other), house.call(one))
    fourth = asyncio.create_task(house.call(other))
    await asyncio.sleep(0.05)
    assert house.done == 3
    commons.time += MINUTE
    await fourth


async def test_a_wait_that_the_service_asks_of_one_process_is_kept_by_the_others() -> None:
    one, other = gates(MemoryEphemeralStore(), EndpointLimits(concurrent=8, written=True))
    told = one.now()
    one.failed(Fault("rate_limited", retry_after=0.2), began=told)
    await one.close()
    async with other.admit():
        assert other.now() - told > 0.19
    assert other.limit == 4
    async with other.admit():
        assert other.limit == 4
    await other.close()


async def test_who_was_too_hasty_does_not_hear_it_from_itself() -> None:
    one, other = gates(MemoryEphemeralStore(), EndpointLimits(concurrent=8, written=True))
    async with one.admit(), one.admit(), one.admit(), one.admit():
        one.failed(Fault("rate_limited"), began=one.now())
    assert one.limit == 2
    await asyncio.sleep(0.01)
    async with one.admit():
        assert one.limit == 2
    await asyncio.gather(one.close(), other.close())


async def test_who_was_refused_more_often_than_others_is_let_in_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared_throttle, "OWN_LIMIT_SECONDS", 0.05)
    one, other = gates(MemoryEphemeralStore(), EndpointLimits(concurrent=8, written=True))
    for _ in range(3):
        one.failed(Fault("rate_limited"), began=one.now())
    assert one.limit == 1
    async with other.admit(), other.admit():
        await House().call(one)
    await asyncio.gather(one.close(), other.close())


async def test_the_places_of_a_process_that_died_are_free_after_a_while() -> None:
    commons = Watched()
    await commons.join("calls under way to openai", "the dead", seconds=LEASE_SECONDS)
    one, other = gates(commons, EndpointLimits(concurrent=1, written=True))
    house = House()
    waiting = asyncio.create_task(house.call(one))
    await asyncio.sleep(0.05)
    assert house.done == 0
    commons.time += LEASE_SECONDS
    await waiting
    await asyncio.gather(one.close(), other.close())


async def test_a_long_call_keeps_its_place() -> None:
    commons = Watched()
    one, other = gates(commons, EndpointLimits(concurrent=1, written=True), lease=0.06)
    async with one.admit():
        for _ in range(3):
            seen = commons.stayed
            await until(lambda seen=seen: commons.stayed > seen)
            commons.time += 0.05
        assert len(await commons.members("calls under way to openai")) == 1
    await one.close()
    assert await commons.members("calls under way to openai") == ()
    await other.close()


async def test_who_is_cut_while_waiting_leaves_no_place_behind() -> None:
    commons = Watched()
    one, other = gates(commons, EndpointLimits(concurrent=1, written=True))
    house = House()
    async with one.admit():
        waiting = [asyncio.create_task(house.call(other)) for _ in range(3)]
        await asyncio.sleep(0.03)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    assert other.active == 0
    await house.call(other)
    await asyncio.gather(one.close(), other.close())
    assert await commons.members("calls under way to openai") == ()


async def test_a_crowd_that_waits_asks_no_more_than_one() -> None:
    commons = Watched()
    one, other = gates(commons, EndpointLimits(concurrent=30, written=True))
    for number in range(30):
        await commons.join("calls under way to openai", str(number), seconds=1e9)
    commons.asked = 0
    crowd = [asyncio.create_task(House().call(gate)) for gate in (one, other) for _ in range(100)]
    await asyncio.sleep(0.3)
    assert commons.asked < len(crowd) / 4
    for task in crowd:
        task.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    await asyncio.gather(one.close(), other.close())


async def test_a_process_that_ends_takes_its_calls_out_of_the_count() -> None:
    commons = Watched()
    one, other = gates(commons, EndpointLimits(concurrent=1, written=True))
    async with one.admit():
        await one.close()
        async with other.admit():
            pass
    await asyncio.gather(one.close(), other.close())


async def test_the_limits_of_an_endpoint_hold_for_all_who_share_the_commons(tmp_path: Path) -> None:
    commons = MemoryEphemeralStore()
    limited = replace(BUILT_IN["openai"], limits=EndpointLimits(concurrent=1, written=True))

    def providers() -> ProviderRegistry:
        key = {"OPENAI_API_KEY": "sk-none"}
        made = ProviderRegistry({}, models=tmp_path, environ=key, services=[limited])
        made.share_limits(commons)
        return made

    one, other = providers(), providers()
    model = Model("openai", "gpt-6-luna")
    async with one.get("openai").admit(model):
        second = asyncio.create_task(other.get("openai").admit(model).__aenter__())
        await asyncio.sleep(0.05)
        assert not second.done()
    await second
    await one.close()
    await other.close()


async def test_redis_counts_for_all_and_without_it_each_for_itself(
    redis: Redis,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Where tests fill the machine, a Redis may take its time and is there all the same.
    monkeypatch.setattr(redis_client, "TICKS", 300)
    commons = RedisEphemeralStore(RedisServer(redis.url)), RedisEphemeralStore(RedisServer(redis.url))
    allowed = EndpointLimits(concurrent=2, per_minute=1000, written=True)
    one, other = (
        Throttle(allowed, shared=SharedThrottle(each, "openai", concurrent=2, per_minute=1000))
        for each in commons
    )
    house = House()
    await asyncio.gather(*(house.call(gate) for gate in (one, other) for _ in range(6)))
    assert (house.done, house.most) == (12, 2)
    redis.kill()
    alone = House()
    await asyncio.gather(*(alone.call(gate) for gate in (one, other) for _ in range(6)))
    assert alone.done == 12
    assert alone.most <= 4
    for part in (one, other, *commons):
        await part.close()
