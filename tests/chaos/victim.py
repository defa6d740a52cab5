"""A process to be killed: it holds debates one by one, and prints every event that a follower receives.

    tests.chaos.victim DATA LEDGER HOW_MANY

It first finishes what the process before it has left. A line is `debate seq digest`, and the last is `done`.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from pathlib import Path

from moot.core.events import Recorded, encode
from moot.engine.arena import Arena
from moot.providers.scripted import ScriptedProvider
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from tests.engine.memory_toolbox import Workshop, echo


def line(recorded: Recorded) -> str:
    return f"{recorded.debate} {recorded.seq} {hashlib.sha256(encode(recorded)).hexdigest()[:16]}"


def say(text: str) -> None:
    """In one piece: who is killed has said it, or has not."""
    os.write(1, f"{text}\n".encode())


async def hold_debates(data: Path, ledger: Path, how_many: int) -> None:
    provider = ScriptedProvider(pace=0.002, ledger=ledger)
    settings = Settings(data=data, pace=RunnerTimings(retry_base=0.01, tick=0.01))
    # A process that is to die while tools are at work needs some.
    allowed = ("lab",) if os.environ.get("MOOT_CRASH_AT", "").startswith("tool") else ()
    shop = Workshop(echo=echo)
    async with Arena.open(settings, providers={"scripted": provider}, tools=shop, recover=True) as arena:
        heads = (await arena.list(limit=1000)).heads
        unfinished = [head.id for head in heads if head.status not in ("completed", "aborted", "error")]
        for debate_id in unfinished:
            if (await arena.state(debate_id)).status == "created":
                await arena.start(debate_id)
            await follow(arena, debate_id)
        for _ in range(how_many - len(heads)):
            setup = await arena.setup(
                "Is it safe to be killed?", model="scripted/demo", turns=6, tools=allowed
            )
            debate_id = (await arena.create(setup)).debate.id
            await arena.start(debate_id)
            await follow(arena, debate_id)
    say("done")


async def follow(arena: Arena, debate_id: str) -> None:
    async for recorded in arena.watch(debate_id):
        say(line(recorded))


def main() -> None:
    data, ledger, how_many = sys.argv[1:]
    asyncio.run(hold_debates(Path(data), Path(ledger), int(how_many)))
    sys.exit(0)
