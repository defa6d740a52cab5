"""`moot "MOTION"`: a debate that this process holds."""

from __future__ import annotations

from moot import formats
from moot.cli import export_formats
from moot.cli.debate_options import (
    DEFAULT_FORMAT,
    DEFAULT_ROUNDS,
    NO_JUDGE,
    DebateCliOptions,
    DisplayOptions,
    seat_option,
)
from moot.cli.follow import show_and_run
from moot.cli.render.progress import install_bar
from moot.cli.render.screens import open_screen
from moot.core.errors import Invalid
from moot.core.terms import HUMAN, Format, PollSettings, WinningRule
from moot.engine.arena import Arena
from moot.models.discovery import FREE_MODEL
from moot.models.registry import DefaultModel
from moot.rules.debate_setup import SeatSetup, Setup, default_winning_rule, opening_event

TURN_FORMAT = "free"


async def hold_debate(options: DebateCliOptions, showing: DisplayOptions) -> int:
    async with Arena.open() as arena:
        named = options.format or (DEFAULT_FORMAT if options.turns is None else TURN_FORMAT)
        fmt = formats.load(named, arena.settings.formats)
        names = options.models_for(len(fmt.chairs))
        default = DefaultModel("") if all(names) else await arena.providers.default()
        setup = await _setup(arena, options, fmt, [name or default.name for name in names])
        await _prepare(arena, setup)
        debate_id = (await arena.create(setup)).debate.id
        await arena.start(debate_id)
        shown = open_screen(
            json=showing.json, plain=showing.plain, reasoning=showing.reasoning, remark=_why(default)
        )
        with shown as view:
            code = await show_and_run(arena, debate_id, view)
        if showing.output is not None:
            await export_formats.write(arena, debate_id, showing.output)
        return code


async def _setup(arena: Arena, options: DebateCliOptions, fmt: Format, names: list[str]) -> Setup:
    for name in options.tools:
        if not arena.tools.knows(name):
            raise Invalid(f"There is no tool {name!r}. `moot tools` lists what there is.")
    polls = PollSettings(seconds=options.audience) if options.audience is not None else None
    winning = options.winning or default_winning_rule(fmt, polls)
    return await arena.setup(
        options.motion,
        format=fmt,
        seats=_seats(arena, options, names),
        model=options.model,
        judge=NO_JUDGE if _nobody_judges(winning, options.judges) else None,
        judges=options.judges,
        rounds=DEFAULT_ROUNDS if options.rounds is None and fmt.name == DEFAULT_FORMAT else options.rounds,
        turns=options.turns,
        intensity=options.intensity,
        seed=options.seed,
        auto=not options.manual,
        winning=winning,
        objective=options.objective,
        prep=options.prep,
        blind=options.blind,
        opens=options.opens,
        polls=polls,
        tools=options.tools,
        cost_limit=options.cost_limit,
        warn_at=options.warn_at,
        turn_seconds=options.timeout,
        person_seconds=options.person_seconds,
    )


def _nobody_judges(winning: WinningRule, judges: tuple[str, ...]) -> bool:
    if winning == "user-decides" or judges == (NO_JUDGE,):
        return True
    return winning == "audience" and not judges


def _seats(arena: Arena, options: DebateCliOptions, names: list[str]) -> list[SeatSetup]:
    return [
        SeatSetup(
            model=arena.model(
                name,
                effort=seat_option(options.efforts, index, None) or options.effort,
                verbosity=seat_option(options.verbosities, index, None) or options.verbosity,
            ),
            persona=seat_option(options.personas, index, ""),
            objective=seat_option(options.objectives, index, ""),
            stand_in=arena.model(options.stand_in) if options.stand_in and name == HUMAN else None,
        )
        for index, name in enumerate(names)
    ]


async def _prepare(arena: Arena, setup: Setup) -> None:
    """Fetch what is not here yet, with a bar; but not for a debate that cannot be held."""
    opening_event(setup)
    speaking = [seat.stand_in or seat.model for seat in setup.seats]
    models = [model for model in (*speaking, *(judge.model for judge in setup.judges)) if not model.human]
    with install_bar() as report:
        await arena.providers.prepare(models, report)


def _why(default: DefaultModel) -> str:
    """Nobody has named this model, and it costs money: say where it comes from, and what would cost none."""
    if not default.why:
        return ""
    return f"{default.name}, because {default.why}; --model {FREE_MODEL} costs nothing"
