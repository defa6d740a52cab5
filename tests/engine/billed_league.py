"""A league whose service bills every token that it may, and a process that lets its debates go on.

    python -m tests.engine.billed_league FOLDER resume|retry|rejudge

`FOLDER/bill` has a line for each call that was billed; while there is a file `FOLDER/outage`, the model
`scripted/b` refuses its key. Where processes are killed, it bills the words that it has sent: no service has
written all the tokens that it may in the moment before a kill.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from moot import Arena, Settings
from moot.core.errors import Fault, Refused
from moot.core.terms import Money, Request, Usage
from moot.core.word_count import tokens
from moot.engine.experiment_runner import ExperimentRunner
from moot.experiments.definition import ExperimentDefinition, from_json
from moot.providers.prices import flat_price
from moot.providers.scripted import Cue, FaultCue, SayCue, ScriptedProvider, UsageCue, improvise
from moot.rules.commands import Retry
from moot.store.experiment_tables import EXPERIMENTS

INPUT, OUTPUT = Decimal(1), Decimal(100)
"""Dollars for a million tokens."""
SENT = 40
ALLOWANCE = Money("0.9")
LEAGUE = ExperimentDefinition(
    name="league",
    models=("scripted/a", "scripted/b"),
    motions=tuple(f"Motion number {number} should pass" for number in range(1, 6)),
    rounds=1,
    judges=("scripted/owl",),
    budget=Money(100),
    concurrency=2,
)


class BilledLeague:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bill = folder / "bill"
        self._outage = folder / "outage"
        self._by_words = folder / "by-words"
        self.settings = Settings(
            data=folder, model="scripted/a", prices={"scripted/*": flat_price(INPUT, OUTPUT)}
        )

    @property
    def providers(self) -> dict[str, ScriptedProvider]:
        return {"scripted": ScriptedProvider(self._script)}

    @property
    def billed(self) -> Money:
        lines = self._bill.read_text("utf-8").splitlines() if self._bill.exists() else []
        return sum(map(Money, lines), Money(0))

    def break_down(self) -> None:
        self._outage.touch()

    def mend(self) -> None:
        self._outage.unlink()

    def bill_by_words(self) -> None:
        self._by_words.touch()

    def _script(self, request: Request) -> Iterable[Cue]:
        if request.model.name == "b" and self._outage.exists():
            yield FaultCue(Fault("bad_key", "permanent", billed=False))
            return
        cues = list(improvise(request))
        yield from cues
        said = sum(tokens(cue.text) for cue in cues if isinstance(cue, SayCue))
        output = said if self._by_words.exists() else request.max_tokens
        cost = (SENT * INPUT + output * OUTPUT) / 1_000_000
        with self._bill.open("a", encoding="utf-8") as file:
            file.write(f"{cost}\n")
        yield UsageCue(Usage(SENT, output))


async def failed_debates(arena: Arena) -> list[str]:
    return [head.id for head in (await arena.list(statuses=["error"], limit=100)).heads]


async def retry_all(arena: Arena) -> int:
    """As a person on the page would: every failed debate, one after the other. Returns how many were
    refused."""
    refused = 0
    for debate_id in await failed_debates(arena):
        try:
            await arena.ask(debate_id, Retry())
        except Refused:
            refused += 1
            continue
        async for _ in arena.watch(debate_id, (await arena.state(debate_id)).seq - 1):
            pass
    return refused


async def carry_out(folder: Path, action: str) -> None:
    league = BilledLeague(folder)
    async with Arena.open(league.settings, providers=league.providers) as arena:
        stored = await arena.store.tables(EXPERIMENTS).experiment("league")
        definition = from_json(stored.definition) if stored else LEAGUE
        if action == "retry":
            await retry_all(arena)
        elif action == "rejudge":
            await ExperimentRunner(arena, definition).rejudge(allowance=ALLOWANCE, repeats=2)
        else:
            await ExperimentRunner(arena, definition).run(retry_failed=True)


if __name__ == "__main__":
    asyncio.run(carry_out(Path(sys.argv[1]), sys.argv[2]))
