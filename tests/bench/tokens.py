"""CPU per token of paced debates over HTTP, beside the same streams read and discarded."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from time import process_time

import aiohttp
from msgspec.structs import replace

from moot import formats
from moot.core.events import TurnCompleted, TurnStarted
from moot.core.terms import Model, Request
from moot.engine.arena import Arena
from moot.processes.startup import tune_garbage_collection
from moot.providers.scripted import Cue, SayCue, ScriptedProvider
from moot.settings import Settings
from tests.bench.clients import RAW, ChatToken, read_and_discard
from tests.bench.figures import Figure, figure
from tests.bench.measure import measured, temporary_folder
from tests.bench.model_service import WORDS, model_service
from tests.bench.moot_server import paced_service

TURNS = 2
GOALS = {50: 1.8, 200: 1.6}
"""Times the limit, by the number of debates."""


async def bench() -> AsyncIterator[Figure]:
    """50 and 200 debates at once, 50 tokens a second each over HTTP, one follower each.

    Garbage is collected as in `moot serve`, for the limit as well.
    """
    async with collected_as_in_a_server(), model_service() as base:
        for debates, goal in GOALS.items():
            raw = await raw_cost(base, debates)
            ours = await moot_cost(base, debates)
            yield figure(
                f"{debates} debates, service to log to viewer: CPU a token",
                ours,
                "µs",
                limit=(RAW, raw),
                goal=goal,
                main=True,
            )


async def bench_length() -> AsyncIterator[Figure]:
    """The same early and late in one long debate, unpaced: the cost must not grow with the log."""
    costs = await _costs_by_turn()
    early = sum(costs[turn] for turn in range(3, 8)) / 5
    late = sum(costs[turn] for turn in range(46, 51)) / 5
    yield figure("a long debate, turn 50: CPU a token", late, "µs", limit=("turn 5", early), main=True)


@asynccontextmanager
async def collected_as_in_a_server() -> AsyncGenerator[None]:
    thresholds = gc.get_threshold()
    tune_garbage_collection()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


async def raw_cost(base: str, streams: int) -> float:
    """µs per token of aiohttp + msgspec that read paced streams and discard them."""
    url = f"{base}/paced"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        with measured() as spent:
            for _ in range(TURNS):
                await asyncio.gather(*(read_and_discard(session, url, ChatToken) for _ in range(streams)))
    return spent.cpu / (streams * TURNS * WORDS) * 1e6


async def moot_cost(base: str, debates: int) -> float:
    """µs per token of debates that speak these streams, with the log on disk and a follower each."""
    providers = {"service": paced_service(base, debates)}
    with temporary_folder() as data:
        async with Arena.open(Settings(data=data), providers=providers) as arena:
            ids: list[str] = []
            for _ in range(debates):
                setup = await arena.setup(
                    "How much does a token cost?", model=Model("service", "m"), turns=TURNS, judge="none"
                )
                ids.append((await arena.create(setup)).debate.id)
            with measured() as spent:
                await asyncio.gather(*(_start_and_follow(arena, debate_id) for debate_id in ids))
    return spent.cpu / (debates * TURNS * WORDS) * 1e6


async def _start_and_follow(arena: Arena, debate_id: str) -> None:
    await arena.start(debate_id)
    async for _ in arena.watch(debate_id):
        pass


async def _costs_by_turn() -> dict[int, float]:
    """µs per token of each turn."""
    providers = {"scripted": ScriptedProvider(_speech)}
    fmt = replace(formats.load("oxford"), max_rounds=30, scripted=True)
    costs: dict[int, float] = {}
    with temporary_folder() as data:
        async with Arena.open(Settings(data=data), providers=providers) as arena:
            setup = await arena.setup(
                "A long debate", format=fmt, model=Model("scripted", "demo"), judge="none", rounds=26
            )
            debate_id = (await arena.create(setup)).debate.id
            await arena.start(debate_id)
            starts: dict[int, float] = {}
            async for recorded in arena.watch(debate_id):
                if isinstance(recorded.event, TurnStarted):
                    starts[recorded.event.turn] = process_time()
                if isinstance(recorded.event, TurnCompleted):
                    turn = recorded.event.turn
                    costs[turn] = (process_time() - starts[turn]) / WORDS * 1e6
    return costs


def _speech(_: Request) -> Iterable[Cue]:
    return [SayCue("word " * WORDS)]
