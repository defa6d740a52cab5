"""A cluster on this machine: two nodes with the viewers, one or two workers, PostgreSQL and Redis.

Beside it in the same run the embedded default: one process and a file. Debates are held at 50 tokens a second
each by the scripted provider, with one viewer each; lag is the time from the moment when a word is due in a
worker until a viewer reads it from a node. All processes, the viewers included, share the cores of this
machine; where these are too few, fewer tokens come a second, and later.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic

from msgspec import Struct

from tests.bench.child_process import ChildProcess, child_process
from tests.bench.figures import Figure, figure
from tests.bench.measure import process_tree_cpu, temporary_folder
from tests.bench.moot_server import STREAM, TOKENS, Backends, run_server, run_worker
from tests.bench.viewer_process import ViewerGroup, ViewerReport, Viewers, viewer_process
from tests.support.postgres import Postgres
from tests.support.redis import Redis

SIZES = (50, 200, 800)
NODES = 2
IDLE_SECONDS = 10.0
EMBEDDED = "embedded"


class Deployment(Struct, frozen=True):
    nodes: Sequence[ChildProcess]
    others: dict[str, Sequence[int]]
    """Ids of the other processes, by their kind."""

    def cpu(self) -> dict[str, float]:
        seconds = {"nodes": sum(node.cpu for node in self.nodes)}
        return seconds | {kind: sum(map(process_tree_cpu, pids)) for kind, pids in self.others.items()}


class DebatesCost(Struct, frozen=True):
    """What a number of debates cost."""

    report: ViewerReport
    cpu: dict[str, float]
    """µs a token, by kind of process."""
    tokens_per_second: float

    @property
    def total(self) -> float:
        return sum(self.cpu.values())


class DeploymentCost(Struct, frozen=True):
    idle: dict[str, float]
    """Percent of a core, by kind of process."""
    debates: dict[int, DebatesCost]


async def bench() -> AsyncIterator[Figure]:
    async with viewer_process() as viewers:
        with temporary_folder() as data:
            async with child_process(run_server, str(data)) as server:
                embedded = await _measure(Deployment([server], {}), viewers)
        for each in _figures("one process and a file", embedded, None):
            yield each
        for workers in (1, 2):
            async with _cluster(workers) as deployment:
                cost = await _measure(deployment, viewers)
            for each in _figures(f"{NODES} nodes, {workers} worker{'s'[: workers - 1]}", cost, embedded):
                yield each


def _figures(name: str, cost: DeploymentCost, embedded: DeploymentCost | None) -> list[Figure]:
    """With the embedded default as limit, unless these are its own figures."""

    def beside(value: Callable[[DeploymentCost], float]) -> tuple[str, float] | None:
        return (EMBEDDED, value(embedded)) if embedded else None

    idle = figure(
        f"{name}: idle, share of a core",
        sum(cost.idle.values()),
        "%",
        limit=beside(lambda one: sum(one.idle.values())),
        goal=0.5 if embedded else 0.1,
        goal_for="value",
        note=_parts(cost.idle, 2),
        main=embedded is not None,
    )
    figures = [idle]
    for debates, held in cost.debates.items():
        figures += [
            figure(
                f"{name}, {debates} debates: CPU a token",
                held.total,
                "µs",
                limit=beside(lambda one, debates=debates: one.debates[debates].total),
                goal=1.6 if embedded else None,
                note=f"{_parts(held.cpu, 0)}; {held.tokens_per_second:,.0f} tokens/s",
                main=embedded is not None and name.endswith("1 worker"),
            ),
            figure(
                f"{name}, {debates} debates: lag p99",
                held.report.lag[1],
                "ms",
                limit=beside(lambda one, debates=debates: one.debates[debates].report.lag[1]),
                note=f"p50 {held.report.lag[0]:.0f} ms; {TOKENS / held.report.events:.1f} tokens an event",
            ),
        ]
    return figures


def _parts(numbers: dict[str, float], digits: int) -> str:
    return ", ".join(f"{kind} {number:.{digits}f}" for kind, number in numbers.items())


@asynccontextmanager
async def _cluster(workers: int) -> AsyncGenerator[Deployment]:
    async with AsyncExitStack() as stack:
        data = stack.enter_context(temporary_folder())
        postgres = stack.enter_context(Postgres())
        redis = stack.enter_context(Redis())
        backends = Backends(postgres.url, redis.url)

        async def start(target: Callable[..., None], name: str) -> ChildProcess:
            return await stack.enter_async_context(child_process(target, str(data / name), backends))

        nodes = [await start(run_server, f"node-{number}") for number in range(NODES)]
        worker_processes = [await start(run_worker, f"worker-{number}") for number in range(workers)]
        others = {
            "workers": [process.pid for process in worker_processes],
            "postgres": [postgres.pid],
            "redis": [redis.pid],
        }
        yield Deployment(nodes, others)


async def _measure(deployment: Deployment, viewers: Viewers) -> DeploymentCost:
    await _hold(deployment, viewers, 10)  # what is loaded, compiled and cached only once
    before = deployment.cpu()
    await asyncio.sleep(IDLE_SECONDS)
    idle = {kind: (cpu - before[kind]) / IDLE_SECONDS * 100 for kind, cpu in deployment.cpu().items()}
    return DeploymentCost(idle, {debates: await _hold(deployment, viewers, debates) for debates in SIZES})


async def _hold(deployment: Deployment, viewers: Viewers, debates: int) -> DebatesCost:
    first = deployment.nodes[0]
    ids = await first.command(debates)
    paths = [STREAM.format(debate_id) for debate_id in ids]
    await viewers.connect(ViewerGroup([node.port for node in deployment.nodes], paths))
    before, start = deployment.cpu(), monotonic()
    await first.command(ids)
    report = await viewers.wait_for_end()
    tokens = debates * TOKENS
    cpu = {kind: (after - before[kind]) / tokens * 1e6 for kind, after in deployment.cpu().items()}
    return DebatesCost(report, cpu, tokens / (report.ended - start))
