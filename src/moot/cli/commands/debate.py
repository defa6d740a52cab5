"""`moot "MOTION"`: hold a debate here and now, or on a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from cyclopts import Group, Parameter

WHO = Group("Who", sort_key=1)
HOW = Group("How", sort_key=2)
LIMITS = Group("Limits", sort_key=3)
OUTPUT = Group("Output", sort_key=4)
WHERE = Group("Where", sort_key=5)

Level = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Length = Literal["low", "medium", "high"]
Ending = Literal["ai-judge", "self-terminate", "user-decides", "audience"]
"""As in `core/terms.py`, which is not loaded for a help text."""

DEFAULT_FORMAT, DEFAULT_ROUNDS = "oxford", 3
"""Short enough for a small model on a laptop, long enough to be a debate."""
DEFAULT_SECONDS, DEFAULT_PERSON_SECONDS = 120.0, 300.0
NO_JUDGE, HUMAN = "none", "human"


class SeatOptions(NamedTuple):
    persona: str = ""
    objective: str = ""
    effort: Level | None = None
    verbosity: Length | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DebateCliOptions:
    """How the debate is to be held. Options with -for and -against are for the first two seats."""

    for_: Annotated[
        str | None,
        Parameter(
            name="--for",
            group=WHO,
            metavar="MODEL",
            help="The model that argues for the motion: provider/model. human is you, at this terminal.",
        ),
    ] = None
    against: Annotated[
        str | None, Parameter(group=WHO, metavar="MODEL", help="The model that argues against the motion.")
    ] = None
    model: Annotated[
        str | None,
        Parameter(
            group=WHO,
            metavar="MODEL",
            help="One model for every seat. Without any, the best one here: `moot models`.",
        ),
    ] = None
    judge: Annotated[
        list[str] | None,
        Parameter(
            group=WHO,
            metavar="MODEL",
            negative="",
            help="Who judges: a model, human, or none; several times for a panel. [default: a model that is"
            " related to no speaker, or as the speakers]",
        ),
    ] = None
    stand_in: Annotated[
        str | None,
        Parameter(group=WHO, metavar="MODEL", help="Speaks for a person who leaves or is out of time."),
    ] = None
    persona_for: Annotated[
        str,
        Parameter(group=WHO, metavar="TEXT", help="Who the first speaker is: `You are a cautious engineer.`"),
    ] = ""
    persona_against: Annotated[
        str, Parameter(group=WHO, metavar="TEXT", help="Who the second speaker is.")
    ] = ""
    objective_for: Annotated[
        str, Parameter(group=WHO, metavar="TEXT", help="What the first speaker secretly wants to achieve.")
    ] = ""
    objective_against: Annotated[
        str, Parameter(group=WHO, metavar="TEXT", help="What the second speaker secretly wants to achieve.")
    ] = ""
    effort: Annotated[
        Level | None,
        Parameter(
            group=WHO,
            metavar="LEVEL",
            show_choices=False,
            help="How hard the speakers think: none, minimal, low, medium, high, xhigh or max.",
        ),
    ] = None
    effort_for: Annotated[
        Level | None,
        Parameter(group=WHO, metavar="LEVEL", show_choices=False, help="How hard the first speaker thinks."),
    ] = None
    effort_against: Annotated[
        Level | None,
        Parameter(group=WHO, metavar="LEVEL", show_choices=False, help="How hard the second speaker thinks."),
    ] = None
    verbosity: Annotated[
        Length | None,
        Parameter(
            group=WHO,
            metavar="LEVEL",
            show_choices=False,
            help="How much the speakers say, where a model can be told: low, medium or high.",
        ),
    ] = None
    verbosity_for: Annotated[
        Length | None,
        Parameter(group=WHO, metavar="LEVEL", show_choices=False, help="How much the first speaker says."),
    ] = None
    verbosity_against: Annotated[
        Length | None,
        Parameter(group=WHO, metavar="LEVEL", show_choices=False, help="How much the second speaker says."),
    ] = None
    format: Annotated[
        str | None,
        Parameter(
            group=HOW,
            metavar="NAME",
            help="A format by name (`moot formats`) or a .toml file. [default: oxford]",
        ),
    ] = None
    rounds: Annotated[
        int | None,
        Parameter(
            group=HOW, metavar="N", help="How many rounds. [default: 3 in oxford, else the format's own]"
        ),
    ] = None
    turns: Annotated[
        int | None,
        Parameter(group=HOW, metavar="N", help="How many speeches, in a free debate."),
    ] = None
    intensity: Annotated[
        Literal[1, 2, 3, 4, 5],
        Parameter(
            group=HOW,
            metavar="1-5",
            show_choices=False,
            help="From a gentle exchange (1) to a fierce one (5). [default: 3]",
        ),
    ] = 3
    seed: Annotated[
        int | None,
        Parameter(group=HOW, metavar="N", help="The same seed and local model give the same debate."),
    ] = None
    manual: Annotated[
        bool,
        Parameter(
            group=HOW, negative="", help="Each round waits to be asked for: `moot next-round`, `moot judge`."
        ),
    ] = False
    objective: Annotated[
        str, Parameter(group=HOW, metavar="TEXT", help="What the debate is to settle; all are told.")
    ] = ""
    prep: Annotated[
        bool,
        Parameter(group=HOW, negative="", help="Speakers make private notes first, where the format allows."),
    ] = False
    blind: Annotated[
        bool,
        Parameter(
            group=HOW, negative="", help="Openings are given at the same time; nobody hears the other."
        ),
    ] = False
    opens: Annotated[
        Literal["for", "against"] | None,
        Parameter(
            group=HOW,
            metavar="SIDE",
            show_choices=False,
            help="Who speaks first, for or against, where a toss decides: public-forum.",
        ),
    ] = None
    audience: Annotated[
        float | None,
        Parameter(
            group=HOW,
            metavar="SECONDS",
            help="An audience votes before and after, for so long each: `moot vote last for`.",
        ),
    ] = None
    winning: Annotated[
        Ending | None,
        Parameter(
            group=HOW,
            metavar="HOW",
            show_choices=False,
            help="What decides: ai-judge, self-terminate (one side gives way), user-decides or audience."
            " [default: ai-judge]",
        ),
    ] = None
    tool: Annotated[
        list[str] | None,
        Parameter(
            group=HOW,
            metavar="NAME",
            negative="",
            help="What the speakers may use: a server, server/tool, web_search or code: `moot tools`.",
        ),
    ] = None
    decide: Annotated[
        bool,
        Parameter(group=HOW, negative="", help="You decide, not a judge: `moot decide last WINNER`."),
    ] = False
    cost_limit: Annotated[
        str | None,
        Parameter(group=LIMITS, metavar="USD", help="Never spend more than this, the verdict included."),
    ] = None
    warn_at: Annotated[
        str | None, Parameter(group=LIMITS, metavar="USD", help="Say so when the costs pass this.")
    ] = None
    timeout: Annotated[
        float, Parameter(group=LIMITS, metavar="SECONDS", help="How long a speech may take. [default: 120]")
    ] = DEFAULT_SECONDS
    person_seconds: Annotated[
        float,
        Parameter(group=LIMITS, metavar="SECONDS", help="How long a person has for a speech. [default: 300]"),
    ] = DEFAULT_PERSON_SECONDS

    @property
    def judges(self) -> tuple[str, ...]:
        return tuple(self.judge or ())

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(self.tool or ())

    @property
    def winning_rule(self) -> Ending | None:
        """With a judge named, the judge decides, also where an audience votes."""
        if self.decide:
            return "user-decides"
        return self.winning or ("ai-judge" if self.judge else None)

    @property
    def speaker(self) -> str | None:
        """The first model that is named; `human` stands for one seat only."""
        return next((name for name in (self.model, self.for_, self.against) if name and name != HUMAN), None)

    def models_for(self, seats: int) -> list[str | None]:
        """Return the model of each seat; None stands for the default."""
        return [self.for_ or self.model, self.against or self.model, *[self.speaker] * (seats - 2)]

    def seat(self, index: int) -> SeatOptions:
        """Return the options of the seat at this place, counted from 0."""
        match index:
            case 0:
                own = SeatOptions(self.persona_for, self.objective_for, self.effort_for, self.verbosity_for)
            case 1:
                own = SeatOptions(
                    self.persona_against, self.objective_against, self.effort_against, self.verbosity_against
                )
            case _:
                own = SeatOptions()
        return own._replace(effort=own.effort or self.effort, verbosity=own.verbosity or self.verbosity)


DEFAULT_OPTIONS = DebateCliOptions()


def debate(
    motion: Annotated[str, Parameter(help="What to debate, in quotation marks.")],
    /,
    *,
    options: DebateCliOptions = DEFAULT_OPTIONS,
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
    from moot.cli.running import run
    from moot.core.errors import Invalid
    from moot.views.exports import format_of_file

    _refuse_mistyped_command(motion)
    if NO_JUDGE in options.judges and len(options.judges) > 1:
        raise Invalid("--judge none leaves the verdict out: give it alone, or leave it away.")
    if output is not None:
        format_of_file(output)

    async def hold() -> int:
        from moot.cli.commands.export import write_export
        from moot.cli.follow import show_and_run
        from moot.cli.render.screens import open_screen
        from moot.cli.source import open_source, server_option

        async with open_source(server) as source:
            started = await source.start_debate(motion, options)
            with open_screen(
                json=json,
                plain=plain,
                reasoning=reasoning,
                remark=started.remark,
                ending=server_option(server),
            ) as view:
                code = await show_and_run(source, started.id, view, server=server)
            if output is not None:
                await write_export(source, started.id, output)
            return code

    return run(hold())


def _refuse_mistyped_command(motion: str) -> None:
    """Raise Invalid for a single word that is almost the name of a command."""
    from difflib import get_close_matches

    from moot.cli.command_line import COMMANDS
    from moot.core.errors import Invalid

    if " " in motion.strip():
        return
    close = get_close_matches(motion.lower(), [name for _, name, _, _ in COMMANDS], n=1, cutoff=0.75)
    if close:
        raise Invalid(f"There is no command {motion!r}. Did you mean `moot {close[0]}`?")
