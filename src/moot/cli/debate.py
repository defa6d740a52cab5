"""`moot "MOTION"`: hold a debate here and now, or on a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from moot.arena import Arena
    from moot.providers.table import Default
    from moot.setup import SeatSetup, Setup
    from moot.terms import Model

WHO = Group("Who", sort_key=1)
HOW = Group("How", sort_key=2)
LIMITS = Group("Limits", sort_key=3)
OUTPUT = Group("Output", sort_key=4)
WHERE = Group("Where", sort_key=5)

FORMAT, ROUNDS = "oxford", 3
"""Short enough for a small model on a laptop, long enough to be a debate."""
COUNTED_IN_TURNS = "free"
SIDES = 2
HUMAN, NOBODY = "human", "none"

Level = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Length = Literal["low", "medium", "high"]
Ending = Literal["ai-judge", "self-terminate", "user-decides", "audience"]
"""As in `terms`, which is not loaded for a help text."""


def debate(
    motion: Annotated[str, Parameter(help="What to debate, in quotation marks.")],
    /,
    *,
    for_: Annotated[
        str | None,
        Parameter(
            name="--for",
            group=WHO,
            metavar="MODEL",
            help="The model that argues for the motion: provider/model. human is you, at this terminal.",
        ),
    ] = None,
    against: Annotated[
        str | None, Parameter(group=WHO, metavar="MODEL", help="The model that argues against the motion.")
    ] = None,
    model: Annotated[
        str | None,
        Parameter(
            group=WHO,
            metavar="MODEL",
            help="One model for every seat. Without any, the best one here: `moot models`.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        Parameter(
            group=WHO,
            metavar="MODEL",
            negative="",
            help="Who judges: a model, human, or none; several times for a panel. [default: a model that is"
            " related to no speaker, or as the speakers]",
        ),
    ] = None,
    stand_in: Annotated[
        str | None,
        Parameter(group=WHO, metavar="MODEL", help="Speaks for a person who leaves or is out of time."),
    ] = None,
    persona_for: Annotated[
        str,
        Parameter(group=WHO, metavar="TEXT", help="Who the first speaker is: `You are a cautious engineer.`"),
    ] = "",
    persona_against: Annotated[
        str, Parameter(group=WHO, metavar="TEXT", help="Who the second speaker is.")
    ] = "",
    objective_for: Annotated[
        str, Parameter(group=WHO, metavar="TEXT", help="What the first speaker secretly wants to achieve.")
    ] = "",
    objective_against: Annotated[
        str, Parameter(group=WHO, metavar="TEXT", help="What the second speaker secretly wants to achieve.")
    ] = "",
    effort: Annotated[
        Level | None,
        Parameter(
            group=WHO,
            metavar="LEVEL",
            show_choices=False,
            help="How hard the speakers think: none, minimal, low, medium, high, xhigh or max.",
        ),
    ] = None,
    effort_for: Annotated[
        Level | None,
        Parameter(group=WHO, metavar="LEVEL", show_choices=False, help="How hard the first speaker thinks."),
    ] = None,
    effort_against: Annotated[
        Level | None,
        Parameter(group=WHO, metavar="LEVEL", show_choices=False, help="How hard the second speaker thinks."),
    ] = None,
    verbosity: Annotated[
        Length | None,
        Parameter(
            group=WHO,
            metavar="LEVEL",
            show_choices=False,
            help="How much the speakers say, where a model can be told: low, medium or high.",
        ),
    ] = None,
    verbosity_for: Annotated[
        Length | None,
        Parameter(group=WHO, metavar="LEVEL", show_choices=False, help="How much the first speaker says."),
    ] = None,
    verbosity_against: Annotated[
        Length | None,
        Parameter(group=WHO, metavar="LEVEL", show_choices=False, help="How much the second speaker says."),
    ] = None,
    format: Annotated[
        str | None,
        Parameter(
            group=HOW,
            metavar="NAME",
            help="A format by name (`moot formats`) or a .toml file. [default: oxford]",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        Parameter(
            group=HOW, metavar="N", help="How many rounds. [default: 3 in oxford, else the format's own]"
        ),
    ] = None,
    turns: Annotated[
        int | None,
        Parameter(group=HOW, metavar="N", help="How many speeches, in a free debate."),
    ] = None,
    intensity: Annotated[
        Literal[1, 2, 3, 4, 5],
        Parameter(
            group=HOW,
            metavar="1-5",
            show_choices=False,
            help="From a gentle exchange (1) to a fierce one (5). [default: 3]",
        ),
    ] = 3,
    seed: Annotated[
        int | None,
        Parameter(group=HOW, metavar="N", help="The same seed and local model give the same debate."),
    ] = None,
    manual: Annotated[
        bool,
        Parameter(
            group=HOW, negative="", help="Each round waits to be asked for: `moot next-round`, `moot judge`."
        ),
    ] = False,
    objective: Annotated[
        str, Parameter(group=HOW, metavar="TEXT", help="What the debate is to settle; all are told.")
    ] = "",
    prep: Annotated[
        bool,
        Parameter(group=HOW, negative="", help="Speakers make private notes first, where the format allows."),
    ] = False,
    blind: Annotated[
        bool,
        Parameter(
            group=HOW, negative="", help="Openings are given at the same time; nobody hears the other."
        ),
    ] = False,
    opens: Annotated[
        Literal["for", "against"] | None,
        Parameter(
            group=HOW,
            metavar="SIDE",
            show_choices=False,
            help="Who speaks first, for or against, where a toss decides: public-forum.",
        ),
    ] = None,
    audience: Annotated[
        float | None,
        Parameter(
            group=HOW,
            metavar="SECONDS",
            help="An audience votes before and after, for so long each: `moot vote last for`.",
        ),
    ] = None,
    winning: Annotated[
        Ending | None,
        Parameter(
            group=HOW,
            metavar="HOW",
            show_choices=False,
            help="What decides: ai-judge, self-terminate (one side gives way), user-decides or audience."
            " [default: ai-judge]",
        ),
    ] = None,
    decide: Annotated[
        bool,
        Parameter(group=HOW, negative="", help="You decide, not a judge: `moot decide last WINNER`."),
    ] = False,
    cost_limit: Annotated[
        str | None,
        Parameter(group=LIMITS, metavar="USD", help="Never spend more than this, the verdict included."),
    ] = None,
    warn_at: Annotated[
        str | None, Parameter(group=LIMITS, metavar="USD", help="Say so when the costs pass this.")
    ] = None,
    timeout: Annotated[
        float, Parameter(group=LIMITS, metavar="SECONDS", help="How long a speech may take. [default: 120]")
    ] = 120.0,
    person_seconds: Annotated[
        float,
        Parameter(group=LIMITS, metavar="SECONDS", help="How long a person has for a speech. [default: 300]"),
    ] = 300.0,
    reasoning: Annotated[
        bool, Parameter(group=OUTPUT, help="Show what the speakers think, dimmed, or in one line.")
    ] = True,
    output: Annotated[
        Path | None,
        Parameter(
            name=["--output", "-o"],
            group=OUTPUT,
            metavar="FILE",
            help="Write it to a .md, .html or .json file.",
        ),
    ] = None,
    json: Annotated[
        bool, Parameter(group=OUTPUT, negative="", help="Print the log as it grows: one event a line.")
    ] = False,
    plain: Annotated[
        bool, Parameter(group=OUTPUT, negative="", help="Plain text without colours or moving parts.")
    ] = False,
    server: Annotated[
        str | None,
        Parameter(
            group=WHERE,
            env_var="MOOT_SERVER",
            show_env_var=False,
            metavar="URL",
            help="Have it held by a running `moot serve`, and watch it here: http://127.0.0.1:8000",
        ),
    ] = None,
) -> int:
    """Hold a debate here and now, or on a server."""
    from moot.cli import exporting, guessing
    from moot.cli.playing import run

    guessing.refuse_mistyped_command(motion)
    _refuse_somebody_and_nobody(judge or [])
    if output is not None:
        exporting.kind_of(output)
    if server:
        from moot.cli import elsewhere

        wish = elsewhere.Wish(
            motion=motion,
            format=format or FORMAT,
            models=(for_, against),
            model=model,
            judges=tuple(judge or ()),
            stand_in=stand_in,
            personas=(persona_for, persona_against),
            objectives=(objective_for, objective_against),
            effort=effort,
            rounds=ROUNDS if rounds is None and format in (None, FORMAT) else rounds,
            intensity=intensity,
            manual=manual,
            winning="user-decides" if decide else winning or ("ai-judge" if judge else None),
            objective=objective,
            prep=prep,
            blind=blind,
            opens=opens,
            audience=audience,
            cost_limit=cost_limit,
            warn_at=warn_at,
            timeout=timeout,
            person_seconds=person_seconds,
            here_only={
                "--effort-for": effort_for,
                "--effort-against": effort_against,
                "--verbosity": verbosity or verbosity_for or verbosity_against,
                "--turns": turns,
                "--seed": seed,
            },
        )
        return run(elsewhere.hold(server, wish, output, json=json, plain=plain, reasoning=reasoning))

    async def hold() -> int:
        from moot import formats
        from moot.arena import Arena
        from moot.cli.playing import perform
        from moot.cli.screens import screen
        from moot.providers.table import Default
        from moot.setup import decided_by
        from moot.terms import Polls

        async with Arena.open() as arena:
            named = format or (FORMAT if turns is None else COUNTED_IN_TURNS)
            fmt = formats.load(named, arena.settings.formats)
            others = model or next((name for name in (for_, against) if name and name != HUMAN), None)
            names = [for_ or model, against or model, *[others] * (len(fmt.chairs) - SIDES)]
            polls = Polls(seconds=audience) if audience is not None else None
            # Whoever names a judge wants to be judged, whatever the audience thinks of it.
            decides = winning or ("ai-judge" if judge else decided_by(fmt, polls))
            decides = "user-decides" if decide else decides
            default = Default("") if all(names) else await arena.providers.default()
            setup = await arena.setup(
                motion,
                format=fmt,
                seats=_seats(
                    arena,
                    [name or default.name for name in names],
                    (persona_for, persona_against),
                    (objective_for, objective_against),
                    [effort_for or effort, effort_against or effort, effort],
                    [verbosity_for or verbosity, verbosity_against or verbosity, verbosity],
                    stand_in,
                ),
                model=model,
                judge="none" if _nobody_judges(decides, judge or []) else None,
                judges=judge or (),
                rounds=ROUNDS if rounds is None and fmt.name == FORMAT else rounds,
                turns=turns,
                intensity=intensity,
                seed=seed,
                auto=not manual,
                winning=decides,
                objective=objective,
                prep=prep,
                blind=blind,
                opens=opens,
                polls=polls,
                cost_limit=cost_limit,
                warn_at=warn_at,
                turn_seconds=timeout,
                person_seconds=person_seconds,
            )
            await _prepare(arena, setup)
            opened = (await arena.create(setup)).debate
            await arena.start(opened.id)
            remark = _why(default)
            with screen(json=json, plain=plain, reasoning=reasoning, remark=remark) as view:
                code = await perform(arena, opened.id, view)
            if output is not None:
                await exporting.write(arena, opened.id, output)
            return code

    return run(hold())


def _refuse_somebody_and_nobody(judges: list[str]) -> None:
    from moot.errors import Invalid

    if NOBODY in judges and len(judges) > 1:
        raise Invalid("--judge none leaves the verdict out: give it alone, or leave it away.")


def _nobody_judges(winning: Ending, judges: list[str]) -> bool:
    if winning == "user-decides" or judges == [NOBODY]:
        return True
    return winning == "audience" and not judges


def _why(default: Default) -> str:
    """Nobody has named this model, and it costs money: say where it comes from, and what would cost none."""
    from moot.models.find import FREE_MODEL

    if not default.why:
        return ""
    return f"{default.name}, because {default.why}; --model {FREE_MODEL} costs nothing"


def _seats(
    arena: Arena,
    names: list[str],
    personas: tuple[str, str],
    objectives: tuple[str, str],
    efforts: list[Level | None],
    verbosities: list[Length | None],
    stand_in: str | None,
) -> list[SeatSetup]:
    """The two sides as asked for; a format's further chairs take what was told to anyone, which is the last
    of `efforts` and `verbosities`."""
    from moot.setup import SeatSetup

    blank = [""] * len(names)
    said = zip((*personas, *blank), (*objectives, *blank), strict=True)
    return [
        SeatSetup(
            model=arena.model(
                name,
                effort=efforts[min(place, SIDES)],
                verbosity=verbosities[min(place, SIDES)],
            ),
            persona=persona,
            objective=objective,
            stand_in=arena.model(stand_in) if stand_in and name == HUMAN else None,
        )
        for place, (name, (persona, objective)) in enumerate(zip(names, said, strict=False))
    ]


async def _prepare(arena: Arena, setup: Setup) -> None:
    """Fetch what is not here yet, with a bar; but not for a debate that cannot be held."""
    from moot.cli.fetching import bar
    from moot.setup import opening

    opening(setup)
    speaking = [seat.stand_in or seat.model for seat in setup.seats]
    models: list[Model] = [
        model for model in (*speaking, *(judge.model for judge in setup.judges)) if not model.human
    ]
    with bar() as report:
        await arena.providers.prepare(models, report)
