"""A process to be killed: runs debates one after another, and prints every event that a follower receives.

    python -m tests.chaos.victim DATA LEDGER HOW_MANY

Debates left over from a killed predecessor are taken up first. A line is `debate seq digest`; the last line
of a run that ends by itself is `done`.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from pathlib import Path

from moot.arena import Arena
from moot.events import Recorded, encode
from moot.providers.scripted import Scripted
from moot.runner import Pace
from moot.settings import Settings


def line(recorded: Recorded) -> str:
    return f"{recorded.debate} {recorded.seq} {hashlib.sha256(encode(recorded)).hexdigest()[:16]}"


async def main(data: Path, ledger: Path, how_many: int) -> None:
    provider = Scripted(pace=0.002, ledger=ledger)
    settings = Settings(data=data, pace=Pace(retry_base=0.01, tick=0.01))
    async with Arena.open(settings, providers={"scripted": provider}, recover=True) as arena:
        heads = (await arena.list(limit=1000)).heads
        unfinished = [head.id for head in heads if head.status not in ("completed", "aborted", "error")]
        for debate_id in unfinished:
            if (await arena.state(debate_id)).status == "created":
                await arena.start(debate_id)
            await follow(arena, debate_id)
        for _ in range(how_many - len(heads)):
            setup = await arena.setup("Is it safe to be killed?", model="scripted/demo", turns=6)
            debate_id = (await arena.create(setup)).debate.id
            await arena.start(debate_id)
            await follow(arena, debate_id)
    print("done", flush=True)


async def follow(arena: Arena, debate_id: str) -> None:
    async for recorded in arena.watch(debate_id):
        print(line(recorded), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
