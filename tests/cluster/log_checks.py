"""What is left in the log after a run, read as it lies in PostgreSQL, and what must hold of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import psycopg

from moot.core.events import Recorded, TurnCompleted, decode_event
from moot.core.evolve import fold
from tests.chaos.viewers import Viewer, by_log
from tests.cluster.local_cluster import Cluster, Post

OVER_SECONDS = 120.0

Logs = dict[str, list[Recorded]]


async def logs(cluster: Cluster) -> Logs:
    found: Logs = {}
    async with await psycopg.AsyncConnection.connect(cluster.store, autocommit=True) as connection:
        rows = await connection.execute(
            "SELECT debate_id, seq, at, epoch, body FROM events ORDER BY debate_id, seq"
        )
        async for debate_id, seq, at, epoch, body in rows:
            found.setdefault(debate_id, []).append(Recorded(debate_id, seq, at, epoch, decode_event(body)))
    return found


async def all_over(cluster: Cluster, debates: Sequence[str]) -> None:
    """Until every one of them has ended, whatever becomes of the database meanwhile."""
    try:
        async with asyncio.timeout(OVER_SECONDS):
            while await _under_way(cluster, debates):  # noqa: ASYNC110 - a table does not tell
                await asyncio.sleep(0.1)
    except TimeoutError:
        alive = [post.name for post in (*cluster.nodes, *cluster.workers) if post.running]
        told = [line for line in cluster.errors().splitlines() if "moot.access" not in line]
        raise AssertionError(f"they never ended; alive: {alive}\n" + "\n".join(told)) from None


async def _under_way(cluster: Cluster, debates: Sequence[str]) -> int:
    try:
        async with await psycopg.AsyncConnection.connect(cluster.store, autocommit=True) as connection:
            row = await connection.execute(
                "SELECT count(*) FROM debates WHERE id = ANY(%s) AND status <> ALL(%s)",
                [list(debates), ["completed", "aborted", "error"]],
            )
            return (await row.fetchone() or (1,))[0]
    except psycopg.OperationalError:
        return 1


def check(found: Logs, debates: Sequence[str]) -> None:
    """All are finished, none has a hole, nobody wrote after his time, no turn was given twice to its end.

    Where a part loses its worker three times it is given up, so that no debate pays for ever; no test here
    goes so far.
    """
    assert sorted(found) == sorted(debates)
    for log in found.values():
        assert [recorded.seq for recorded in log] == list(range(1, len(log) + 1))
        assert all(one.epoch <= next.epoch for one, next in pairwise(log)), "a stale write"
        ends = Counter(recorded.event.turn for recorded in log if isinstance(recorded.event, TurnCompleted))
        assert set(ends.values()) == {1}
        debate = fold(log)
        assert debate is not None
        assert debate.status == "completed", debate.failure
        spoken = [turn for turn in debate.turns if turn.number in ends]
        assert [turn.slot for turn in spoken] == sorted({turn.slot for turn in spoken})
        assert len(spoken) == len(debate.schedule)


def waits(found: Logs) -> list[float]:
    """Seconds for which a debate was nobody's, each time that it went from one worker to another."""
    return sorted(
        (after.at - before.at).total_seconds()
        for log in found.values()
        for before, after in pairwise(log)
        if 0 < before.epoch < after.epoch
    )


async def busiest(cluster: Cluster, debates: Sequence[str]) -> tuple[Post, Post]:
    """The worker that runs most debates, and the other one, once each debate has been taken by somebody."""
    async with asyncio.timeout(OVER_SECONDS):
        running = await _running(cluster)
        while running.total() < await _under_way(cluster, debates):
            await asyncio.sleep(0.05)
            running = await _running(cluster)
    other, most = sorted(cluster.workers, key=lambda post: running[post.pid])
    return most, other


async def taken_over(cluster: Cluster, lost: Post) -> None:
    """Until no debate is left to this worker, which is frozen."""
    async with asyncio.timeout(OVER_SECONDS):
        while (await _running(cluster))[lost.pid]:  # noqa: ASYNC110 - a table does not tell
            await asyncio.sleep(0.05)


async def _running(cluster: Cluster) -> Counter[int]:
    """How many debates each process has, by its number."""
    async with await psycopg.AsyncConnection.connect(cluster.store, autocommit=True) as connection:
        rows = await connection.execute("SELECT runner FROM heads WHERE runner <> ''")
        return Counter([int(runner.split(":")[1]) async for (runner,) in rows])


class Audience:
    """Viewers of the native log of some debates, each at every port given."""

    def __init__(self, debates: Sequence[str], ports: Sequence[int]) -> None:
        self.viewers = [Viewer(port, debate_id, by_log) for debate_id in debates for port in ports]
        self._of = [debate_id for debate_id in debates for _ in ports]
        self._following = [asyncio.create_task(viewer.follow()) for viewer in self.viewers]

    @property
    def heard(self) -> int:
        return sum(len(viewer.seen) for viewer in self.viewers)

    @property
    def over(self) -> bool:
        """Nothing more is to be heard."""
        return all(any(told.event == "debate.ended" for told in viewer.seen[-3:]) for viewer in self.viewers)

    async def leave(self, found: Logs, port: int) -> None:
        """When they have seen all there is; it must be what somebody is shown who comes only now."""
        try:
            async with asyncio.timeout(OVER_SECONDS):
                for viewer, debate_id in zip(self.viewers, self._of, strict=True):
                    while viewer.last != str(len(found[debate_id])):
                        assert len(viewer.seen) <= len(found[debate_id])
                        await asyncio.sleep(0.02)
        finally:
            await self.close()
        for viewer, debate_id in zip(self.viewers, self._of, strict=True):
            fresh = Viewer(port, debate_id, by_log, until=str(len(found[debate_id])))
            await fresh.follow()
            assert viewer.seen == fresh.seen
            assert [told.id for told in fresh.seen] == [str(recorded.seq) for recorded in found[debate_id]]

    async def close(self) -> None:
        for task in self._following:
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)
