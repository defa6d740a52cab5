"""Processes to be killed: each runs debates one by one, and prints every event that a follower receives.

    python -m tests.chaos.victim DATA LEDGER HOW_MANY

For every line it gets, it forks a victim; the line says where that one crashes, and may be empty. To import
everything, as done here, takes longer than most victims live. A victim takes up first what its predecessor
has left. A line of its own is `debate seq digest`, and the last `done`; ours are `born PID` and `gone CODE`.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import os
import sys
import threading
from pathlib import Path

from moot.core import crash_points
from moot.core.events import Recorded, encode
from moot.core.timing import RunnerTimings
from moot.engine.arena import Arena
from moot.providers.scripted import ScriptedProvider
from moot.settings import Settings
from tests.engine.memory_toolbox import Workshop, echo


def line(recorded: Recorded) -> str:
    return f"{recorded.debate} {recorded.seq} {hashlib.sha256(encode(recorded)).hexdigest()[:16]}"


def say(text: str) -> None:
    """In one piece: who is killed has said it, or has not."""
    os.write(1, f"{text}\n".encode())


async def main(data: Path, ledger: Path, how_many: int) -> None:
    provider = ScriptedProvider(pace=0.002, ledger=ledger)
    settings = Settings(data=data, pace=RunnerTimings(retry_base=0.01, tick=0.01))
    # Whoever is to die while tools are at work is given some.
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


def bear(crash_at: str, *arguments: str) -> None:
    child = os.fork()
    if not child:
        os.environ["MOOT_CRASH_AT"] = crash_at
        importlib.reload(crash_points)
        asyncio.run(main(Path(arguments[0]), Path(arguments[1]), int(arguments[2])))
        os._exit(0)
    say(f"born {child}")
    _, status = os.waitpid(child, 0)
    say(f"gone {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    assert threading.active_count() == 1, "a fork leaves other threads behind"
    for wish in sys.stdin:
        bear(wish.strip(), *sys.argv[1:])
