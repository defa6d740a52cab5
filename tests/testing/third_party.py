# ruff: noqa: T201
"""A package of somebody else, which knows no more of Moot than `from moot import …`.

It has a provider and a format of its own, holds a debate with them, and looks at what is refused and at what
fails. `test_outside.py` checks its types and runs it, away from this checkout.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from moot import (
    Arena,
    Chunk,
    Debate,
    Fault,
    Format,
    Invalid,
    MemoryStore,
    MootError,
    Provider,
    Recorded,
    Refused,
    ReplyDelta,
    ReplyDone,
    ReplySegment,
    ReplyStarted,
    Request,
    Settings,
    Text,
    Traits,
    Turn,
    Usage,
    Viewer,
    commands,
    events,
    fold,
    formats,
    visible_event,
)

LIMERICKS: Format = formats.parse(
    """
    name = "limericks"
    title = "Limericks"
    summary = "Five lines each."
    chairs = [{ name = "For", side = "for" }, { name = "Against", side = "against" }]
    phases = [{ key = "limerick", title = "The limerick", who = "each", words = 40 }]
    """
)


class Poet(Provider):
    """Says one line, and is not there if it is asked for another model than `lear`."""

    @property
    def traits(self) -> Traits:
        return Traits(schema="words")

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        if request.model.name != "lear":
            raise Fault("unknown_model", "permanent", billed=False)
        yield ReplyStarted("reply_1")
        line = "There was an old man with a beard"
        for word in line.split():
            yield ReplyDelta(f"{word} ")
        yield ReplySegment(Text(f"{line} "))
        yield ReplyDone(usage=Usage(input=400, output=8))


async def hold(arena: Arena, model: str) -> tuple[Debate, list[Recorded]]:
    motion = "This house prefers limericks to speeches."
    setup = await arena.setup(motion, format=LIMERICKS, model=model, judge="none", rounds=1)
    debate_id = (await arena.create(setup, start=True)).debate.id
    log = [recorded async for recorded in arena.watch(debate_id)]
    debate = fold(log)
    assert debate is not None
    return debate, log


async def main(folder: Path) -> None:
    async with Arena.open(Settings(data=folder), store=MemoryStore(), providers={"poet": Poet()}) as arena:
        debate, log = await hold(arena, "poet/lear")
        first: Turn = debate.turns[0]
        print(debate.status, len(debate.turns), first.text)
        seen = [visible_event(debate, recorded, Viewer("observer")) for recorded in log]
        print(any(recorded and isinstance(recorded.event, events.TurnCompleted) for recorded in seen))
        try:
            await arena.ask(debate.id, commands.PauseDebate())
        except Refused as error:
            print("refused:", error.status, error.reason)
        failed, _ = await hold(arena, "poet/nash")
        print(failed.status)
        try:
            await arena.setup("Too short", model="nobody/nothing")
        except MootError as error:
            print("invalid:", isinstance(error, Invalid))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
