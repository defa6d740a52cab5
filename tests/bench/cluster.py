"""Several machines, all of them this one: two nodes with the viewers, one or two workers, PostgreSQL, Redis.

Beside them in the same run the embedded default: one process and a file. Debates are held at 50 tokens a
second each by the scripted provider, with one viewer each, whose word is late by the time from the moment
when it was due from the provider in a worker to its being read from a node. There are two cores for all of
it, the crowd included; where they are too few, fewer tokens come a second, and later.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic

import psutil
from msgspec import Struct

from moot.store.contract import Store
from moot.store.postgres.store import PostgresStore
from moot.store.sqlite.store import SqliteStore
from tests.bench.crowd import Crowd, Heard, Visit, crowd
from tests.bench.servers import TURNS, WORDS, House, Shared, house, moot, worker
from tests.bench.tools import folder, measured, report
from tests.support.event_factories import call_started, delta, opened, turn_started
from tests.support.postgres import Postgres
from tests.support.redis import Redis
from tests.support.streamed import append_streamed

SIZES = (50, 200, 800)
NODES = 2
TOKENS = TURNS * WORDS
IDLE_SECONDS = 10.0
APPENDED = 20_000
NARRATORS = 50


class Stage(Struct, frozen=True):
    """Who takes part, by what they are."""

    nodes: Sequence[House]
    others: dict[str, Sequence[int]]
    """Process ids."""

    def cpu(self) -> dict[str, float]:
        spent = {"nodes": sum(node.cpu for node in self.nodes)}
        return spent | {name: sum(map(_spent, pids)) for name, pids in self.others.items()}


class Cost(Struct, frozen=True):
    heard: Heard
    cpu: dict[str, float]
    wall: float


async def main() -> None:
    await _appends()
    async with crowd() as people:
        with folder() as data:
            async with house(moot, str(data)) as server:
                await _measure("embedded", Stage([server], {}), people)
        for workers in (1, 2):
            async with _cluster(workers) as stage:
                await _measure(f"{NODES} nodes, {workers} worker{'s'[: workers - 1]}", stage, people)


@asynccontextmanager
async def _cluster(workers: int) -> AsyncGenerator[Stage]:
    async with AsyncExitStack() as stack:
        data = stack.enter_context(folder())
        postgres = stack.enter_context(Postgres())
        redis = stack.enter_context(Redis())
        shared = Shared(postgres.url, redis.url)

        async def start(run: Callable[..., None], name: str) -> House:
            return await stack.enter_async_context(house(run, str(data / name), shared))

        nodes = [await start(moot, f"node-{place}") for place in range(NODES)]
        crew = [await start(worker, f"worker-{place}") for place in range(workers)]
        others = {
            "workers": [each.pid for each in crew],
            "postgres": [postgres.pid],
            "redis": [redis.pid],
        }
        yield Stage(nodes, others)


async def _measure(name: str, stage: Stage, people: Crowd) -> None:
    await _held(stage, people, 10)  # what is loaded, compiled and cached only once
    before = stage.cpu()
    await asyncio.sleep(IDLE_SECONDS)
    _report_cpu(f"{name}, idle", before, stage.cpu(), IDLE_SECONDS)
    for debates in SIZES:
        cost = await _held(stage, people, debates)
        tokens = debates * TOKENS
        pace, each = tokens / cost.wall, TOKENS / cost.heard.events
        whole = sum(cost.cpu.values()) / tokens
        parts = ", ".join(f"{part} {spent / tokens * 1e6:.0f}" for part, spent in cost.cpu.items())
        report(
            f"{name}, {debates} debates",
            f"{pace:,.0f} tokens/s",
            f"{whole * 1e6:.0f} µs of CPU a token, that is {whole * 1e5:.0f} % of a core for 1,000 tokens/s "
            f"({parts}); lag p50 / p99 {cost.heard.lag[0]:.0f} / {cost.heard.lag[1]:.0f} ms; "
            f"{each:.1f} tokens an event",
        )


async def _held(stage: Stage, people: Crowd, debates: int) -> Cost:
    first = stage.nodes[0]
    names = await first.ask(debates)
    paths = [f"/api/v1/debates/{name}/stream" for name in names]
    await people.gather(Visit([node.port for node in stage.nodes], paths))
    before, began = stage.cpu(), monotonic()
    await first.ask(names)
    heard = await people.hear()
    assert heard.alike, "not everybody was told the same"
    spent = {part: after - before[part] for part, after in stage.cpu().items()}
    return Cost(heard, spent, heard.ended - began)


def _report_cpu(what: str, before: dict[str, float], after: dict[str, float], seconds: float) -> None:
    shares = {part: (after[part] - before[part]) / seconds * 100 for part in after}
    parts = ", ".join(f"{part} {share:.1f}" for part, share in shares.items())
    report(what, f"{sum(shares.values()):.1f} % of a core", parts)


def _spent(pid: int) -> float:
    """Seconds of a process and of all its children, those that are gone included."""
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    gone = process.cpu_times()
    return sum(sum(each.cpu_times()[:2]) for each in family) + gone.children_user + gone.children_system


# --- the log alone ------------------------------------------------------------------------------------


async def _appends() -> None:
    with folder() as data, Postgres() as postgres:
        store = await PostgresStore.open(postgres.url)
        ours = await _narrated(store, lambda: _spent(postgres.pid))
        beside = await _narrated(SqliteStore.open(data / "moot.db"), lambda: 0.0)
    for name, (pace, cpu, elsewhere) in {"PostgreSQL": ours, "SQLite": beside}.items():
        told = f"{cpu:.0f} µs of CPU each" + (f", {elsewhere:.0f} more in the server" if elsewhere else "")
        report(f"{NARRATORS} debates appending to {name}", f"{pace:,.0f} events/s", told)


async def _narrated(store: Store, elsewhere: Callable[[], float]) -> tuple[float, float, float]:
    async def narrate(debate_id: str) -> None:
        for _ in range(APPENDED // NARRATORS):
            await append_streamed(store, debate_id, [delta("a word or two ")], epoch=0)

    names = [f"deb_{place}" for place in range(NARRATORS)]
    for name in names:
        await store.record(name, lambda _: (opened(), turn_started(), call_started()))
    there = elsewhere()
    with measured() as spent:
        await asyncio.gather(*map(narrate, names))
    there = elsewhere() - there
    await store.close()
    return APPENDED / spent.wall, spent.cpu / APPENDED * 1e6, there / APPENDED * 1e6
