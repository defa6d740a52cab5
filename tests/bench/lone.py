"""A server with little to do: idle, and with one debate that one viewer follows.

The speakers are models of a service at 50 tokens a second over HTTP; the viewer reads server-sent events.
Here the fixed cost of every wake-up shows, which many debates share.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from tests.bench.child_process import ChildProcess, child_process
from tests.bench.clients import RAW
from tests.bench.figures import Figure, figure
from tests.bench.measure import temporary_folder
from tests.bench.model_service import WORDS, model_service
from tests.bench.moot_server import STREAM, TURNS, run_server
from tests.bench.tokens import raw_cost
from tests.bench.viewer_process import ViewerGroup, Viewers, viewer_process

IDLE_SECONDS = 10.0


async def bench() -> AsyncIterator[Figure]:
    with temporary_folder() as data:
        async with (
            model_service() as base,
            viewer_process() as viewers,
            child_process(run_server, str(data), None, base) as server,
        ):
            await _debate_cost(server, viewers)  # what is loaded and compiled only once
            ours = await _debate_cost(server, viewers)
            raw = await raw_cost(base, 1)
            yield figure(
                "one debate, one viewer: CPU a token",
                ours,
                "µs",
                limit=(RAW, raw),
                goal=200,
                goal_for="value",
                main=True,
            )
            idle = await _idle_share(server)
            yield figure("idle server, share of a core", idle, "%", goal=0.1, goal_for="value", main=True)


async def _debate_cost(server: ChildProcess, viewers: Viewers) -> float:
    """µs of CPU of the server per token."""
    ids = await server.command(1)
    await viewers.connect(ViewerGroup([server.port], [STREAM.format(name) for name in ids]))
    before = server.cpu
    await server.command(ids)
    await viewers.wait_for_end()
    return (server.cpu - before) / (TURNS * WORDS) * 1e6


async def _idle_share(server: ChildProcess) -> float:
    """Percent of a core, with a finished debate in the log and no viewer."""
    await asyncio.sleep(1)
    before = server.cpu
    await asyncio.sleep(IDLE_SECONDS)
    return (server.cpu - before) / IDLE_SECONDS * 100
