"""`moot "MOTION" --server URL`: a debate that a server holds, shown here as if it were held here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, Struct

from moot import formats
from moot.cli import export_formats
from moot.cli.debate_options import (
    DEFAULT_FORMAT,
    DEFAULT_PERSON_SECONDS,
    DEFAULT_ROUNDS,
    DEFAULT_SECONDS,
    NO_JUDGE,
    DebateCliOptions,
    DisplayOptions,
    seat_option,
)
from moot.cli.debate_source import server_option
from moot.cli.follow import show_and_run
from moot.cli.remote import RemoteSource
from moot.cli.remote_shapes import dollars, translate_api_errors
from moot.cli.render.screens import open_screen
from moot.client import Config, Debater, Judge, Polls
from moot.client.shapes import Position
from moot.core.errors import Invalid
from moot.core.terms import HUMAN

SEAT_OPTIONS = ("for", "against")
"""How the options call the first two seats."""
SEAT_FIELDS = ("persona", "objective")


async def hold_debate(server: str, options: DebateCliOptions, showing: DisplayOptions) -> int:
    _refuse_what_only_goes_here(options)
    async with RemoteSource.open(server) as remote:
        format = options.format or DEFAULT_FORMAT
        table = await _table(remote, format)
        names = options.models_for(len(table.chairs))
        default = "" if all(names) and options.speaker else await _default(remote)
        panel = _panel(options, default)
        try:
            with translate_api_errors():
                created = await remote.client.create(
                    options.motion,
                    format=format,
                    participants=tuple(_debaters(options, table, [name or default for name in names])),
                    judge=panel[0],
                    judges=panel[1:],
                    config=_config(options, table),
                )
        except Invalid as error:
            raise _by_option(error) from error
        return await _follow(server, remote, created.id, showing)


async def _follow(server: str, remote: RemoteSource, debate_id: str, showing: DisplayOptions) -> int:
    advice = server_option(server)
    shown = open_screen(json=showing.json, plain=showing.plain, reasoning=showing.reasoning, ending=advice)
    with shown as view:
        code = await show_and_run(remote, debate_id, view, server=server)
    if showing.output is not None:
        await export_formats.write(remote, debate_id, showing.output)
    return code


def _refuse_what_only_goes_here(options: DebateCliOptions) -> None:
    for_, against = options.efforts
    here_only = {
        "--effort-for": for_,
        "--effort-against": against,
        "--verbosity": options.verbosity or any(options.verbosities),
        "--turns": options.turns is not None,
        "--seed": options.seed is not None,
        "--judge none": NO_JUDGE in options.judges,
        "--format FILE": (options.format or "").endswith(".toml"),
    }
    if given := [name for name, value in here_only.items() if value]:
        raise Invalid(f"Not possible with --server: {', '.join(given)}.")


def _panel(options: DebateCliOptions, default: str) -> list[Judge]:
    if not options.judges:
        return [Judge(options.speaker or default)]
    alone = len(options.judges) == 1
    return [
        Judge(model, "Judge" if alone else f"Judge {place}") for place, model in enumerate(options.judges, 1)
    ]


async def _default(remote: RemoteSource) -> str:
    with translate_api_errors():
        models = await remote.client.models()
    if not models.default:
        raise Invalid("This server has no model of its own accord: name one with --model provider/model.")
    return models.default


class FormatSeating(Struct, frozen=True):
    """What a format suggests: who sits there, and for how many rounds."""

    chairs: tuple[tuple[str, Position], ...] = (("Proposition", "for"), ("Opposition", "against"))
    rounds: int | None = None


async def _table(remote: RemoteSource, name: str) -> FormatSeating:
    """As it is known here; the server may have formats that are not. It says by itself what it lacks."""
    if name in formats.names():
        fmt = formats.load(name)
        rounds = DEFAULT_ROUNDS if name == DEFAULT_FORMAT else fmt.rounds
        return FormatSeating(tuple((chair.name, chair.side) for chair in fmt.chairs), rounds)
    with translate_api_errors():
        offered: list[dict[str, Any]] = (await remote.client.formats())["formats"]
    for fmt in offered:
        if fmt["name"] == name:
            return FormatSeating(
                tuple((chair["name"], chair["position"]) for chair in fmt["chairs"]), fmt["rounds"]
            )
    return FormatSeating()


def _debaters(options: DebateCliOptions, table: FormatSeating, names: list[str]) -> Iterable[Debater]:
    for index, ((name, side), model) in enumerate(zip(table.chairs, names, strict=True)):
        yield Debater(
            name=name,
            model=model,
            position=side,
            persona=seat_option(options.personas, index, "") or UNSET,
            objective=seat_option(options.objectives, index, "") or UNSET,
            stand_in=(options.stand_in if model == HUMAN else None) or UNSET,
        )


def _config(options: DebateCliOptions, table: FormatSeating) -> Config:
    rounds = table.rounds if options.rounds is None else options.rounds
    return Config(
        max_rounds=UNSET if rounds is None else rounds,
        timeout_per_round=UNSET if options.timeout == DEFAULT_SECONDS else options.timeout,
        cost_limit=UNSET if options.cost_limit is None else dollars(options.cost_limit),
        warn_at_cost=UNSET if options.warn_at is None else dollars(options.warn_at),
        auto_progress=False if options.manual else UNSET,
        winning_condition=options.winning or UNSET,
        objective=options.objective or UNSET,
        prep=options.prep or UNSET,
        blind=options.blind or UNSET,
        opens=options.opens or UNSET,
        polls=UNSET if options.audience is None else Polls(seconds=options.audience),
        tools=options.tools or UNSET,
        person_seconds=UNSET if options.person_seconds == DEFAULT_PERSON_SECONDS else options.person_seconds,
        intensity=options.intensity,
        effort=options.effort or UNSET,
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
            return f"--{SEAT_OPTIONS[int(place)]}"
        case ["participants", ("0" | "1") as place, what] if what in SEAT_FIELDS:
            return f"--{what}-{SEAT_OPTIONS[int(place)]}"
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
