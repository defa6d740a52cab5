"""What viewers cost, beside a bare Starlette that sends the same bytes to the same viewers without any log.

Server, bare server and viewers are a process each, on the same cores. A debate is held at 50 tokens a second;
lag is the time from the moment when a word is due from the provider until a viewer reads it, over every word
and viewer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from time import monotonic

from msgspec import Struct

from tests.bench.bare_server import run_bare_server
from tests.bench.child_process import ChildProcess, child_process
from tests.bench.figures import Figure, figure
from tests.bench.measure import temporary_folder
from tests.bench.moot_server import PACE, SOCKET, STREAM, TOKENS, run_server
from tests.bench.viewer_process import ViewerGroup, ViewerReport, Viewers, viewer_process

VIEWERS_OF_ONE_DEBATE = (100, 1000, 3000)
MANY, FEW = 200, 5
"""Debates, and viewers of each."""
QUIET = 20
CAPACITY = 300
SOCKETS = 300
RETURNING = 1000
BARE = "bare Starlette"


class Target(Struct, frozen=True):
    """A server and the path of its streams."""

    server: ChildProcess
    path: str
    websocket: bool = False

    def viewers(self, names: list[str], each: int, cursor: str = "") -> ViewerGroup:
        paths = [self.path.format(name) for name in names for _ in range(each)]
        return ViewerGroup([self.server.port], paths, cursor, self.websocket)


class ViewingCost(Struct, frozen=True):
    report: ViewerReport
    cpu: float
    """Seconds of the server while the words were sent."""
    wall: float
    arrival: float = 0.0
    """CPU seconds of the server while the viewers connected."""
    memory: float = 0.0
    """Bytes a viewer."""
    names: tuple[str, ...] = ()

    def per_event(self, alone: ViewingCost) -> float:
        """µs of CPU for an event to a further viewer."""
        further = (self.report.viewers - alone.report.viewers) * self.report.events
        return (self.cpu - alone.cpu) / further * 1e6


async def bench() -> AsyncIterator[Figure]:
    """Many viewers of one debate, many debates with few viewers each, viewers that return after a restart."""
    async with AsyncExitStack() as stack:
        data = stack.enter_context(temporary_folder())
        viewers = await stack.enter_async_context(viewer_process())
        bare = Target(await stack.enter_async_context(child_process(run_bare_server)), "/{}")
        async with child_process(run_server, str(data)) as server:
            moot = Target(server, STREAM)
            for target in (moot, bare):
                await _watch(target, viewers, 1, 20)  # what is loaded and compiled only once
            debate = ""
            async for cost, figures in _one_debate(moot, bare, viewers):
                debate = cost.names[0]
                for each in figures:
                    yield each
            for figures in (
                await _sockets(moot, viewers),
                await _latency(moot, viewers),
                await _many_debates(moot, bare, viewers),
                await _capacity(moot, viewers),
            ):
                for each in figures:
                    yield each
        async with child_process(run_server, str(data)) as server:
            for each in await _return(Target(server, STREAM), bare, viewers, debate):
                yield each


async def _one_debate(
    moot: Target, bare: Target, viewers: Viewers
) -> AsyncIterator[tuple[ViewingCost, list[Figure]]]:
    alone, bare_alone = await _watch(moot, viewers, 1, 1), await _watch(bare, viewers, 1, 1)
    yield alone, [_lag("one viewer", alone, bare_alone)]
    for number in VIEWERS_OF_ONE_DEBATE:
        cost, bare_cost = await _watch(moot, viewers, 1, number), await _watch(bare, viewers, 1, number)
        name = f"{number:,} viewers of one debate"
        per_event = figure(
            f"{name}: CPU a viewer-event",
            cost.per_event(alone),
            "µs",
            limit=(BARE, bare_cost.per_event(bare_alone)),
            goal=15,
            goal_for="value",
            main=number == 3000,
        )
        yield cost, [_lag(name, cost, bare_cost), per_event, *_arrival(name, cost, bare_cost)]


def _lag(name: str, cost: ViewingCost, bare: ViewingCost | None = None, goal: float | None = None) -> Figure:
    median, p99 = cost.report.lag
    tokens, share = TOKENS / cost.report.events, cost.cpu / cost.wall * 100
    return figure(
        f"{name}: lag p99",
        p99,
        "ms",
        limit=(BARE, bare.report.lag[1]) if bare else None,
        goal=goal,
        goal_for="value",
        note=f"p50 {median:.0f} ms; {tokens:.1f} tokens an event; {share:.0f} % of a core",
    )


def _arrival(name: str, cost: ViewingCost, bare: ViewingCost) -> list[Figure]:
    number = cost.report.viewers
    return [
        figure(
            f"{name}: CPU of an arrival",
            cost.arrival / number * 1e3,
            "ms",
            limit=(BARE, bare.arrival / number * 1e3),
            goal=2,
            main=number == 1000,
        ),
        figure(
            f"{name}: memory a viewer", cost.memory / 1024, "KiB", limit=(BARE, max(1.0, bare.memory / 1024))
        ),
    ]


async def _sockets(moot: Target, viewers: Viewers) -> list[Figure]:
    """The page's WebSocket, which carries changes of the view, beside the event stream of the same server."""
    socket = Target(moot.server, SOCKET, websocket=True)
    costs = {
        target.websocket: (await _watch(target, viewers, 1, SOCKETS)).per_event(
            await _watch(target, viewers, 1, 1)
        )
        for target in (moot, socket)
    }
    return [
        figure(
            f"{SOCKETS} viewers by the page's WebSocket: CPU a viewer-event",
            costs[True],
            "µs",
            limit=("server-sent events", costs[False]),
            goal=1,
            main=True,
        )
    ]


