"""`moot "MOTION" --server URL`: a debate that a server holds, shown here as if it were held here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct

from moot import formats
from moot.cli import exporting
from moot.cli.hall import ending
from moot.cli.playing import perform, screen
from moot.cli.remote import Remote, in_our_words
from moot.client import Config, Debater, Judge
from moot.client.shapes import Position
from moot.errors import Invalid
from moot.terms import Effort

SECONDS = 120.0
PLACES = ("for", "against")
"""How the options call the first two seats."""
TOGETHER = ("persona", "objective")


class Wish(Struct, frozen=True, kw_only=True):
    """The options of a debate, as far as a server can be asked for them."""

    motion: str
    format: str
    models: tuple[str | None, str | None]
    model: str | None = None
    judge: str | None = None
    personas: tuple[str, str] = ("", "")
    objectives: tuple[str, str] = ("", "")
    effort: Effort | None = None
    rounds: int | None = None
    intensity: int = 3
    manual: bool = False
    decide: bool = False
    cost_limit: str | None = None
    warn_at: str | None = None
    timeout: float = SECONDS
    here_only: dict[str, Any]
    """Options that no server takes, and what was given for them."""


async def hold(
    server: str, wish: Wish, output: Path | None, *, json: bool, plain: bool, reasoning: bool
) -> int:
    _refuse_what_only_goes_here(wish)
    async with Remote.open(server) as remote:
        default = "" if _names_all(wish) else await _default(remote)
        table = await _table(remote, wish.format)
        try:
            with in_our_words():
                created = await remote.client.create(
                    wish.motion,
                    format=wish.format,
                    participants=tuple(_debaters(wish, table, default)),
                    judge=Judge(wish.judge or wish.model or wish.models[0] or default),
                    config=_config(wish, table),
                )
        except Invalid as error:
            raise _by_option(error) from error
        with screen(json=json, plain=plain, reasoning=reasoning) as view:
            code = await perform(remote, created.id, view, ending=ending(server))
        if output is not None:
            exporting.write(await remote.state(created.id), output, reasoning=False)
        return code


def _refuse_what_only_goes_here(wish: Wish) -> None:
    given = [name for name, value in wish.here_only.items() if value is not None]
    if wish.judge == "none":
        given.append("--judge none")
    if wish.format.endswith(".toml"):
        given.append("--format FILE")
    if given:
        raise Invalid(f"Not possible with --server: {', '.join(given)}.")


def _names_all(wish: Wish) -> bool:
    return bool(wish.model or all(wish.models))


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
    others = wish.model or wish.models[0] or wish.models[1] or default
    for place, (name, side) in enumerate(table.chairs):
        first = place < len(PLACES)
        yield Debater(
            name=name,
            model=(wish.models[place] if first else None) or wish.model or (default if first else others),
            position=side,
            persona=(wish.personas[place] if first else "") or UNSET,
            objective=(wish.objectives[place] if first else "") or UNSET,
        )


def _config(wish: Wish, table: Table) -> Config:
    rounds = table.rounds if wish.rounds is None else wish.rounds
    return Config(
        max_rounds=UNSET if rounds is None else rounds,
        timeout_per_round=UNSET if wish.timeout == SECONDS else wish.timeout,
        cost_limit=_dollars(wish.cost_limit),
        warn_at_cost=_dollars(wish.warn_at),
        auto_progress=False if wish.manual else UNSET,
        winning_condition="user-decides" if wish.decide else UNSET,
        intensity=wish.intensity,
        effort=wish.effort or UNSET,
    )


def _dollars(amount: str | None) -> Any:
    if amount is None:
        return UNSET
    try:
        return float(amount)
    except ValueError as error:
        raise Invalid(f"{amount!r} is not an amount of money.") from error


def _by_option(error: Invalid) -> Invalid:
    """What a server finds wrong, by the option that it was said with."""
    problems: dict[str, list[str]] = {}
    for field, found in error.problems.items():
        problems.setdefault(_option(field), []).extend(found)
    first = next(iter(problems.items()), None)
    return Invalid(f"{first[0]}: {first[1][0]}." if first else str(error), problems)


def _option(field: str) -> str:
    match field.split("."):
        case ["participants", ("0" | "1") as place, "model", *_]:
            return f"--{PLACES[int(place)]}"
        case ["participants", ("0" | "1") as place, what] if what in TOGETHER:
            return f"--{what}-{PLACES[int(place)]}"
        case ["judge", "model", *_]:
            return "--judge"
        case ["effort"]:
            return "--effort"
        case _:
            return field
