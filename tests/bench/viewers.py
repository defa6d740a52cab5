"""What viewers cost, beside a bare Starlette that sends the same bytes to the same crowd without any log.

Server, bare server and crowd are a process each. A debate is held at 50 tokens a second; lag is the time
from the moment when a word is due from the provider to its being read by a viewer, over every word and
viewer. There are two cores for all of them.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from time import monotonic

from msgspec import Struct

from tests.bench.crowd import Crowd, Heard, Visit, crowd
from tests.bench.servers import TURNS, WORDS, House, bare, house, moot
from tests.bench.tools import folder, report

CROWDS = (1, 100, 1000, 3000)
MANY, FEW = 200, 5
RETURNING = 1000
TOKENS = TURNS * WORDS


class Stage(Struct, frozen=True):
    """One of the two servers, and where its streams are."""

    house: House
    path: str

    def visit(self, names: list[str], each: int) -> Visit:
        return Visit([self.house.port], [self.path.format(name) for name in names for _ in range(each)])


class Cost(Struct, frozen=True):
    heard: Heard
    cpu: float
    """Seconds while the words were told."""
    wall: float
    arriving: float
    """Seconds while the viewers came."""
    memory: float
    """Bytes a viewer."""
    names: list[str]

    def each(self, alone: Cost) -> float:
        """µs for an event and a further viewer."""
        further = (self.heard.viewers - alone.heard.viewers) * self.heard.events
        return (self.cpu - alone.cpu) / further * 1e6


async def main() -> None:
    """Crowds of one debate, many debates with a few viewers each, and a crowd that comes back."""
    async with AsyncExitStack() as stack:
        data = stack.enter_context(folder())
        people = await stack.enter_async_context(crowd())
        peer = Stage(await stack.enter_async_context(house(bare)), "/{}")
        async with house(moot, str(data)) as server:
            ours = Stage(server, "/api/v1/debates/{}/stream")
            held = await _crowds(ours, peer, people)
            await _many(ours, peer, people)
        async with house(moot, str(data)) as server:
            await _return(Stage(server, ours.path), peer, people, held)


async def _crowds(ours: Stage, peer: Stage, people: Crowd) -> str:
    """The debate that the last of them heard."""
    for stage in (ours, peer):
        await _held(stage, people, 1, 20)  # what is loaded, compiled and cached only once
    alone, alone_there = await _held(ours, people, 1, 1), await _held(peer, people, 1, 1)
    events = alone.heard.events
    report("one debate, one viewer: CPU a token", f"{alone.cpu / TOKENS * 1e6:.0f} µs", f"{events} events")
    _report_lag("one viewer", alone, alone_there)
    cost = alone
    for viewers in CROWDS[1:]:
        cost, there = await _held(ours, people, 1, viewers), await _held(peer, people, 1, viewers)
        _report_lag(f"{viewers:,} viewers of one debate", cost, there)
        each, bare_each = cost.each(alone), there.each(alone_there)
        report("  an event to each further viewer", f"{each:.1f} µs CPU", _times(each, bare_each, "µs"))
        _report_arrival(cost, there)
    return cost.names[0]


async def _many(ours: Stage, peer: Stage, people: Crowd) -> None:
    cost, there = await _held(ours, people, MANY, FEW), await _held(peer, people, MANY, FEW)
    _report_lag(f"{MANY} debates with {FEW} viewers each", cost, there)
    token, bare_token = (each.cpu / (MANY * TOKENS) * 1e6 for each in (cost, there))
    report("  a token, told to all of its viewers", f"{token:.0f} µs CPU", _times(token, bare_token, "µs"))


async def _return(ours: Stage, peer: Stage, people: Crowd, held: str) -> None:
    """After a restart nothing is cached, and everybody wants everything at once."""
    cost = await _caught_up(ours, people, held, "1")
    await peer.house.ask(b"x" * cost.heard.body)
    there = await _caught_up(peer, people, "page", "")
    report(
        f"{RETURNING:,} return after a restart, {cost.heard.body / 1024:.0f} KiB each",
        f"{cost.heard.wait[0] * 1000:.0f} / {cost.heard.wait[1] * 1000:.0f} ms",
        f"p50 / p99 to the last byte; bare {there.heard.wait[0] * 1000:.0f} / "
        f"{there.heard.wait[1] * 1000:.0f} ms",
    )
    each, bare_each = cost.cpu / RETURNING * 1e3, there.cpu / RETURNING * 1e3
    report("  each of them", f"{each:.2f} ms CPU", _times(each, bare_each, "ms"))


async def _held(stage: Stage, people: Crowd, debates: int, each: int) -> Cost:
    """From the first viewer's arrival to the last word."""
    names = await stage.house.ask(debates)
    cpu, memory = stage.house.cpu, stage.house.memory
    await people.gather(stage.visit(names, each))
    seated, taken = stage.house.cpu, stage.house.memory
    await stage.house.ask(names)
    began = monotonic()
    heard = await people.hear()
    assert heard.alike, "not everybody was told the same"
    return Cost(
        heard=heard,
        cpu=stage.house.cpu - seated,
        wall=heard.ended - began,
        arriving=seated - cpu,
        memory=(taken - memory) / (debates * each),
        names=names,
    )


async def _caught_up(stage: Stage, people: Crowd, name: str, cursor: str) -> Cost:
    cpu, began = stage.house.cpu, monotonic()
    visit = stage.visit([name], RETURNING)
    await people.gather(Visit(visit.ports, visit.paths, cursor))
    heard = await people.hear()
    assert heard.alike, "not everybody was told the same"
    return Cost(heard, stage.house.cpu - cpu, heard.ended - began, 0.0, 0.0, [name])


def _report_lag(what: str, cost: Cost, there: Cost) -> None:
    lag, bare_lag = cost.heard.lag, there.heard.lag
    each, pace, busy = TOKENS / cost.heard.events, TOKENS / cost.wall, cost.cpu / cost.wall * 100
    report(
        f"{what}: lag p50 / p99",
        f"{lag[0]:.0f} / {lag[1]:.0f} ms",
        f"bare {bare_lag[0]:.0f} / {bare_lag[1]:.0f} ms; {each:.1f} tokens an event, {pace:.0f} a second, "
        f"{busy:.0f} % of a core",
    )


def _report_arrival(cost: Cost, there: Cost) -> None:
    viewers = cost.heard.viewers
    memory, bare_memory = cost.memory / 1024, there.memory / 1024
    report("  memory a viewer", f"{memory:.0f} KiB", _times(memory, bare_memory, "KiB"))
    arriving, bare_arriving = cost.arriving / viewers * 1e3, there.arriving / viewers * 1e3
    report("  a viewer's arrival", f"{arriving:.2f} ms CPU", _times(arriving, bare_arriving, "ms"))


def _times(figure: float, bare_figure: float, unit: str) -> str:
    if bare_figure <= 0:
        return ""
    return f"{figure / bare_figure:.1f} times bare ({bare_figure:.{0 if bare_figure >= 10 else 2}f} {unit})"