async def _latency(moot: Target, viewers: Viewers) -> list[Figure]:
    """The lag while the machine has time."""
    cost = await _watch(moot, viewers, QUIET, 1)
    name = f"{QUIET} debates with a viewer each"
    first = figure(
        f"{name}: lag of the first word, p50",
        cost.report.first_lag[0],
        "ms",
        goal=10,
        goal_for="value",
        note=f"p99 {cost.report.first_lag[1]:.0f} ms",
        main=True,
    )
    return [first, _lag(name, cost, goal=120)]


async def _many_debates(moot: Target, bare: Target, viewers: Viewers) -> list[Figure]:
    cost, bare_cost = await _watch(moot, viewers, MANY, FEW), await _watch(bare, viewers, MANY, FEW)
    name = f"{MANY} debates with {FEW} viewers each"
    tokens = MANY * TOKENS
    return [
        _lag(name, cost, bare_cost, goal=200),
        figure(
            f"{name}: CPU of a token",
            cost.cpu / tokens * 1e6,
            "µs",
            limit=(BARE, bare_cost.cpu / tokens * 1e6),
            goal=1.6,
            main=True,
        ),
    ]


async def _capacity(moot: Target, viewers: Viewers) -> list[Figure]:
    cost = await _watch(moot, viewers, CAPACITY, 1)
    name = f"{CAPACITY} debates with a viewer each"
    return [
        figure(
            f"{name}: tokens a second",
            CAPACITY * TOKENS / cost.wall,
            "/s",
            limit=("the providers' pace", CAPACITY / PACE),
            better="higher",
        ),
        _lag(name, cost, goal=250),
    ]


async def _return(moot: Target, bare: Target, viewers: Viewers, debate: str) -> list[Figure]:
    """After a restart nothing is cached, and all viewers request the whole debate at once."""
    cost = await _catch_up(moot, viewers, debate, "1")
    await bare.server.command(b"x" * cost.report.body)
    bare_cost = await _catch_up(bare, viewers, "page", "")
    name = f"{RETURNING:,} viewers return after a restart"
    wait, bare_wait = cost.report.wait[1] * 1000, bare_cost.report.wait[1] * 1000
    return [
        figure(
            f"{name}: wait for the last byte, p99",
            wait,
            "ms",
            limit=(BARE, bare_wait),
            note=f"{cost.report.body / 1024:.0f} KiB each; p50 {cost.report.wait[0] * 1000:.0f} ms",
        ),
        figure(f"{name}: the same, less that of {BARE}", wait - bare_wait, "ms", goal=250, goal_for="value"),
        figure(
            f"{name}: CPU of each",
            cost.cpu / RETURNING * 1e3,
            "ms",
            limit=(BARE, bare_cost.cpu / RETURNING * 1e3),
            goal=2,
            main=True,
        ),
    ]


async def _watch(target: Target, viewers: Viewers, debates: int, each: int) -> ViewingCost:
    """Hold so many debates with so many viewers each, from the first arrival to the last word."""
    server = target.server
    names = await server.command(debates)
    cpu, memory = server.cpu, server.memory
    await viewers.connect(target.viewers(names, each))
    connected_cpu, connected_memory = server.cpu, server.memory
    await server.command(names)
    start = monotonic()
    report = await viewers.wait_for_end()
    return ViewingCost(
        report=report,
        cpu=server.cpu - connected_cpu,
        wall=report.ended - start,
        arrival=connected_cpu - cpu,
        memory=(connected_memory - memory) / (debates * each),
        names=tuple(names),
    )


async def _catch_up(target: Target, viewers: Viewers, name: str, cursor: str) -> ViewingCost:
    cpu, start = target.server.cpu, monotonic()
    await viewers.connect(target.viewers([name], RETURNING, cursor))
    report = await viewers.wait_for_end()
    return ViewingCost(report=report, cpu=target.server.cpu - cpu, wall=report.ended - start)
