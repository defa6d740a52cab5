"""`moot "MOTION" --server URL`: a debate that a server holds, shown here as if it were held here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct

from moot import formats
from moot.cli import exporting
from moot.cli.hall import ending
from moot.cli.playing import perform
from moot.cli.remote import Remote
from moot.cli.screens import screen
from moot.cli.translating import dollars, in_our_words
from moot.client import Config, Debater, Judge, Polls
from moot.client.shapes import Position
from moot.errors import Invalid
from moot.terms import HUMAN, Effort, Opener, Winning

SECONDS, PERSON_SECONDS = 120.0, 300.0
NOBODY = "none"
PLACES = ("for", "against")
"""How the options call the first two seats."""
TOGETHER = ("persona", "objective")


class Wish(Struct, frozen=True, kw_only=True):
    """The options of a debate, as far as a server can be asked for them."""

    motion: str
    format: str
    models: tuple[str | None, str | None]
    model: str | None = None
    judges: tuple[str, ...] = ()
    stand_in: str | None = None
    personas: tuple[str, str] = ("", "")
    objectives: tuple[str, str] = ("", "")
    effort: Effort | None = None
    rounds: int | None = None
    intensity: int = 3
    manual: bool = False
    winning: Winning | None = None
    objective: str = ""
    prep: bool = False
    blind: bool = False
    opens: Opener | None = None
    audience: float | None = None
    cost_limit: str | None = None
    warn_at: str | None = None
    timeout: float = SECONDS
    person_seconds: float = PERSON_SECONDS
    here_only: dict[str, Any]
    """Options that no server takes, and what was given for them."""


async def hold(
    server: str, wish: Wish, output: Path | None, *, json: bool, plain: bool, reasoning: bool
) -> int:
    _refuse_what_only_goes_here(wish)
    async with Remote.open(server) as remote:
        default = "" if _names_all(wish) else await _default(remote)
        table = await _table(remote, wish.format)
        panel = _panel(wish, default)
        try:
            with in_our_words():
                created = await remote.client.create(
                    wish.motion,
                    format=wish.format,
                    participants=tuple(_debaters(wish, table, default)),
                    judge=panel[0],
                    judges=panel[1:],
                    config=_config(wish, table),
                )
        except Invalid as error:
            raise _by_option(error) from error
        advice = ending(server)
        with screen(json=json, plain=plain, reasoning=reasoning, ending=advice) as view:
            code = await perform(remote, created.id, view, ending=advice)
        if output is not None:
            await exporting.write(remote, created.id, output)
        return code


def _refuse_what_only_goes_here(wish: Wish) -> None:
    given = [name for name, value in wish.here_only.items() if value is not None]
    if NOBODY in wish.judges:
        given.append("--judge none")
    if wish.format.endswith(".toml"):
        given.append("--format FILE")
    if given:
        raise Invalid(f"Not possible with --server: {', '.join(given)}.")


def _names_all(wish: Wish) -> bool:
    """A person among them can be followed by no other seat, and by no judge."""
    return bool(wish.model or (all(wish.models) and HUMAN not in wish.models))


def _panel(wish: Wish, default: str) -> list[Judge]:
    if not wish.judges:
        return [Judge(_first_model(wish) or default)]
    alone = len(wish.judges) == 1
    return [
        Judge(model, "Judge" if alone else f"Judge {place}") for place, model in enumerate(wish.judges, 1)
    ]


def _first_model(wish: Wish) -> str | None:
    return next((name for name in (wish.model, *wish.models) if name and name != HUMAN), None)


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
        return Table(tuple((chair.name, chair.side) for chair in fmt.chairs), fmt.rounds)
    with in_our_words():
        offered: list[dict[str, Any]] = (await remote.client.formats())["formats"]
    for fmt in offered:
        if fmt["name"] == name:
            return Table(tuple((chair["name"], chair["position"]) for chair in fmt["chairs"]), fmt["rounds"])
    return Table()


def _debaters(wish: Wish, table: Table, default: str) -> Iterable[Debater]:
    others = _first_model(wish) or default
    for place, (name, side) in enumerate(table.chairs):
        first = place < len(PLACES)
        model = (wish.models[place] if first else None) or wish.model or (default if first else others)
        yield Debater(
            name=name,
            model=model,
            position=side,
            persona=(wish.personas[place] if first else "") or UNSET,
            objective=(wish.objectives[place] if first else "") or UNSET,
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
        case _:
            return field
