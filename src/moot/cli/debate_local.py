"""`moot "MOTION"`: a debate that this process holds."""

from __future__ import annotations

from moot import formats
from moot.cli import export_formats
from moot.cli.debate_options import FORMAT, NOBODY, ROUNDS, Showing, Wish, told
from moot.cli.follow import perform
from moot.cli.render.progress import bar
from moot.cli.render.screens import screen
from moot.core.errors import Invalid
from moot.core.terms import HUMAN, Format, Polls, Winning
from moot.engine.arena import Arena
from moot.models.discovery import FREE_MODEL
from moot.models.registry import Default
from moot.rules.debate_setup import SeatSetup, Setup, decided_by, opening

COUNTED_IN_TURNS = "free"


async def hold(wish: Wish, showing: Showing) -> int:
    async with Arena.open() as arena:
        named = wish.format or (FORMAT if wish.turns is None else COUNTED_IN_TURNS)
        fmt = formats.load(named, arena.settings.formats)
        names = wish.sitting(len(fmt.chairs))
        default = Default("") if all(names) else await arena.providers.default()
        setup = await _setup(arena, wish, fmt, [name or default.name for name in names])
        await _prepare(arena, setup)
        debate_id = (await arena.create(setup)).debate.id
        await arena.start(debate_id)
        shown = screen(
            json=showing.json, plain=showing.plain, reasoning=showing.reasoning, remark=_why(default)
        )
        with shown as view:
            code = await perform(arena, debate_id, view)
        if showing.output is not None:
            await export_formats.write(arena, debate_id, showing.output)
        return code


async def _setup(arena: Arena, wish: Wish, fmt: Format, names: list[str]) -> Setup:
    for name in wish.tools:
        if not arena.tools.knows(name):
            raise Invalid(f"There is no tool {name!r}. `moot tools` lists what there is.")
    polls = Polls(seconds=wish.audience) if wish.audience is not None else None
    winning = wish.winning or decided_by(fmt, polls)
    return await arena.setup(
        wish.motion,
        format=fmt,
        seats=_seats(arena, wish, names),
        model=wish.model,
        judge=NOBODY if _nobody_judges(winning, wish.judges) else None,
        judges=wish.judges,
        rounds=ROUNDS if wish.rounds is None and fmt.name == FORMAT else wish.rounds,
        turns=wish.turns,
        intensity=wish.intensity,
        seed=wish.seed,
        auto=not wish.manual,
        winning=winning,
        objective=wish.objective,
        prep=wish.prep,
        blind=wish.blind,
        opens=wish.opens,
        polls=polls,
        tools=wish.tools,
        cost_limit=wish.cost_limit,
        warn_at=wish.warn_at,
        turn_seconds=wish.timeout,
        person_seconds=wish.person_seconds,
    )


def _nobody_judges(winning: Winning, judges: tuple[str, ...]) -> bool:
    if winning == "user-decides" or judges == (NOBODY,):
        return True
    return winning == "audience" and not judges


def _seats(arena: Arena, wish: Wish, names: list[str]) -> list[SeatSetup]:
    return [
        SeatSetup(
            model=arena.model(
                name,
                effort=told(wish.efforts, place, None) or wish.effort,
                verbosity=told(wish.verbosities, place, None) or wish.verbosity,
            ),
            persona=told(wish.personas, place, ""),
            objective=told(wish.objectives, place, ""),
            stand_in=arena.model(wish.stand_in) if wish.stand_in and name == HUMAN else None,
        )
        for place, name in enumerate(names)
    ]


async def _prepare(arena: Arena, setup: Setup) -> None:
    """Fetch what is not here yet, with a bar; but not for a debate that cannot be held."""
    opening(setup)
    speaking = [seat.stand_in or seat.model for seat in setup.seats]
    models = [model for model in (*speaking, *(judge.model for judge in setup.judges)) if not model.human]
    with bar() as report:
        await arena.providers.prepare(models, report)


def _why(default: Default) -> str:
    """Nobody has named this model, and it costs money: say where it comes from, and what would cost none."""
    if not default.why:
        return ""
    return f"{default.name}, because {default.why}; --model {FREE_MODEL} costs nothing"
