"""A debate held against the fault server: as a viewer sees it, as the log keeps it, as the service bills it.

Three turns of two seats and two ballots of one judge: calls 1 to 5 where all is well. Each player has a
client of its own, so that a wait which the service asks of one is not a wait for the next.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from moot.core.events import (
    CallCompleted,
    CallDelta,
    CallFailed,
    CallStarted,
    Event,
    Recorded,
    StreamedEvent,
)
from moot.core.evolve import evolve
from moot.core.state import Debate, Turn
from moot.core.terms import Model, Money
from moot.core.visibility import OBSERVER, visible_event
from moot.engine.arena import Arena
from moot.providers.client import ProviderClient
from moot.providers.contract import Traits
from moot.providers.prices import flat_price
from moot.providers.wire_formats import (
    anthropic_request,
    google_request,
    openai_chat_request,
    openai_responses_request,
)
from moot.providers.wire_formats.contract import WireFormat
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from moot.store.contract import Store
from moot.tools.contract import Toolbox
from tests.core.sample_events import tag_of
from tests.faults.fault_server import FaultServer
from tests.faults.wire_formats import WireName

MOTION = "Should bridges be free to cross?"
PRICE = flat_price(Money(3), Money(15))
PACE = RunnerTimings(retry_base=0.01, first_byte=10.0, between_bytes=10.0, tick=0.005)
HASTY = replace(PACE, first_byte=1.5, between_bytes=1.5)
"""For services that fall silent: only they are waited for, so that a busy machine is not taken for one."""
PLAYERS = ("one", "two", "judge")
WORDS = "words"
"""Stands for any number of deltas and finished segments in a row."""

WIRE_FORMATS: dict[WireName, tuple[WireFormat, Traits]] = {
    "chat": (openai_chat_request.wire_format(), Traits(tools=True)),
    "responses": (openai_responses_request.WIRE_FORMAT, Traits(chaining=True, thinks=True, tools=True)),
    "anthropic": (anthropic_request.WIRE_FORMAT, Traits(thinks=True, tools=True)),
    "google": (google_request.WIRE_FORMAT, Traits(thinks=True, tools=True)),
}
Watch = Callable[[Arena, Recorded], Awaitable[None]]


class Held(Struct):
    """What is left of a debate: its final state, what an observer saw, and what was logged."""

    debate: Debate
    seen: list[Recorded]
    log: list[Event]
    stored: bytes
    """The files of the store, byte by byte."""

    @property
    def kinds(self) -> list[str]:
        """What the viewer saw, in order; how the words are portioned out is the clock's business."""
        told = [WORDS if isinstance(r.event, StreamedEvent) else tag_of(r.event) for r in self.seen]
        return [kind for before, kind in zip(["", *told], told, strict=False) if not kind == before == WORDS]

    @property
    def failures(self) -> list[CallFailed]:
        return [event for event in self.log if isinstance(event, CallFailed)]

    @property
    def started(self) -> list[CallStarted]:
        return [event for event in self.log if isinstance(event, CallStarted)]

    @property
    def completed(self) -> list[CallCompleted]:
        return [event for event in self.log if isinstance(event, CallCompleted)]

    def turn(self, number: int) -> Turn:
        turn = self.debate.turn(number)
        assert turn is not None
        return turn

    def deltas(self, call: int) -> list[CallDelta]:
        return [r.event for r in self.seen if isinstance(r.event, CallDelta) and r.event.call == call]


def client(wire: WireName, url: str, key: str, patience: float = 10.0) -> ProviderClient:
    wire_format, traits = WIRE_FORMATS[wire]
    base = url.removesuffix("/v1") if wire in ("anthropic", "google") else url
    return ProviderClient(
        wire_format, base, key=key, traits=traits, read_timeout=patience, connect=patience / 2
    )


async def hold(
    server: FaultServer,
    folder: Path,
    *,
    wire: WireName = "chat",
    pace: RunnerTimings = PACE,
    turns: int = 3,
    max_tokens: int = 600,
    urls: Mapping[str, str] | None = None,
    store: Store | None = None,
    watch: Watch | None = None,
    toolbox: Toolbox | None = None,
    **options: Any,
) -> Held:
    """`urls` sends a player elsewhere; `watch` is called with each event as it is seen, and may act."""
    where = {player: (urls or {}).get(player, server.url) for player in PLAYERS}
    providers = {player: client(wire, url, server.key, pace.between_bytes) for player, url in where.items()}
    one, two, judge = (Model(name, f"model-{name}", price=PRICE, max_tokens=max_tokens) for name in PLAYERS)
    settings = Settings(data=folder, pace=pace)
    async with Arena.open(settings, store=store, providers=providers, tools=toolbox) as arena:
        options.setdefault("judge", judge)
        setup = await arena.setup(MOTION, models=[one, two], turns=turns, **options)
        debate_id = (await arena.create(setup)).debate.id
        await arena.start(debate_id)
        seen: list[Recorded] = []
        log: list[Event] = []
        async for recorded, shown in observed(arena, debate_id):
            log.append(recorded.event)
            if shown is not None:
                seen.append(shown)
            if watch is not None:
                await watch(arena, recorded)
        debate = await arena.state(debate_id)
    for provider in providers.values():
        await provider.close()
    stored = b"".join(path.read_bytes() for path in sorted(folder.glob("moot.db*")))
    return Held(debate, seen, log, stored)


async def observed(arena: Arena, debate_id: str) -> AsyncGenerator[tuple[Recorded, Recorded | None]]:
    debate: Debate | None = None
    async for recorded in arena.watch(debate_id):
        debate = evolve(debate, recorded)
        yield recorded, visible_event(debate, recorded, OBSERVER)
