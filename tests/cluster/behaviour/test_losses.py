"""Workers, nodes, PostgreSQL and Redis die, freeze and are replaced: nothing is lost, and all debates end."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from moot.core.events import RemarkInjected
from tests.cluster.local_cluster import Cluster
from tests.cluster.log_checks import Audience, Logs, all_over, busiest, check, logs, taken_over, waits
from tests.support.postgres import Postgres

STALL = 2.0
LONG_STALL = 8.0
"""Where nobody dies: on a busy machine the living must not be taken for dead, and whoever is not handed over
in good order is missed for so long."""
CALM = {"MOOT_TICK_MS": "50"}
"""Fewer and larger events: it is processes that are tried here."""


async def opened(cluster: Cluster, count: int) -> list[str]:
    """Through all nodes, a few at a time."""
    gate = asyncio.Semaphore(8)

    async def one(number: int) -> str:
        async with gate:
            return await cluster.open(f"debate {number}")

    return await asyncio.gather(*(one(number) for number in range(count)))


async def until_heard(audience: Audience, more: int) -> None:
    """Or until all is said: where processes start slowly, that may be before the last of them is replaced."""
    wanted = audience.heard + more
    async with asyncio.timeout(60):
        while audience.heard < wanted and not audience.over:  # noqa: ASYNC110 - viewers tell nobody
            await asyncio.sleep(0.02)


async def seen_to_the_end(cluster: Cluster, debates: list[str], audience: Audience) -> Logs:
    await all_over(cluster, debates)
    found = await logs(cluster)
    check(found, debates)
    await audience.leave(found, cluster.port)
    assert "Traceback" not in cluster.errors(), cluster.errors()
    return found


def ports(cluster: Cluster) -> list[int]:
    return [node.port for node in cluster.nodes]


# --- a worker dies ---------------------------------------------------------------------------------------


async def dies(folder: Path, postgres: Postgres, debates: int) -> None:
    async with Cluster.up(folder, postgres, stall=STALL, pace_ms=20, env=CALM) as cluster:
        ids = await opened(cluster, debates)
        audience = Audience(ids[:10], ports(cluster))
        await until_heard(audience, 50)
        most, _ = await busiest(cluster, ids)
        await until_heard(audience, 50)
        await most.kill()
        found = await seen_to_the_end(cluster, ids, audience)
        gone = waits(found)
        assert gone, "it ran none of them"
        print(f"{len(gone)} of {debates} taken over: p50 {median(gone):.1f} s, max {gone[-1]:.1f} s")


@pytest.mark.timeout(900)
async def test_thirty_debates_survive_the_death_of_a_worker(tmp_path: Path, postgres: Postgres) -> None:
    await dies(tmp_path, postgres, 30)


@pytest.mark.chaos
@pytest.mark.timeout(900)
async def test_a_hundred_debates_survive_the_death_of_a_worker(tmp_path: Path, postgres: Postgres) -> None:
    await dies(tmp_path, postgres, 100)


# --- a worker freezes ------------------------------------------------------------------------------------


async def freezes(
    folder: Path, postgres: Postgres, debates: int, times: int, *, kill: bool, pace_ms: int = 30
) -> None:
    async with Cluster.up(folder, postgres, stall=STALL, pace_ms=pace_ms, env=CALM) as cluster:
        ids = await opened(cluster, debates)
        audience = Audience(ids[:4], ports(cluster))
        await until_heard(audience, 20)
        for _ in range(times):
            frozen, _ = await busiest(cluster, ids)
            frozen.freeze()
            await taken_over(cluster, frozen)
            frozen.thaw()
            await until_heard(audience, 10)
        if kill:
            most, _ = await busiest(cluster, ids)
            await most.kill()
        found = await seen_to_the_end(cluster, ids, audience)
        assert waits(found), "nothing was taken over"


@pytest.mark.timeout(900)
async def test_a_worker_that_wakes_up_writes_nothing_in_what_others_have_taken_over(
    tmp_path: Path, postgres: Postgres
) -> None:
    await freezes(tmp_path, postgres, 10, 1, kill=True, pace_ms=15)


@pytest.mark.chaos
@pytest.mark.timeout(1200)
async def test_fifty_workers_that_wake_up_write_nothing(tmp_path: Path, postgres: Postgres) -> None:
    for number in range(25):
        folder = tmp_path / str(number)
        folder.mkdir()
        await freezes(folder, postgres, 20, 2, kill=False)


# --- PostgreSQL and Redis go -----------------------------------------------------------------------------


class Heckler:
    """Says something again and again, each remark until it is acknowledged, with the same key."""

    def __init__(self, cluster: Cluster, debate_id: str) -> None:
        self._cluster = cluster
        self._debate_id = debate_id
        self.acknowledged: list[str] = []
        self.statuses = Counter[int]()

    async def go_on(self) -> None:
        number = 0
        while await self._say(f"Remark {number} of {self._debate_id}"):
            number += 1

    async def _say(self, text: str) -> bool:
        """False where the debate is over."""
        while True:
            reply = await self._cluster.http.post(
                f"/api/v1/debates/{self._debate_id}/inject",
                json={"text": text},
                headers={"Idempotency-Key": text},
            )
            self.statuses[reply.status_code] += 1
            match reply.status_code:
                case 200 | 202:
                    self.acknowledged.append(text)
                    await asyncio.sleep(0.05)
                    return True
                case 503:
                    assert "Retry-After" in reply.headers
                    await asyncio.sleep(0.1)
                case _:
                    assert reply.status_code == 409, reply.text
                    return False


async def goes(folder: Path, postgres: Postgres, debates: int, times: int) -> None:
    async with Cluster.up(folder, postgres, stall=LONG_STALL, pace_ms=20, env=CALM) as cluster:
        ids = await opened(cluster, debates)
        audience = Audience(ids[:4], ports(cluster))
        hecklers = [Heckler(cluster, debate_id) for debate_id in ids[:6]]
        async with asyncio.TaskGroup() as group:
            for heckler in hecklers:
                group.create_task(heckler.go_on())
            for number in range(times):
                await until_heard(audience, 20)
                await postgres.restart(away=number % 3)
                cluster.redis.kill()
                await until_heard(audience, 20)
                cluster.redis.start()
            await all_over(cluster, ids)
        found = await seen_to_the_end(cluster, ids, audience)
        for heckler, debate_id in zip(hecklers, ids[:6], strict=True):
            said = Counter(r.event.text for r in found[debate_id] if isinstance(r.event, RemarkInjected))
            assert all(said[text] == 1 for text in heckler.acknowledged)
            assert set(said.values()) <= {1}
        statuses = sum((heckler.statuses for heckler in hecklers), Counter[int]())
        print(f"{dict(statuses)} over {times} outages")


@pytest.mark.timeout(900)
async def test_an_outage_of_postgresql_and_redis_loses_nothing_that_was_acknowledged(
    tmp_path: Path, postgres: Postgres
) -> None:
    await goes(tmp_path, postgres, 10, 1)


@pytest.mark.chaos
@pytest.mark.timeout(1200)
async def test_twenty_outages_lose_nothing_that_was_acknowledged(tmp_path: Path, postgres: Postgres) -> None:
    for number in range(10):
        folder = tmp_path / str(number)
        folder.mkdir()
        await goes(folder, postgres, 20, 2)


# --- everything is replaced ------------------------------------------------------------------------------


async def replaced(folder: Path, postgres: Postgres, debates: int) -> None:
    async with Cluster.up(folder, postgres, stall=LONG_STALL, pace_ms=30, env=CALM) as cluster:
        ids = await opened(cluster, debates)
        audience = Audience(ids[: debates // 2], [cluster.port, cluster.port])
        for post in (*cluster.nodes, *cluster.workers):
            await until_heard(audience, 20)
            await post.restart()
        await seen_to_the_end(cluster, ids, audience)


@pytest.mark.timeout(900)
async def test_no_viewer_loses_a_word_while_every_process_is_replaced(
    tmp_path: Path, postgres: Postgres
) -> None:
    await replaced(tmp_path, postgres, 10)


@pytest.mark.chaos
@pytest.mark.timeout(600)
async def test_no_viewer_of_a_full_house_loses_a_word_while_every_process_is_replaced(
    tmp_path: Path, postgres: Postgres
) -> None:
    await replaced(tmp_path, postgres, 100)
