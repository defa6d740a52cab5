"""CPU for each token of paced debates over HTTP, against the same streams read and thrown away."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from time import process_time

import aiohttp
from msgspec.structs import replace

from moot import formats
from moot.core.events import TurnCompleted, TurnStarted
from moot.core.terms import Model, Request
from moot.engine.arena import Arena
from moot.providers.client import ProviderClient
from moot.providers.scripted import Cue, SayCue, ScriptedProvider
from moot.providers.throttle import EndpointLimits, Throttle
from moot.providers.wire_formats import openai_chat_request
from moot.settings import Settings
from tests.bench.clients import ChatToken, read_and_forget
from tests.bench.service import WORDS, serving
from tests.bench.tools import folder, measured, report

MODEL = Model("scripted", "demo")
SERVED = Model("service", "m")


def talk(_: Request) -> Iterable[Cue]:
    return [SayCue("word " * WORDS)]


async def main() -> None:
    """50 and 200 debates at once, 50 tokens a second each over HTTP, one follower each."""
    async with serving() as base:
        for debates in (50, 200):
            alone = await _thrown_away(f"{base}/paced", debates)
            whole = await _debated(f"{base}/paced", debates)
            report(
                f"{debates} debates at 50 tokens/s: service to log to viewer",
                f"{whole:.1f} µs/token",
                f"{whole / alone:.2f} times aiohttp + msgspec alone ({alone:.1f} µs)",
            )


async def length() -> None:
    """The same, early and late in one long debate."""
    provider = ScriptedProvider(talk)
    fmt = replace(formats.load("oxford"), max_rounds=30)
    costs: dict[int, float] = {}
    with folder() as data:
        async with Arena.open(Settings(data=data), providers={"scripted": provider}) as arena:
            setup = await arena.setup(
                "A long debate", format=replace(fmt, scripted=True), model=MODEL, judge="none", rounds=26
            )
            debate_id = (await arena.create(setup)).debate.id
            await arena.start(debate_id)
            clock: dict[int, float] = {}
            async for recorded in arena.watch(debate_id):
                if isinstance(recorded.event, TurnStarted):
                    clock[recorded.event.turn] = process_time()
                if isinstance(recorded.event, TurnCompleted):
                    turn = recorded.event.turn
                    costs[turn] = (process_time() - clock[turn]) / WORDS * 1e6
    early = sum(costs[n] for n in range(3, 8)) / 5
    late = sum(costs[n] for n in range(46, 51)) / 5
    report("CPU a token, unpaced, at turn 5", f"{early:.1f} µs/token")
    report("CPU a token, unpaced, at turn 50", f"{late:.1f} µs/token", f"{late / early:.2f} times turn 5")


async def _thrown_away(url: str, streams: int) -> float:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        with measured() as spent:
            await asyncio.gather(*(read_and_forget(session, url, ChatToken) for _ in range(streams)))
    return spent.cpu / (streams * WORDS) * 1e6


async def _debated(url: str, debates: int) -> float:
    client = ProviderClient(
        openai_chat_request.family(), url, throttle=Throttle(EndpointLimits(concurrent=debates))
    )
    with folder() as data:
        async with Arena.open(Settings(data=data), providers={"service": client}) as arena:
            ids: list[str] = []
            for _ in range(debates):
                setup = await arena.setup("How much does a token cost?", model=SERVED, turns=2, judge="none")
                ids.append((await arena.create(setup)).debate.id)

            async def watch(debate_id: str) -> None:
                await arena.start(debate_id)
                async for _ in arena.watch(debate_id):
                    pass

            with measured() as spent:
                await asyncio.gather(*(watch(debate_id) for debate_id in ids))
    return spent.cpu / (debates * 2 * WORDS) * 1e6
