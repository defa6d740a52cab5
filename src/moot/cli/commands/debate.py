"""`moot "MOTION"`: hold a debate here and now, or on a server."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Optional

from cyclopts import Group, Parameter

from moot.cli.debate_options import MOTION, debate_options
from moot.core.choices import Effort, Verbosity, WinningRule
from moot.core.setup_field import Between, Option, SetupField
from moot.core.setup_table import setup_fields

DEFAULT_FORMAT, DEFAULT_ROUNDS = "oxford", 3
"""Short enough for a small model on a laptop, long enough to be a debate."""
NO_JUDGE, HUMAN = "none", "human"


def _parameters() -> dict[str, Parameter]:
    """Return the parameter of each row of the help, by its long name."""
    parameters: dict[str, Parameter] = {}
    for order, (title, rows) in enumerate(debate_options().items(), 1):
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
    effort: Effort | None = None
    verbosity: Verbosity | None = None


def _is_flag(field: SetupField, shown: Option) -> bool:
    return (shown.type or field.kind) is bool


def _option_type(field: SetupField, shown: Option) -> Any:
    """The type of the value as it is typed in."""
    kind = shown.type or field.kind
    match field.limit:
        case Between(low, high) if kind is int:
            kind = Literal[tuple(range(int(low), int(high) + 1))]
        case _:
            kind = list[str] if kind == tuple[str, ...] else kind
    return kind if kind is bool else Optional[kind]  # noqa: UP045 - a Literal has no `|`


def _members() -> list[tuple[str, Any, Any]]:
    """The format and the settings, in the order of the help."""
    members: list[tuple[str, Any, Any]] = [("format", Annotated[str | None, option("--format")], None)]
    rows = [(field.option, field) for field in setup_fields() if field.option]
    for shown, field in sorted(rows, key=lambda row: row[0].place):
        kind = Annotated[_option_type(field, shown), option(shown.names[-1])]
        members.append((shown.attribute, kind, False if _is_flag(field, shown) else None))
    return members


if TYPE_CHECKING:

    class _Settings:
        """Those that the terminal treats in its own way; `settings` has the others."""

        format: str | None
        manual: bool
        audience: float | None
        winning: WinningRule | None
else:
    _Settings = make_dataclass("_Settings", _members(), frozen=True, kw_only=True)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DebateCliOptions(_Settings):
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
    effort: Annotated[Effort | None, option("--effort")] = None
    effort_for: Annotated[Effort | None, option("--effort-for")] = None
    effort_against: Annotated[Effort | None, option("--effort-against")] = None
    verbosity: Annotated[Verbosity | None, option("--verbosity")] = None
    verbosity_for: Annotated[Verbosity | None, option("--verbosity-for")] = None
    verbosity_against: Annotated[Verbosity | None, option("--verbosity-against")] = None
    decide: Annotated[bool, option("--decide")] = False

    @property
    def judges(self) -> tuple[str, ...]:
        return tuple(self.judge or ())

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that were given and are taken as they are, by their names; a flag switches from the
        default."""
        settings: dict[str, Any] = {}
        for field in setup_fields():
            if (shown := field.option) is None or not shown.setup:
                continue
            given = getattr(self, shown.attribute)
            if _is_flag(field, shown):
                if given:
                    settings[field.name] = not field.default
            elif given is not None:
                settings[field.name] = given
        return settings

    @property
    def winning_rule(self) -> WinningRule | None:
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
    from moot.cli.run_command import run
    from moot.core.errors import Invalid
    from moot.views.exports import format_of_file

    if NO_JUDGE in options.judges and len(options.judges) > 1:
        raise Invalid("--judge none means no verdict: give it alone, or leave it out.")
    if output is not None:
        format_of_file(output)

    async def hold() -> int:
        from moot.cli.commands.export import write_export
        from moot.cli.debate_source import open_source, server_option
        from moot.cli.follow import show_and_run
        from moot.cli.render.screens import open_screen

        async with open_source(server) as source:
            debate_id, remark = await source.start_debate(motion, options)
            with open_screen(
                json=json,
                plain=plain,
                reasoning=reasoning,
                remark=remark,
                ending=server_option(server),
            ) as view:
                code = await show_and_run(source, debate_id, view, server=server)
            if output is not None:
                await write_export(source, debate_id, output)
            return code

    return run(hold())


@wraps(hold_debate)
def debate(motion: str, /, **rest: Any) -> int:
    """Hold a debate; a single word is refused, because it is more often a mistyped command than a motion."""
    from moot.cli.command_line import refuse_single_word

    refuse_single_word([motion])
    return hold_debate(motion, **rest)
