"""`moot "MOTION" --server URL`: a debate that a server holds, shown here as if it were held here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, Struct

from moot import formats
from moot.cli import export_formats
from moot.cli.debate_options import FORMAT, NOBODY, PERSON_SECONDS, ROUNDS, SECONDS, Showing, Wish, told
from moot.cli.debate_source import ending
from moot.cli.follow import perform
from moot.cli.remote import Remote
from moot.cli.remote_shapes import dollars, in_our_words
from moot.cli.render.screens import screen
from moot.client import Config, Debater, Judge, Polls
from moot.client.shapes import Position
from moot.core.errors import Invalid
from moot.core.terms import HUMAN

PLACES = ("for", "against")
"""How the options call the first two seats."""
TOGETHER = ("persona", "objective")


async def hold(server: str, wish: Wish, showing: Showing) -> int:
    _refuse_what_only_goes_here(wish)
    async with Remote.open(server) as remote:
        format = wish.format or FORMAT
        table = await _table(remote, format)
        names = wish.sitting(len(table.chairs))
        default = "" if all(names) and wish.speaker else await _default(remote)
        panel = _panel(wish, default)
        try:
            with in_our_words():
                created = await remote.client.create(
                    wish.motion,
                    format=format,
                    participants=tuple(_debaters(wish, table, [name or default for name in names])),
                    judge=panel[0],
                    judges=panel[1:],
                    config=_config(wish, table),
                )
        except Invalid as error:
            raise _by_option(error) from error
        return await _follow(server, remote, created.id, showing)


async def _follow(server: str, remote: Remote, debate_id: str, showing: Showing) -> int:
    advice = ending(server)
    shown = screen(json=showing.json, plain=showing.plain, reasoning=showing.reasoning, ending=advice)
    with shown as view:
        code = await perform(remote, debate_id, view, server=server)
    if showing.output is not None:
        await export_formats.write(remote, debate_id, showing.output)
    return code


def _refuse_what_only_goes_here(wish: Wish) -> None:
    for_, against = wish.efforts
    here_only = {
        "--effort-for": for_,
        "--effort-against": against,
        "--verbosity": wish.verbosity or any(wish.verbosities),
        "--turns": wish.turns is not None,
        "--seed": wish.seed is not None,
        "--judge none": NOBODY in wish.judges,
        "--format FILE": (wish.format or "").endswith(".toml"),
    }
    if given := [name for name, value in here_only.items() if value]:
        raise Invalid(f"Not possible with --server: {', '.join(given)}.")


def _panel(wish: Wish, default: str) -> list[Judge]:
    if not wish.judges:
        return [Judge(wish.speaker or default)]
    alone = len(wish.judges) == 1
    return [
        Judge(model, "Judge" if alone else f"Judge {place}") for place, model in enumerate(wish.judges, 1)
    ]


async def _default(remote: Remote) -> str:
    with in_our_words():
        models = await remote.client.models()
    if not models.default:
        raise Invalid("This server has no model of its own accord: name one with --model provider/model.")
    return models.default


class Table(Struct, frozen=True):
    """What a format suggests: who sits there, and for how many rounds."""

    chairs: tuple[tuple[str, Position], ...] = (("Proposition", "for"), ("Opposition", "against"))
    rounds: int | None = None


async def _table(remote: Remote, name: str) -> Table:
    """As it is known here; the server may have formats that are not. It says by itself what it lacks."""
    if name in formats.names():
        fmt = formats.load(name)
        rounds = ROUNDS if name == FORMAT else fmt.rounds
        return Table(tuple((chair.name, chair.side) for chair in fmt.chairs), rounds)
    with in_our_words():
        offered: list[dict[str, Any]] = (await remote.client.formats())["formats"]
    for fmt in offered:
        if fmt["name"] == name:
            return Table(tuple((chair["name"], chair["position"]) for chair in fmt["chairs"]), fmt["rounds"])
    return Table()


def _debaters(wish: Wish, table: Table, names: list[str]) -> Iterable[Debater]:
    for place, ((name, side), model) in enumerate(zip(table.chairs, names, strict=True)):
        yield Debater(
            name=name,
            model=model,
            position=side,
            persona=told(wish.personas, place, "") or UNSET,
            objective=told(wish.objectives, place, "") or UNSET,
            stand_in=(wish.stand_in if model == HUMAN else None) or UNSET,
        )


def _config(wish: Wish, table: Table) -> Config:
    rounds = table.rounds if wish.rounds is None else wish.rounds
    return Config(
        max_rounds=UNSET if rounds is None else rounds,
        timeout_per_round=UNSET if wish.timeout == SECONDS else wish.timeout,
        cost_limit=UNSET if wish.cost_limit is None else dollars(wish.cost_limit),
        warn_at_cost=UNSET if wish.warn_at is None else dollars(wish.warn_at),
        auto_progress=False if wish.manual else UNSET,
        winning_condition=wish.winning or UNSET,
        objective=wish.objective or UNSET,
        prep=wish.prep or UNSET,
        blind=wish.blind or UNSET,
        opens=wish.opens or UNSET,
        polls=UNSET if wish.audience is None else Polls(seconds=wish.audience),
        tools=wish.tools or UNSET,
        person_seconds=UNSET if wish.person_seconds == PERSON_SECONDS else wish.person_seconds,
        intensity=wish.intensity,
        effort=wish.effort or UNSET,
    )


def _by_option(error: Invalid) -> Invalid:
    """What a server finds wrong, by the option that it was said with."""
    problems: dict[str, list[str]] = {}
    for field, found in error.problems.items():
        problems.setdefault(_option(field), []).extend(found)
    return Invalid(str(error), problems)


def _option(field: str) -> str:
    match field.split("."):
        case ["participants", ("0" | "1") as place, "model", *_]:
            return f"--{PLACES[int(place)]}"
        case ["participants", ("0" | "1") as place, what] if what in TOGETHER:
            return f"--{what}-{PLACES[int(place)]}"
        case ["judge", "model", *_] | ["judges", _, "model", *_]:
            return "--judge"
        case ["participants", _, "standIn", *_]:
            return "--stand-in"
        case ["effort"]:
            return "--effort"
        case ["tools", *_]:
            return "--tool"
        case _:
            return field
