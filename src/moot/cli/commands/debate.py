"""`moot "MOTION"`: hold a debate here and now, or on a server."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from cyclopts import Group, Parameter

from moot.cli.debate_options import DEBATE_OPTIONS, MOTION

Level = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Length = Literal["low", "medium", "high"]
Ending = Literal["ai-judge", "self-terminate", "user-decides", "audience"]
"""As in `core/terms.py`, which is not loaded for a help text."""

DEFAULT_FORMAT, DEFAULT_ROUNDS = "oxford", 3
"""Short enough for a small model on a laptop, long enough to be a debate."""
DEFAULT_SECONDS, DEFAULT_PERSON_SECONDS = 120.0, 300.0
NO_JUDGE, HUMAN = "none", "human"


def _parameters() -> dict[str, Parameter]:
    """Return the parameter of each row of `DEBATE_OPTIONS`, by its long name."""
    parameters: dict[str, Parameter] = {}
    for order, (title, rows) in enumerate(DEBATE_OPTIONS.items(), 1):
        group = Group(title, sort_key=order)
        for label, text in rows.items():
            words = label.replace("[no-]", "").replace(",", "").split()
            names = [word for word in words if word.startswith("-")]
            parameters[names[-1]] = Parameter(
                name=names,
                metavar=None if words[-1] in names else words[-1],
                group=group,
                help=text,
                negative=None if "[no-]" in label else "",
                show_choices=False,
            )
    return parameters


_PARAMETERS = _parameters()


def option(name: str) -> Parameter:
    return _PARAMETERS[name]


class SeatOptions(NamedTuple):
    persona: str = ""
    objective: str = ""
    effort: Level | None = None
    verbosity: Length | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DebateCliOptions:
    """How the debate is to be held. Options with -for and -against are for the first two seats."""

    for_: Annotated[str | None, option("--for")] = None
    against: Annotated[str | None, option("--against")] = None
    model: Annotated[str | None, option("--model")] = None
    judge: Annotated[list[str] | None, option("--judge")] = None
    stand_in: Annotated[str | None, option("--stand-in")] = None
    persona_for: Annotated[str, option("--persona-for")] = ""
    persona_against: Annotated[str, option("--persona-against")] = ""
    objective_for: Annotated[str, option("--objective-for")] = ""
    objective_against: Annotated[str, option("--objective-against")] = ""
    effort: Annotated[Level | None, option("--effort")] = None
    effort_for: Annotated[Level | None, option("--effort-for")] = None
    effort_against: Annotated[Level | None, option("--effort-against")] = None
    verbosity: Annotated[Length | None, option("--verbosity")] = None
    verbosity_for: Annotated[Length | None, option("--verbosity-for")] = None
    verbosity_against: Annotated[Length | None, option("--verbosity-against")] = None
    format: Annotated[str | None, option("--format")] = None
    rounds: Annotated[int | None, option("--rounds")] = None
    turns: Annotated[int | None, option("--turns")] = None
    intensity: Annotated[Literal[1, 2, 3, 4, 5], option("--intensity")] = 3
    seed: Annotated[int | None, option("--seed")] = None
    manual: Annotated[bool, option("--manual")] = False
    objective: Annotated[str, option("--objective")] = ""
    prep: Annotated[bool, option("--prep")] = False
    blind: Annotated[bool, option("--blind")] = False
    opens: Annotated[Literal["for", "against"] | None, option("--opens")] = None
    beliefs: Annotated[bool, option("--beliefs")] = False
    model_audience: Annotated[bool, option("--model-audience")] = False
    reading: Annotated[Literal["chronological", "by-side"] | None, option("--reading")] = None
    audience: Annotated[float | None, option("--audience")] = None
    winning: Annotated[Ending | None, option("--winning")] = None
    tool: Annotated[list[str] | None, option("--tool")] = None
    decide: Annotated[bool, option("--decide")] = False
    cost_limit: Annotated[str | None, option("--cost-limit")] = None
    warn_at: Annotated[str | None, option("--warn-at")] = None
    timeout: Annotated[float, option("--timeout")] = DEFAULT_SECONDS
    person_seconds: Annotated[float, option("--person-seconds")] = DEFAULT_PERSON_SECONDS

    @property
    def judges(self) -> tuple[str, ...]:
        return tuple(self.judge or ())

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(self.tool or ())

    @property
    def request_options(self) -> dict[str, Any]:
        """The options that a request has under the same name, as far as they were given."""
        from moot.core.terms import REQUEST_OPTIONS

        return {name: value for name in REQUEST_OPTIONS if (value := getattr(self, name, None))}

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


def hold_debate(
    motion: Annotated[str, Parameter(help=MOTION)],
    /,
    *,
    options: DebateCliOptions = DEFAULT_OPTIONS,
    reasoning: Annotated[bool, option("--reasoning")] = True,
    output: Annotated[Path | None, option("--output")] = None,
    json: Annotated[bool, option("--json")] = False,
    plain: Annotated[bool, option("--plain")] = False,
    server: Annotated[
        str | None, option("--server"), Parameter(env_var="MOOT_SERVER", show_env_var=False)
    ] = None,
) -> int:
    """Hold a debate on this machine, or on a server. The motion may be a single word."""
    from moot.cli.running import run
    from moot.core.errors import Invalid
    from moot.views.exports import format_of_file

    if NO_JUDGE in options.judges and len(options.judges) > 1:
        raise Invalid("--judge none means no verdict: give it alone, or leave it out.")
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


@wraps(hold_debate)
def debate(motion: str, /, **rest: Any) -> int:
    """Hold a debate; a single word is refused, because it is more often a mistyped command than a motion."""
    from moot.cli.command_line import refuse_single_word

    refuse_single_word([motion])
    return hold_debate(motion, **rest)
